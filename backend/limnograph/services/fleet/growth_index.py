"""Growth of all tables at once: the greatest one per quarter of an hour and table, computed when a commit arrives.

A query about the last days of all tables is one look-up in a matrix. Moves are compared only for tables where the range
cuts a decisive quarter of an hour, or if another time is requested: O(their moves in the range).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from limnograph.domain.queries import DEFAULT_WITHIN_S
from limnograph.domain.time import EPOCH, MICROS_PER_SECOND, Micros
from limnograph.services.fleet.growth import Rise, Rises, rises
from limnograph.services.fleet.move_columns import MoveColumns
from limnograph.services.lake.columns import Ints
from limnograph.services.lake.table import HotTable

DEFAULT_WITHIN = DEFAULT_WITHIN_S
"""Seconds within which every commit's growth is computed on arrival."""
_BUCKET = 900 * MICROS_PER_SECOND
_BUCKETS = 256
"""The matrix reaches back 64 hours in quarters of an hour: 3 KB per table."""


class _Peaks:
    """The greatest share of every quarter of an hour (row) and table (column), and when it was reached. Guarded by the
    lock of the columns.
    """

    def __init__(self, slots: int = 0) -> None:
        self.shares = np.zeros((_BUCKETS, slots))
        self.offsets = np.zeros((_BUCKETS, slots), np.int32)

    def grow(self, more: int) -> None:
        """Make room for more tables."""
        self.shares = np.pad(self.shares, ((0, 0), (0, more)))
        self.offsets = np.pad(self.offsets, ((0, 0), (0, more)))

    def put(self, slot: int, found: Rises, held: NDArray[np.bool_]) -> None:
        """Replace the moves of one table."""
        self.shares[:, slot] = 0.0
        # Of the moves in one quarter the last write wins: the greatest, and of equal ones the first.
        order = np.flatnonzero(held)[np.lexsort((-found.times[held], found.shares[held]))]
        rows, offsets = np.divmod(found.times[order], _BUCKET)
        rows %= _BUCKETS
        self.shares[rows, slot] = found.shares[order]
        self.offsets[rows, slot] = offsets


class _Quarters(NamedTuple):
    """Quarters of an hour of a range in the matrix: those that count whole, and those that the range may cut."""

    whole: list[int]
    cut: list[int]


