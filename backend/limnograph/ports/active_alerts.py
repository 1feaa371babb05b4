"""Alerts that are active now, as a running Alertmanager has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Protocol

from limnograph.domain.answers.alerts import Muted
from limnograph.domain.time import Micros


class ActiveAlert(NamedTuple):
    """`starts_at` epoch microseconds. `muted`: silenced or inhibited."""

    fingerprint: str
    labels: Mapping[str, str]
    starts_at: Micros | None
    muted: Muted | None = None


class ActiveAlerts(Protocol):
    """Source of active alerts."""

    def matching(self, labels: Mapping[str, str]) -> list[ActiveAlert]:
        """Those that carry these labels; without any all there are. Blocks for seconds at most. Raises SourceError."""
        ...
