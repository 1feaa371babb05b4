"""ActiveAlerts over Alertmanager's API v2, queried by label matchers: the API has no query by fingerprint."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlencode

import msgspec

from limnograph.adapters import http_probe
from limnograph.domain.answers.alerts import Muted
from limnograph.domain.errors import SourceRejected
from limnograph.domain.inbound.alert_labels import matcher
from limnograph.domain.inbound.alert_times import instant
from limnograph.ports.active_alerts import ActiveAlert

WITHIN_S = 2.0


class _Status(msgspec.Struct, frozen=True):
    silenced_by: list[str] = msgspec.field(default_factory=list, name="silencedBy")
    inhibited_by: list[str] = msgspec.field(default_factory=list, name="inhibitedBy")


class _ListedAlert(msgspec.Struct, frozen=True):
    fingerprint: str
    labels: dict[str, str]
    starts_at: str | None = msgspec.field(default=None, name="startsAt")
    status: _Status = _Status()


class Alertmanager:
    """`url`: `http://host:port`, with a path where Alertmanager is served under one. Immutable after construction."""

    def __init__(self, url: str) -> None:
        self._url = url.rstrip("/")

    def matching(self, labels: Mapping[str, str]) -> list[ActiveAlert]:
        filters = [("filter", matcher(name, value)) for name, value in sorted(labels.items())]
        body = http_probe.get("alertmanager", f"{self._url}/api/v2/alerts?{urlencode(filters)}", WITHIN_S)
        try:
            found = msgspec.json.decode(body.body, type=list[_ListedAlert])
        except msgspec.MsgspecError as error:
            raise SourceRejected("alertmanager", "the response is not a list of alerts") from error
        return [ActiveAlert(one.fingerprint, one.labels, instant(one.starts_at), _muted(one.status)) for one in found]


def _muted(status: _Status) -> Muted | None:
    if status.silenced_by:
        return "silenced"
    return "inhibited" if status.inhibited_by else None
