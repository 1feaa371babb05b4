"""Bursts of all tables at once: the few commits that add many files, as columns that persist between queries.

A commit with fewer files than `burst_files / burst_over_usual` is neither a burst nor makes another one usual, so most
tables store nothing. Whether a burst exceeds five times the usual is a count: of the other commits less than half may
add more than a fifth of its files.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from limnograph.domain.thresholds import Thresholds
from limnograph.domain.time import Micros
from limnograph.services.fleet.burst import files_before
from limnograph.services.fleet.segments import Segments, stretches
from limnograph.services.lake.columns import NULL, Ints
from limnograph.services.lake.history import History

Bools = NDArray[np.bool_]


class Bursts(NamedTuple):
    """Bursts of the requested tables.

    `speaks`: whether it has a burst
    `doubtful`: only the table's history can decide
    `files`: files added by the burst
    `place`: index of its row
    `before`: data files before it; NULL: unknown
    """

    speaks: Bools
    doubtful: Bools
    files: Ints
    place: Ints
    before: Ints

    @staticmethod
    def none(count: int) -> Bursts:
        """No burst, for this many tables."""
        speaks, doubtful = np.zeros((2, count), np.bool_)
        files, place, before = np.full((3, count), NULL)
        return Bursts(speaks, doubtful, files, place, before)

    def taken(self, places: NDArray[np.intp]) -> Bursts:
        """Those of some of the tables; -1: no table and no burst."""
        there = places >= 0
        return Bursts(
            self.speaks[places] & there,
            self.doubtful[places] & there,
            self.files[places],
            self.place[places],
            self.before[places],
        )


class BurstColumns:
    """Slots are those of `MoveColumns`. Guarded by its lock."""

    def __init__(self, limits: Thresholds) -> None:
        self._limits = limits
        self._many = Segments(4)
        self._uncounted = Segments()

    @property
    def parts(self) -> tuple[Segments, Segments]:
        """The arrays it holds."""
        return self._many, self._uncounted

    def renew(self, slot: int, history: History, rewrites: Bools) -> None:
        """Add the rows of one table. O(rows)."""
        limits, commits, added = self._limits, history.numbers("committed_at"), history.numbers("added_data_files")
        self._uncounted.put(slot, commits[(added == NULL) | rewrites])
        places = np.flatnonzero((added > limits.burst_files / limits.burst_over_usual) & ~rewrites)
        files, before = added[places], np.full(len(places), NULL)
        bursts = np.flatnonzero(files >= limits.burst_files)
        if len(bursts):
            before[bursts] = files_before(history, places[bursts], limits)
        self._many.put(slot, commits[places], files, before, places)

    def of(self, slots: Ints, start: Micros, end: Micros, counted: Callable[[Ints], Ints]) -> Bursts:
        """Bursts in `[start, end)` (microseconds). `counted`: returns how many commits some slots have in the range."""
        first, last = self._many.between(slots, start, end)
        found = Bursts.none(len(slots))
        tables = np.flatnonzero(last > first)
        if not len(tables):
            return found
        sizes = (last - first)[tables]
        places = stretches(self._many.first[slots[tables]] + first[tables], sizes)
        files, before, rows = self._many.data[1:, places]
        begins, table_of = np.cumsum(sizes) - sizes, np.repeat(np.arange(len(sizes)), sizes)
        most = np.maximum.reduceat(files, begins)
        greatest = np.flatnonzero(files == most[table_of])
        greatest = greatest[np.diff(table_of[greatest], prepend=-1) > 0]  # of equal ones the first
        found.files[tables], found.before[tables], found.place[tables] = most, before[greatest], rows[greatest]
        own = slots[tables]
        unknown, known = self._uncounted.between(own, start, end), counted(own) - 1
        self._judge(found, tables, known - (unknown[1] - unknown[0]), self._alike(files, most, table_of, begins))
        return found

    def _alike(self, files: Ints, most: Ints, table_of: Ints, begins: Ints) -> Ints:
        """The number of other commits that add enough files to make the greatest one usual, if they were usual
        themselves.
        """
        alike: Ints = np.add.reduceat((files * self._limits.burst_over_usual > most[table_of]).astype(np.int64), begins)
        return alike - 1

    def _judge(self, found: Bursts, tables: NDArray[np.intp], others: Ints, alike: Ints) -> None:
        """`others`: known commits besides the greatest. If exactly half of them are alike, the mean of two decides."""
        limits, before, files = self._limits, found.before[tables], found.files[tables]
        large = (files >= limits.burst_files) & ((before == NULL) | (files >= limits.burst_share * before))
        half = (2 * alike == others) & (others > 0)
        found.speaks[tables] = large & (2 * alike <= others) & ~half
        found.doubtful[tables] = large & half
