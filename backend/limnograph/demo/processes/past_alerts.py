"""Delivers the alerts that the rules raise on the history to the running server: Alertmanager's webhook, transition by
transition, once per lake.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec

from limnograph.demo.metrics.rule_history import PastAlert
from limnograph.demo.requests import get_json, server_of
from limnograph.domain.errors import EnvironmentFault
from limnograph.domain.inbound.alert_labels import fingerprint

_NO_END = "0001-01-01T00:00:00Z"
"""Go's zero time, which Alertmanager sends while an alert fires."""


def write(alerts: Sequence[PastAlert], file: Path) -> None:
    """Keep the alerts until the server runs."""
    file.write_bytes(msgspec.json.format(msgspec.json.encode(alerts), indent=1) + b"\n")


def read(file: Path) -> list[PastAlert]:
    """The alerts of a built lake. Raises EnvironmentFault if the file is missing or damaged."""
    try:
        return msgspec.json.decode(file.read_bytes(), type=list[PastAlert])
    except (OSError, msgspec.DecodeError) as error:
        raise EnvironmentFault(f"{file} cannot be read ({error}); rebuild the lake with --fresh") from error


def deliver(alerts: Sequence[PastAlert], addresses: Mapping[str, Any]) -> int:
    """Send every transition in order of time. Returns their number. Raises SourceUnavailable."""
    expressions = _expressions(addresses["prometheus"])
    sent = 0
    for at, alert in _transitions(alerts):
        body = _webhook(alert, at, expressions.get(alert.labels["alertname"], ""), addresses)
        server_of(addresses).post("/api/v1/alertmanager", body)
        sent += 1
    return sent


def _transitions(alerts: Sequence[PastAlert]) -> Iterator[tuple[int, PastAlert]]:
    """When each alert began to fire and when it was resolved, in order of time (epoch ms)."""
    begun = [(alert.starts_at, alert) for alert in alerts]
    ended = [(alert.ends_at, alert) for alert in alerts if alert.ends_at is not None]
    yield from sorted([*begun, *ended], key=lambda transition: transition[0])


def _webhook(alert: PastAlert, at: int, expression: str, addresses: Mapping[str, Any]) -> dict[str, Any]:
    """The body that Alertmanager sends when `alert` changes at an instant."""
    ended = alert.ends_at is not None and at >= alert.ends_at
    status = "resolved" if ended else "firing"
    sent = {
        "status": status,
        "labels": alert.labels,
        # Links of the rules begin with the server's address, which was not known while they were evaluated.
        "annotations": {
            name: f"{addresses['server']}{text}" if text.startswith("/") else text
            for name, text in alert.annotations.items()
        },
        "startsAt": _rfc3339(alert.starts_at),
        "endsAt": _rfc3339(alert.ends_at) if ended and alert.ends_at is not None else _NO_END,
        "generatorURL": f"{addresses['prometheus']}/graph?g0.expr={quote(expression, safe='')}&g0.tab=1",
        "fingerprint": fingerprint(alert.labels),
    }
    return {
        "version": "4",
        "receiver": "limnograph",
        "status": status,
        "groupKey": f"{{}}:{{alertname={json.dumps(alert.labels['alertname'])}}}",
        "truncatedAlerts": 0,
        "groupLabels": {},
        "commonLabels": alert.labels,
        "commonAnnotations": {},
        "externalURL": addresses["alertmanager"],
        "alerts": [sent],
    }


def _expressions(prometheus: str) -> dict[str, str]:
    """The expression of each alert rule that the demo's Prometheus has loaded."""
    groups = get_json(f"{prometheus}/api/v1/rules?type=alert")["data"]["groups"]
    return {rule["name"]: rule["query"] for group in groups for rule in group["rules"]}


def _rfc3339(at_ms: int) -> str:
    return datetime.fromtimestamp(at_ms / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
