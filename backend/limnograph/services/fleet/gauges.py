"""Numbers of every table for `/metrics`: gauges at main's snapshot, and counters that never decrease.

A counter starts at 0 when a table is first observed: earlier commits do not count as new. It then counts every commit
of main once, across restarts: totals are stored, and commits made while the server was down are added at its next
start.
"""

from __future__ import annotations

import threading
from typing import NamedTuple

import numpy as np

from limnograph.domain.ids import TableName
from limnograph.domain.metrics.gauges import TABLE_COUNTERS, TABLE_GAUGES, USUAL_INTERVAL
from limnograph.domain.time import EPOCH, Micros
from limnograph.ports.counters import CounterState, CounterStore
from limnograph.services.fleet.state_vectors import main_at
from limnograph.services.lake.columns import FLOATS, INDEX, NULL, Ints
from limnograph.services.lake.history import History
from limnograph.services.lake.lake import Lake
from limnograph.services.lake.store import HotStore
from limnograph.services.lake.table import HotTable

_END = Micros(2**63 - 1)
_GAUGES = [(gauge, INDEX[gauge.column]) for gauge in TABLE_GAUGES if gauge.column != "committed_at"]
_MOVED = next(gauge for gauge in TABLE_GAUGES if gauge.column == "committed_at")


class TableNumbers(NamedTuple):
    """Values by metric name; unknown numbers are missing. The same object while nothing changes."""

    name: TableName
    gauges: dict[str, float]
    counters: dict[str, float]


class TableGauges:
    """Thread-safe: guarded by `_lock`; returned lists are never changed. A table is evaluated again when it changes:
    O(tables), and O(rows) of the changed ones.
    """

    def __init__(self, store: HotStore, kept: CounterStore | None = None) -> None:
        self._store, self._kept = store, kept
        self._lock = threading.Lock()
        self._shown: tuple[Lake, bool] | None = None
        self._version = 0
        self._numbers: list[TableNumbers] = []
        self._made: dict[str, tuple[HotTable, bool, TableNumbers]] = {}
        self._counted: dict[str, HotTable] = {}
        self._totals: dict[str, CounterState] = kept.load() if kept else {}
        self._saved = self._version

    def numbers(self) -> tuple[int, list[TableNumbers]]:
        """A version that changes with the numbers, and the numbers of every listed table."""
        with self._lock:
            lake, known = self._store.reading.lake, self._store.watermark is not None
            if self._shown is None or lake is not self._shown[0] or known != self._shown[1]:
                self._shown, self._version = (lake, known), self._version + 1
                # Before the watcher's first complete round a history is incomplete: the rest of it is no new commit.
                made = (self._of(table, counting=known) for table in lake.listed)
                self._numbers = [numbers for numbers in made if numbers is not None]
            return self._version, self._numbers

    def save(self) -> None:
        """Store the totals if they changed since the last call. Blocks: call it in a thread."""
        with self._lock:
            version, totals = self._version, dict(self._totals)
        if self._kept is not None and version != self._saved:
            self._kept.save(totals)
            self._saved = version

    def _of(self, table: HotTable, *, counting: bool) -> TableNumbers | None:
        made = self._made.get(table.uuid)
        if made is not None and made[0].version == table.version and made[1] == counting:
            return made[2]
        times, place, usual = main_at(table, table.rows.column("committed_at"), _END)
        if place < 0 or table.name is None:
            return None
        counters = dict(self._count(table).totals) if counting else {}
        gauges = _gauges(table, place, Micros(times[-1]))
        if usual is not None:
            gauges[USUAL_INTERVAL.name] = usual
        numbers = TableNumbers(table.name, gauges, counters)
        self._made[table.uuid] = table, counting, numbers
        return numbers

    def _count(self, table: HotTable) -> CounterState:
        """Totals plus main's changes since the table was last evaluated."""
        history, before = History(table), self._counted.get(table.uuid)
        known = self._totals.get(table.uuid)
        times, ids, places = history.moves, np.array(history.main_ids, np.int64), history.main_places
        if before is not None:
            new = ~np.isin(ids, History(before).main_ids)
        elif known is not None:
            new = times > known.until
        else:
            known = CounterState(EPOCH, dict.fromkeys((counter.name for counter in TABLE_COUNTERS), 0.0))
            new = np.zeros(len(ids), np.bool_)
        fresh = np.unique(places[new & (places >= 0)])
        fresh = fresh[history.numbers("committed_at")[fresh] >= self._store.reading.lake.floor]
        newest = Micros(times[-1])
        until = max(known.until, newest) if known else newest
        totals = _added(table, fresh, known.totals if known else {})
        self._counted[table.uuid], self._totals[table.uuid] = table, CounterState(until, totals)
        return self._totals[table.uuid]


def _added(table: HotTable, fresh: Ints, totals: dict[str, float]) -> dict[str, float]:
    """Totals plus what some commits added; maintenance (`replace`) is left out."""
    if len(fresh):
        fresh = fresh[~table.rows.equals("operation", "replace")[fresh]]
    found = {}
    for counter in TABLE_COUNTERS:
        added = float(len(fresh))
        if counter.column and len(fresh):
            numbers = table.rows.column(counter.column)[fresh]
            added = float(numbers[numbers != NULL].sum())
        found[counter.name] = totals.get(counter.name, 0.0) + added
    return found


def _gauges(table: HotTable, place: int, moved_at: Micros) -> dict[str, float]:
    row = table.rows.chosen([place]).numbers[:, 0]
    found: dict[str, float] = {}
    history: History | None = None
    for gauge, index in _GAUGES:
        value = row[index : index + 1]
        if value[0] == NULL and gauge.kept:
            history = history or History(table)
            value = _newest_known(history, gauge.column)
        if len(value) and value[0] != NULL:
            number = float(value.view(np.float64)[0]) if gauge.column in FLOATS else int(value[0])
            found[gauge.name] = number * gauge.scale if gauge.scale != 1.0 else number
    found[_MOVED.name] = moved_at * _MOVED.scale
    return found


def _newest_known(history: History, column: str) -> Ints:
    """The last known value of a column along main; empty if none is known."""
    places = history.main_places
    values = history.table.rows.column(column)[places[places >= 0]]
    return np.ascontiguousarray(values[values != NULL][-1:])
