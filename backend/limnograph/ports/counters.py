"""Where the counters of tables are kept between two lives of the server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import msgspec

from limnograph.domain.time import Micros


class CounterState(msgspec.Struct, frozen=True):
    """Of one table: `totals` by metric name; all moves of main until `until` are in them."""

    until: Micros
    totals: dict[str, float]


class CounterStore(Protocol):
    """Never raises: what cannot be read or written is an ordinary reset of the counters."""

    def load(self) -> dict[str, CounterState]:
        """By table uuid; empty when nothing is kept."""
        ...

    def save(self, counted: Mapping[str, CounterState]) -> None:
        """All tables; atomically replaces the stored ones."""
        ...
