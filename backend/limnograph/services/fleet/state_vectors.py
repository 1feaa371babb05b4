"""The state of every table at an instant, as vectors: kept between queries, and updated only for tables that changed or
whose state differs by now. A query over the whole lake costs O(tables), not O(rows): a few array steps over the columns
of main's moves, and the cells of one row per table.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from limnograph.analysis.usual_gap import usual_gap_s
from limnograph.domain.time import Micros
from limnograph.services.fleet.move_columns import MoveColumns
from limnograph.services.fleet.view import usual_interval_s
from limnograph.services.lake.columns import INDEX, NULL, Ints
from limnograph.services.lake.history import History
from limnograph.services.lake.rows import PackedRows
from limnograph.services.lake.table import HotTable

STATE = (
    *("total_data_files", "total_delete_files", "total_records", "total_bytes", "small_files", "file_size_p50"),
    *("manifests", "live_snapshots", "skew_max_over_median"),
)
"""Columns of the row that main points at."""
_STATE_ROWS = tuple(INDEX[name] for name in STATE)
_UNKNOWN = [NULL] * len(STATE)
_MOVED, _ORDINAL = len(STATE), len(STATE) + 1
_KEPT = 8
_FEW = 8
"""If fewer than an eighth of the tables are requested, their states are looked up each time."""


class StateVectors(NamedTuple):
    """The requested tables, in their order.

    `values`: STATE as `values[table, column]`; NULL if unknown
    `moved`: last move of main
    `ordinal`: the number of commits so far
    `next_move`: the next move of main
    `usual`: the usual gap between moves in seconds; NaN if unknown
    """

    values: Ints
    moved: Ints
    ordinal: Ints
    next_move: Ints
    usual: NDArray[np.float64]

    def column(self, name: str) -> Ints:
        """One column of STATE."""
        found: Ints = self.values[:, STATE.index(name)]
        return found


class _Instant:
    """Vectors over slots, valid while the instants are between `since` and `until` and versions are unchanged."""

    def __init__(self) -> None:
        self.at = 0
        self.versions = np.zeros(0, np.int64)
        self.since, self.until = np.zeros((2, 0), np.int64), np.zeros((2, 0), np.int64)
        self.numbers = np.zeros((0, len(STATE) + 2), np.int64)
        self.usual = np.zeros(0, np.float64)

    def grow(self, slots: int) -> None:
        """Make room for more tables."""
        more = max(0, slots - len(self.versions))
        self.versions = np.pad(self.versions, (0, more))
        self.since, self.until = (np.pad(bounds, ((0, 0), (0, more))) for bounds in (self.since, self.until))
        self.numbers = np.pad(self.numbers, ((0, more), (0, 0)))
        self.usual = np.pad(self.usual, (0, more))

    def standing(self, slots: Ints) -> StateVectors:
        """The vectors of some slots."""
        numbers = self.numbers[slots]
        return StateVectors(
            numbers[:, :_MOVED], numbers[:, _MOVED], numbers[:, _ORDINAL], self.until[0, slots], self.usual[slots]
        )


class StateVectorCache:
    """Thread-safe: guarded by the lock of `columns`; returns copies. The hot lake has one; lakes that were read cold
    have their own.
    """

    def __init__(self, columns: MoveColumns | None = None) -> None:
        self.columns = columns or MoveColumns()
        self._instants: list[_Instant] = []

    def at(
        self, tables: Sequence[HotTable], state_at: Micros, count_at: Micros, slots: Ints | None = None
    ) -> StateVectors:
        """States after all moves until `state_at`; commits until `count_at`, both inclusive (epoch microseconds).
        `slots`: those of the tables, if known.
        """
        with self.columns.lock:
            if slots is None:
                slots = self.columns.update(tables)
            else:
                self.columns.hold(tables, slots)
            if len(slots) * _FEW < self.columns.count:
                return self._once(slots, tables, state_at, count_at)
            versions = np.array([table.version for table in tables], np.int64)
            kept = self._nearest(state_at)
            kept.grow(int(slots.max(initial=-1)) + 1)
            kept.at = state_at
            asked = np.array([[state_at], [count_at]])
            fits = (kept.since[:, slots] <= asked) & (asked < kept.until[:, slots])
            places = np.flatnonzero((kept.versions[slots] != versions) | ~fits.all(axis=0))
            if len(places):
                some = [tables[place] for place in places.tolist()]
                self._look(kept, slots[places], slots[places], some, (state_at, count_at))
                kept.versions[slots[places]] = versions[places]
            return kept.standing(slots)

    def _once(self, slots: Ints, tables: Sequence[HotTable], state_at: Micros, count_at: Micros) -> StateVectors:
        """For few tables: nothing is cached."""
        found, places = _Instant(), np.arange(len(slots))
        found.grow(len(slots))
        self._look(found, places, slots, tables, (state_at, count_at))
        return found.standing(places)

    def _look(
        self, kept: _Instant, places: Ints, slots: Ints, tables: Sequence[HotTable], instants: tuple[Micros, Micros]
    ) -> None:
        """Look up the states of some tables and store them at `places`."""
        counted, kept.since[1, places], kept.until[1, places] = self.columns.commits(slots, instants[1])
        stand = self.columns.stand(slots, instants[0])
        kept.since[0, places], kept.until[0, places] = stand.since, stand.until
        rows = [_cells(table.rows, place) for table, place in zip(tables, stand.place.tolist(), strict=True)]
        kept.numbers[places, :_MOVED] = np.array(rows, np.int64).reshape(-1, _MOVED)
        kept.numbers[places, _MOVED] = stand.since
        kept.numbers[places, _ORDINAL] = counted + np.array([table.rows.before for table in tables], np.int64)
        kept.usual[places] = stand.usual

    def _nearest(self, at: Micros) -> _Instant:
        """The cached instant that is close; otherwise a new one, which replaces the least recently used."""
        found = min(self._instants, key=lambda kept: abs(kept.at - at), default=None)
        if found is not None and (abs(found.at - at) < _NEAR or len(self._instants) >= _KEPT):
            self._instants.remove(found if abs(found.at - at) < _NEAR else self._instants[0])
        if found is None or abs(found.at - at) >= _NEAR:
            found = _Instant()
        self._instants.append(found)
        return found


_NEAR = 600 * 1_000_000
"""Instants this close, in microseconds, share most of their states."""


def _cells(rows: PackedRows, place: int) -> list[int]:
    """STATE in the row at an index; unknown for -1."""
    if place < 0:
        return _UNKNOWN
    block, row = rows.holding(place)
    return block.cells(row, _STATE_ROWS)


def main_at(table: HotTable, commits: Ints, at: Micros) -> tuple[Ints, int, float | None]:
    """Moves of main, index of the row it pointed at (-1: unknown), seconds between moves until then."""
    times = table.log.times()
    if not len(times) or (len(commits) and commits[0] < times[0]):
        history = History(table)
        return history.moves, history.place_at(at), usual_interval_s(history, at)
    index = int(times.searchsorted(at, "right")) - 1
    if index < 0:
        return times, -1, None
    places = np.flatnonzero(table.rows.column("snapshot_id") == table.log.ids()[index])
    return times, int(places[0]) if len(places) else -1, usual_gap_s(times[: index + 1])