class GrowthIndex:
    """Thread-safe: guarded by the lock of `columns`. Holds the greatest growth within DEFAULT_WITHIN of every table,
    updated when the table changes; for any other time it reads the columns of main's moves.
    """

    def __init__(self, columns: MoveColumns | None = None) -> None:
        self.columns = columns or MoveColumns()
        self._lock = self.columns.lock
        self._versions = np.zeros(0, np.int64)
        self._ahead = np.zeros(0, np.bool_)
        self._peaks = _Peaks()
        self._top = 0
        self._last: Ints = np.zeros(0, np.int64)

    def update(self, tables: Sequence[HotTable], now: Micros) -> Ints:
        """Apply changes until `now` (microseconds) and return the tables' slots. O(tables) if any changed, and O(rows)
        of the changed ones.
        """
        with self._lock:
            self._turn(now // _BUCKET)
            slots = self.columns.update(tables)
            if slots is self._last:
                return slots
            more = int(slots.max(initial=-1)) + 1 - len(self._versions)
            if more > 0:
                more = max(more, len(self._versions) // 4)
                self._versions, self._ahead = np.pad(self._versions, (0, more)), np.pad(self._ahead, (0, more))
                self._peaks.grow(more)
            versions = np.array([table.version for table in tables], np.int64)
            for place in np.flatnonzero(self._versions[slots] != versions).tolist():
                self._renew(int(slots[place]), tables[place])
            self._last = slots
            return slots

    def _turn(self, top: int) -> None:
        """Make room for the quarters of an hour until now; those older than 64 hours are dropped."""
        if top > self._top:
            fresh = np.arange(max(self._top + 1, top - _BUCKETS + 1), top + 1) % _BUCKETS
            self._peaks.shares[fresh] = 0.0
            self._top = top

    def _renew(self, slot: int, table: HotTable) -> None:
        times, files = self.columns.moves.of(slot)
        self._ahead[slot] = False
        end = Micros(times[-1]) + 1 if len(times) else EPOCH
        found = rises(times, files, Micros(times[0]) if end else EPOCH, end, DEFAULT_WITHIN * MICROS_PER_SECOND)
        buckets = found.times // _BUCKET
        grew = found.shares > 0
        self._ahead[slot] = bool((grew & (buckets > self._top)).any())
        self._peaks.put(slot, found, grew & (buckets > self._top - _BUCKETS) & (buckets <= self._top))
        self._versions[slot] = table.version

    def grown(
        self, tables: Sequence[HotTable], span: tuple[Micros, Micros], share: float, within_s: int, now: Micros
    ) -> NDArray[np.bool_]:
        """Which tables grew by more than `share` within some seconds in the range (microseconds). Up to DEFAULT_WITHIN
        seconds the matrix selects the tables whose moves must be compared; beyond that, all are compared.
        """
        with self._lock:
            if within_s <= DEFAULT_WITHIN:
                grown, doubtful = self._told(tables, span, share, now, exact=within_s == DEFAULT_WITHIN)
            else:
                grown, doubtful = np.zeros(len(tables), np.bool_), np.ones(len(tables), np.bool_)
            slots, places = self.columns.update(tables), np.flatnonzero(doubtful)
            grown[places] = self.columns.shares(slots[places], *span, within_s * MICROS_PER_SECOND) > share
            return grown

    def shares(
        self, tables: Sequence[HotTable], slots: Ints, span: tuple[Micros, Micros], within_s: int
    ) -> NDArray[np.float64]:
        """Greatest growth of each table within some seconds in the range (microseconds); NOTHING without one."""
        with self._lock:
            self.columns.hold(tables, slots)
            return self.columns.shares(slots, *span, within_s * MICROS_PER_SECOND)

    def _told(
        self, tables: Sequence[HotTable], span: tuple[Micros, Micros], share: float, now: Micros, *, exact: bool
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Tables that certainly grew, and those that may have. If the range begins before the matrix, all may have."""
        slots, (start, end) = self.update(tables, now), span
        nothing, everything = np.zeros(len(tables), np.bool_), np.ones(len(tables), np.bool_)
        quarters = self._quarters(start, end)
        if quarters is None:
            return nothing, everything
        sure, edges = (self._greatest(asked)[slots] > share for asked in quarters)
        for bucket in quarters.cut:
            sure |= (self._peaks.shares[bucket % _BUCKETS, slots] > share) & self._inside(bucket, slots, span)
        ahead = self._ahead[slots]
        if not exact:
            return nothing, sure | edges | ahead
        return sure, (edges | ahead) & ~sure

    def _quarters(self, start: Micros, end: Micros) -> _Quarters | None:
        """None if the range begins before the matrix. Whole quarters begin late enough that the start of the range cuts
        off no earlier state.
        """
        first, last = start // _BUCKET, (end - 1) // _BUCKET
        if first <= self._top - _BUCKETS:
            return None
        whole = range(-(-(start + DEFAULT_WITHIN * MICROS_PER_SECOND) // _BUCKET), end // _BUCKET)
        asked = range(first, min(last, self._top) + 1)
        return _Quarters([b for b in asked if b in whole], [b for b in asked if b not in whole])

    def _inside(self, bucket: int, slots: Any, span: tuple[Micros, Micros]) -> Any:
        """Whether a quarter's greatest growth, with all states it was compared with, is inside the range."""
        at = bucket * _BUCKET + self._peaks.offsets[bucket % _BUCKETS, slots].astype(np.int64)
        return (at >= span[0] + DEFAULT_WITHIN * MICROS_PER_SECOND) & (at < span[1])

    def greatest(self, slots: Ints, span: tuple[Micros, Micros], within_s: int) -> list[Rise | None]:
        """Greatest growth of some tables in a range (microseconds), as by `growth.greatest`. For tables in the columns
        the matrix knows when it was reached, so that few moves are compared.
        """
        with self._lock:
            starts, ends = (np.full(len(slots), at) for at in span)
            within, quarters = within_s * MICROS_PER_SECOND, self._quarters(*span)
            if within_s == DEFAULT_WITHIN and quarters is not None:
                told = self._reached(slots, span, quarters)
                sure = told >= 0
                starts[sure] = np.maximum(span[0], told[sure] - within)
                ends[sure] = np.minimum(span[1], told[sure] + 1)
            return self.columns.greatest(slots, starts, ends, within)

    def _reached(self, slots: Ints, span: tuple[Micros, Micros], quarters: _Quarters) -> Ints:
        """When each table's greatest growth in a range was reached; -1 if the matrix does not have it."""
        buckets = np.array([*quarters.whole, *quarters.cut], np.int64)
        if not len(buckets) or not len(slots):
            return np.full(len(slots), -1)
        rows = (buckets % _BUCKETS)[:, None]
        shares = self._peaks.shares[rows, slots]
        at = buckets[:, None] * _BUCKET + self._peaks.offsets[rows, slots].astype(np.int64)
        kept = (at >= span[0] + DEFAULT_WITHIN * MICROS_PER_SECOND) & (at < span[1])
        kept[: len(quarters.whole)] = True
        most, lost = (np.where(where, shares, 0.0).max(axis=0) for where in (kept, ~kept))
        told: Ints = np.where(kept & (shares == most), at, span[1]).min(axis=0)
        known = self.columns.versions[slots] == self._versions[slots]
        return np.where((most > lost) & known & ~self._ahead[slots], told, -1)

    def _greatest(self, buckets: Sequence[int]) -> NDArray[np.float64]:
        """Greatest share of every slot in some quarters of an hour."""
        found = np.zeros(self._peaks.shares.shape[1])
        for bucket in buckets:
            np.maximum(found, self._peaks.shares[bucket % _BUCKETS], out=found)
        return found
