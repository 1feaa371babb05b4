"""Numbers of every table for `/metrics`: gauges at main's snapshot, counters that never decrease.

A counter begins at 0 when this process first sees the table and counts the commits that come after: a restart is an
ordinary reset to 0, and `increase` never counts a commit twice.
"""

from __future__ import annotations

from typing import NamedTuple

from limnograph.domain.gauges import TABLE_COUNTERS, TABLE_GAUGES
from limnograph.domain.ids import TableName
from limnograph.services.history import History
from limnograph.services.hot import HotStore
from limnograph.services.lake import Lake


class TableNumbers(NamedTuple):
    """Values by metric name; a number that is not known is missing."""

    name: TableName
    gauges: dict[str, float]
    counters: dict[str, float]


class TableGauges:
    """Remembers which commits were counted, so that counters only rise while rows leave the hot window."""

    def __init__(self, store: HotStore) -> None:
        self._store = store
        self._shown: tuple[Lake, bool] | None = None
        self._version = 0
        self._numbers: list[TableNumbers] = []
        self._counted: dict[str, set[int]] = {}
        self._totals: dict[str, dict[str, float]] = {}

    def numbers(self) -> tuple[int, list[TableNumbers]]:
        """A version that changes with the numbers, and the numbers of every listed table."""
        lake, known = self._store.reading.lake, self._store.watermark is not None
        if self._shown is None or lake is not self._shown[0] or known != self._shown[1]:
            self._shown, self._version = (lake, known), self._version + 1
            # Before the first whole round of the watcher a history is in pieces: the rest of it is no new commit.
            self._numbers = [
                TableNumbers(h.name, _gauges(h), dict(self._count(h)) if known else {})
                for h in lake.current()
                if h.head is not None
            ]
        return self._version, self._numbers

    def _count(self, history: History) -> dict[str, float]:
        if history.uuid not in self._counted:
            self._counted[history.uuid] = set(history.numbers("snapshot_id").tolist())
            self._totals[history.uuid] = {counter.name: 0.0 for counter in TABLE_COUNTERS}
        counted, totals = self._counted[history.uuid], self._totals[history.uuid]
        for snapshot_id in history.main_ids:
            row = history.snapshots.get(snapshot_id) if snapshot_id not in counted else None
            if row is None:
                continue
            counted.add(snapshot_id)
            if row.operation == "replace":
                continue
            for counter in TABLE_COUNTERS:
                totals[counter.name] += (getattr(row, counter.column) or 0) if counter.column else 1
        return totals


def _gauges(history: History) -> dict[str, float]:
    head = history.head
    found: dict[str, float] = {}
    for gauge in TABLE_GAUGES:
        value = history.main_times[-1] if gauge.column == "committed_at" else getattr(head, gauge.column)
        if value is not None:
            found[gauge.name] = value * gauge.scale if gauge.scale != 1.0 else value
    return found
