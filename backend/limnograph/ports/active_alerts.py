"""Alerts that are active now, according to a running Alertmanager."""

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
        """Alerts with these labels; all if none are given. Blocks for seconds at most. Raises SourceError."""
        ...
