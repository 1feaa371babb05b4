"""Main's moves of all tables as concatenated sorted columns: the state of every table at an instant, and the growth of
its files in a range, without reading any table.

16 bytes per move, and little for commits that are not moves. Updated for changed tables: O(their rows).
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from limnograph.analysis.usual_gap import LAST_GAPS, breaks, usual_gaps_s
from limnograph.domain.time import Micros
from limnograph.services.fleet.growth import NOTHING, Rise, rises_of, shares_of
from limnograph.services.fleet.segments import Segments, stretches
from limnograph.services.lake.columns import NULL, Ints
from limnograph.services.lake.history import History
from limnograph.services.lake.table import HotTable

ALWAYS = np.int64(2**63 - 1)
_KNOWN = 4
_AT_ONCE = 1 << 18
"""Moves that are compared at the same time: 2 MB per column."""


class Stand(NamedTuple):
    """The tables at an instant.

    `since`, `until`: main's moves before and after it; NULL, ALWAYS: none
    `place`: index of the row that main pointed at; -1 if unknown
    `usual`: the usual gap (`analysis.usual_gap`) in seconds; NaN if unknown
    """

    since: Ints
    until: Ints
    place: Ints
    usual: NDArray[np.float64]


class MoveColumns:
    """Guarded by `lock`, which callers hold from `update` or `hold` until their last query: the columns are those of
    the tables that were added last. Slots are indexes into these columns only.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self._slots: dict[str, int] = {}
        self.versions = np.zeros(0, np.int64)
        self._alike = np.zeros(0, np.bool_)
        self.moves = Segments(2)
        self._commits, self._places, self._gaps = Segments(), Segments(), Segments(2)
        self._known: list[tuple[Sequence[HotTable], Ints]] = []

    @property
    def count(self) -> int:
        """The number of slots."""
        return len(self._slots)

    @property
    def nbytes(self) -> int:
        """Bytes in memory."""
        return sum(part.nbytes for part in self._parts)

    @property
    def _parts(self) -> tuple[Segments, ...]:
        return self.moves, self._commits, self._places, self._gaps

    def update(self, tables: Sequence[HotTable]) -> Ints:
        """Apply changes and return the tables' slots, which never change."""
        for known, slots in self._known:
            if known is tables:
                return slots
        slots = np.array([self._slots.setdefault(table.uuid, len(self._slots)) for table in tables], np.int64)
        more = len(self._slots) - len(self.versions)
        self.versions, self._alike = np.pad(self.versions, (0, more)), np.pad(self._alike, (0, more))
        for part in self._parts:
            part.grow(len(self._slots))
        self.hold(tables, slots)
        # If nothing changed since, the same objects have the same slots.
        self._known = [(tables, slots), *self._known[: _KNOWN - 1]]
        return slots

    def hold(self, tables: Sequence[HotTable], slots: Ints) -> None:
        """Apply changes of some tables whose slots are known; the tables are held as given."""
        versions = np.array([table.version for table in tables], np.int64)
        changed = np.flatnonzero(self.versions[slots] != versions).tolist()
        if len(changed) > 1:
            self.moves.reserve(sum(tables[place].log.height + 4 for place in changed) * 17 // 16)
        for place in changed:
            self._renew(int(slots[place]), tables[place])
        if changed:
            self._known = []

    def _renew(self, slot: int, table: HotTable) -> None:
        history = History(table)
        times, places, commits = history.moves, history.main_places, history.numbers("committed_at")
        self.moves.put(slot, times, history.main_numbers("total_data_files"))
        began = breaks(times)
        self._gaps.put(slot, times[began], times[began] - times[began - 1])
        alike = len(times) == len(commits) and bool((times == commits).all())
        alike = alike and bool((places == np.arange(len(places))).all())
        self._alike[slot] = alike
        self._commits.put(slot, commits[:0] if alike else commits)
        self._places.put(slot, places[:0] if alike else places)
        self.versions[slot] = table.version

    def stand(self, slots: Ints, at: Micros) -> Stand:
        """The tables after all moves up to and including an instant (microseconds)."""
        moves = self.moves
        index = moves.before(slots, at, "right") - 1
        since = np.where(index >= 0, moves.at(0, slots, index), NULL)
        until = np.where(index + 1 < moves.count[slots], moves.at(0, slots, index + 1), ALWAYS)
        place = np.where(self._alike[slots], index, self._places.at(0, slots, index))
        return Stand(since, until, np.where(index >= 0, place, -1), self._usual(slots, index, since))

    def _usual(self, slots: Ints, index: Ints, since: Ints) -> NDArray[np.float64]:
        """The usual gap according to the moves until `index`, the last of which was at `since`."""
        own = self._gaps
        places = own.before(slots, since, "right")[:, None] - np.arange(1, LAST_GAPS + 1)
        at = np.clip(own.first[slots][:, None] + places, 0, own.data.shape[1] - 1)
        gaps = np.where(places >= 0, own.data[1][at].astype(np.float64), np.inf)
        return usual_gaps_s(gaps, index + 1, since - self.moves.at(0, slots, np.zeros_like(index)))

    def commits(self, slots: Ints, at: Micros) -> tuple[Ints, Ints, Ints]:
        """The number of rows up to and including an instant, and the commits around it (NULL, ALWAYS: none)."""
        found = np.zeros((3, len(slots)), np.int64)
        for kind, part in ((True, self.moves), (False, self._commits)):
            chosen = self._alike[slots] == kind
            own = slots[chosen]
            count = part.before(own, at, "right")
            found[0, chosen] = count
            found[1, chosen] = np.where(count > 0, part.at(0, own, count - 1), NULL)
            found[2, chosen] = np.where(count < part.count[own], part.at(0, own, count), ALWAYS)
        return found[0], found[1], found[2]

    def counts(self, slots: Ints, start: Micros, end: Micros) -> Ints:
        """The number of commits per table in `[start, end)`."""
        found, alike = np.zeros(len(slots), np.int64), self._alike[slots]
        for chosen, part in ((alike, self.moves), (~alike, self._commits)):
            if chosen.any():
                first, last = part.between(slots[chosen], start, end)
                found[chosen] = last - first
        return found

    def counts_between(self, slots: Ints, edges: Ints) -> Ints:
        """The number of commits per table (row) between successive edges."""
        of_each, at = np.repeat(slots, len(edges)), np.tile(edges, len(slots))
        found, alike = np.zeros(len(of_each), np.int64), self._alike[of_each]
        for chosen, part in ((alike, self.moves), (~alike, self._commits)):
            if chosen.any():
                found[chosen] = part.before(of_each[chosen], at[chosen], "left")
        return np.diff(found.reshape(len(slots), len(edges)), axis=1)

    def files_at(self, slots: Ints, instants: Ints) -> Ints:
        """Data files per table (row) after each instant's moves; NULL where unknown."""
        of_each, at = np.repeat(slots, len(instants)), np.tile(instants, len(slots))
        index = self.moves.before(of_each, at, "right") - 1
        files = np.where(index >= 0, self.moves.at(1, of_each, index), NULL)
        return files.reshape(len(slots), len(instants))

    def shares(self, slots: Ints, start: Micros, end: Micros, within_us: int) -> NDArray[np.float64]:
        """Greatest growth of each table in `[start, end)`, as by `growth.greatest`; NOTHING if there is none.

        O(moves in the range), a part of the tables at a time.
        """
        firsts, sizes = self._inside(slots, start, end)
        found, begin = np.full(len(slots), NOTHING), 0
        for cut in [*np.flatnonzero(np.diff(np.cumsum(sizes) // _AT_ONCE)) + 1, len(slots)]:
            part = slice(begin, int(cut))
            times, files = self._cut(slots[part], firsts[part], sizes[part])
            found[part] = shares_of(times, files, sizes[part], start, within_us)
            begin = int(cut)
        return found

    def greatest(self, slots: Ints, start: Micros | Ints, end: Micros | Ints, within_us: int) -> list[Rise | None]:
        """The same with its numbers, for few tables: it is computed in one step. Each table may have its own range."""
        starts = np.empty(len(slots), np.int64)
        starts[:] = start
        firsts, sizes = self._inside(slots, start, end)
        times, files = self._cut(slots, firsts, sizes)
        return rises_of(times, files, sizes, starts, within_us)

    def _inside(self, slots: Ints, start: Micros | Ints, end: Micros | Ints) -> tuple[Ints, Ints]:
        """The moves of each table that count in a range, including the one that held at its start: first index, and
        number.
        """
        firsts, lasts = self.moves.between(slots, start, end)
        firsts = np.minimum(np.maximum(firsts - 1, 0), lasts)
        return firsts, lasts - firsts

    def _cut(self, slots: Ints, firsts: Ints, sizes: Ints) -> tuple[Ints, Ints]:
        """Times and files of those moves, table by table."""
        times, files = self.moves.data[:, stretches(self.moves.first[slots] + firsts, sizes)]
        return times, files
