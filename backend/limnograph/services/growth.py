"""How much a table's data files grew within some time: along main's log, so rollbacks and publishes are right.

A growth is a rise from a state to a later one that began at most `within` after the earlier one still held; its share
is the rise over the earlier number. From 0 files every rise is more than any share, and the share itself is not a
number. A state whose number is not known is neither side of a growth, and before the first known state nothing is
known: a table's first load alone is no growth.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from limnograph.domain.asked import DEFAULT_WITHIN_S
from limnograph.domain.time import MICROS_PER_SECOND
from limnograph.services.history import History
from limnograph.services.hot_columns import NULL, Ints
from limnograph.services.hot_table import HotTable

DEFAULT_WITHIN = DEFAULT_WITHIN_S
"""Seconds for which every commit's growth is worked out when the commit comes in."""
_BUCKET = 900 * MICROS_PER_SECOND
_BUCKETS = 256
"""The maintained matrix reaches back 64 hours in quarters of an hour: 2 KB a table."""
_MOST = np.int64(2**63 - 1)


class Rise(NamedTuple):
    """Greatest growth in a range. `share` None: from nothing. `at`: when the later state began, microseconds."""

    before: int
    after: int
    share: float | None
    at: int


class Rises(NamedTuple):
    """Growth of each move against the least state within the time before it; share NaN where not known."""

    times: Ints
    before: Ints
    after: Ints
    shares: NDArray[np.float64]


def rises(times: Ints, files: Ints, start: int, end: int, within: int) -> Rises:
    """Of moves in `[start, end)`. `times` rises; `files` has NULL where not known; all in the unit of `times`.

    A move is compared with every state that held at some instant of the `within` before it, from `start` on. Range
    minima by doubling: O(moves x log(moves within the time)).
    """
    first, last = (int(times.searchsorted(at)) for at in (start, end))
    moves = np.arange(max(first, 1), last)
    at = times[moves]
    since = np.maximum(at - within, start)
    oldest = np.minimum(np.maximum(times.searchsorted(since, "right") - 1, 0), moves - 1)
    least = _least(np.where(files == NULL, _MOST, files), oldest, moves)
    after = files[moves]
    known = (least != _MOST) & (after != NULL)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = (after - least) / least.astype(np.float64)
    shares[known & (least == 0)] = np.where(after[known & (least == 0)] > 0, np.inf, 0.0)
    return Rises(at, least, after, np.where(known, shares, np.nan))


def _least(values: Ints, first: Ints, end: Ints) -> Ints:
    """Least of `values[first:end]` for each pair; every slice has one value or more."""
    if not len(first):
        return np.empty(0, np.int64)
    widths = end - first
    levels = np.frexp(widths.astype(np.float64))[1] - 1
    found = np.empty(len(first), np.int64)
    doubled = values
    for level in range(int(levels.max()) + 1):
        here = levels == level
        found[here] = np.minimum(doubled[first[here]], doubled[end[here] - (1 << level)])
        if len(doubled) > 1 << level:
            doubled = np.minimum(doubled[: -(1 << level)], doubled[1 << level :])
    return found


def greatest(history: History, start: int, end: int, within_s: int) -> Rise | None:
    """Greatest growth of a table in `[start, end)` (microseconds); None when it did not grow or nothing is known."""
    found = rises(history.moves, history.main_numbers("total_data_files"), start, end, within_s * MICROS_PER_SECOND)
    if not (found.shares > 0).any():
        return None
    place = int(np.nanargmax(found.shares))
    share = float(found.shares[place])
    return Rise(
        int(found.before[place]),
        int(found.after[place]),
        share if np.isfinite(share) else None,
        int(found.times[place]),
    )


