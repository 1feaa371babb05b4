"""Alerts that are active now, as a running Alertmanager has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Protocol


class ActiveAlert(NamedTuple):
    """`starts_at` epoch microseconds."""

    fingerprint: str
    labels: Mapping[str, str]
    starts_at: int | None


class ActiveAlerts(Protocol):
    """Where active alerts are asked for."""

    def matching(self, labels: Mapping[str, str]) -> list[ActiveAlert]:
        """Those that carry these labels. Blocks for seconds at most. Raises SourceError."""
        ...
