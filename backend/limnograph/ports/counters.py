"""Storage of per-table counters across restarts of the server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import msgspec

from limnograph.domain.time import Micros


class CounterState(msgspec.Struct, frozen=True):
    """Counters of one table: `totals` by metric name, which include all commits on main up to `until`."""

    until: Micros
    totals: dict[str, float]


class CounterStore(Protocol):
    """Never raises: counters that cannot be read or written are reset, an ordinary event for Prometheus."""

    def load(self) -> dict[str, CounterState]:
        """States by table uuid; empty if none are stored."""
        ...

    def save(self, counted: Mapping[str, CounterState]) -> None:
        """Save all tables; atomically replaces the stored ones."""
        ...