class GrowthIndex:
    """Thread-safe. Greatest growth within DEFAULT_WITHIN per quarter of an hour and table, renewed for a table when it
    changes: a question about the last days of all tables is one look at a matrix.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._slots: dict[str, int] = {}
        self._versions = np.zeros(0, np.int64)
        self._ahead = np.zeros(0, np.bool_)
        self._shares = np.zeros((_BUCKETS, 0))
        self._top = 0
        self._last: tuple[Sequence[HotTable], Ints] = ((), np.zeros(0, np.int64))

    def update(self, tables: Sequence[HotTable], now: int) -> Ints:
        """Take in what changed until `now` (microseconds); slots of the tables. O(tables) when any changed, and O(rows)
        of those that did.
        """
        with self._lock:
            self._turn(now // _BUCKET)
            if tables is self._last[0]:
                return self._last[1]
            slots = np.array([self._slots.setdefault(t.uuid, len(self._slots)) for t in tables], np.int64)
            more = len(self._slots) - len(self._versions)
            if more > 0:
                more = max(more, len(self._versions) // 4)
                self._versions, self._ahead = np.pad(self._versions, (0, more)), np.pad(self._ahead, (0, more))
                self._shares = np.pad(self._shares, ((0, 0), (0, more)))
            versions = np.array([table.version for table in tables], np.int64)
            for place in np.flatnonzero(self._versions[slots] != versions).tolist():
                self._renew(int(slots[place]), tables[place])
            self._last = tables, slots
            return slots

    def _turn(self, top: int) -> None:
        """Make room for the quarters of an hour until now; those of more than 64 hours ago are forgotten."""
        if top > self._top:
            fresh = np.arange(max(self._top + 1, top - _BUCKETS + 1), top + 1) % _BUCKETS
            self._shares[fresh] = 0.0
            self._top = top

    def _renew(self, slot: int, table: HotTable) -> None:
        history = History(table)
        times = history.moves
        self._shares[:, slot] = 0.0
        self._ahead[slot] = False
        if len(times):
            files = history.main_numbers("total_data_files")
            found = rises(times, files, int(times[0]), int(times[-1]) + 1, DEFAULT_WITHIN * MICROS_PER_SECOND)
            buckets = found.times // _BUCKET
            grew = found.shares > 0
            self._ahead[slot] = bool((grew & (buckets > self._top)).any())
            held = grew & (buckets > self._top - _BUCKETS) & (buckets <= self._top)
            np.maximum.at(self._shares[:, slot], buckets[held] % _BUCKETS, found.shares[held])
        self._versions[slot] = table.version

    def grown(
        self, tables: Sequence[HotTable], span: tuple[int, int], share: float, within_s: int, now: int
    ) -> NDArray[np.bool_]:
        """Which tables grew by more than `share` within some seconds in the range (microseconds). Up to DEFAULT_WITHIN
        seconds the matrix tells which tables have to be looked at; beyond, all are.
        """
        doubtful = np.ones(len(tables), np.bool_)
        grown = np.zeros(len(tables), np.bool_)
        if within_s <= DEFAULT_WITHIN:
            grown, doubtful = self._told(tables, span, share, now, exact=within_s == DEFAULT_WITHIN)
        for place in np.flatnonzero(doubtful).tolist():
            found = greatest(History(tables[place]), *span, within_s)
            grown[place] = found is not None and (found.share is None or found.share > share)
        return grown

    def _told(
        self, tables: Sequence[HotTable], span: tuple[int, int], share: float, now: int, *, exact: bool
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Tables that surely grew, and those that may have. A range that begins before the matrix asks for all."""
        slots, (start, end) = self.update(tables, now), span
        nothing, everything = np.zeros(len(tables), np.bool_), np.ones(len(tables), np.bool_)
        first, last = start // _BUCKET, (end - 1) // _BUCKET
        with self._lock:
            if first <= self._top - _BUCKETS:
                return nothing, everything
            # In whole quarters that begin late enough no earlier state was cut off by the range's start.
            whole = range(-(-(start + DEFAULT_WITHIN * MICROS_PER_SECOND) // _BUCKET), end // _BUCKET)
            asked = range(first, min(last, self._top) + 1)
            sure = self._greatest([bucket for bucket in asked if bucket in whole])[slots] > share
            edges = self._greatest([bucket for bucket in asked if bucket not in whole])[slots] > share
            ahead = self._ahead[slots]
        if not exact:
            return nothing, sure | edges | ahead
        return sure, (edges | ahead) & ~sure

    def _greatest(self, buckets: Sequence[int]) -> NDArray[np.float64]:
        """Greatest share of every slot in some quarters of an hour."""
        found = np.zeros(self._shares.shape[1])
        for bucket in buckets:
            np.maximum(found, self._shares[bucket % _BUCKETS], out=found)
        return found
