"""Main's moves of all tables as sorted columns under one another: where every table stood at an instant, and how its
files grew in a range, without a look at any table.

16 bytes a move, and little where commits are not moves. Renewed for tables that changed: O(rows) of those.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from limnograph.services.growth import NOTHING, shares_of
from limnograph.services.history import History
from limnograph.services.hot_columns import NULL, Ints
from limnograph.services.hot_table import HotTable
from limnograph.services.segments import Segments

ALWAYS = np.int64(2**63 - 1)
_USUAL_OF = 50
"""Moves whose distances tell how often a table usually commits; with fewer than five nobody can say."""
_KNOWN = 4
_AT_ONCE = 1 << 18
"""Moves that are compared at the same time: 2 MB a column."""


class Stand(NamedTuple):
    """Of each table at an instant. `since`, `until`: moves of main around it (NULL, ALWAYS: none). `place`: of the row
    that main pointed at, -1 when not known. `usual`: median seconds between moves, NaN when not known.
    """

    since: Ints
    until: Ints
    place: Ints
    usual: NDArray[np.float64]


class MoveColumns:
    """`update` and what follows belong together: hold `lock` for both. `burst_files`: so many are many for a commit."""

    def __init__(self, burst_files: int = 1_000) -> None:
        self.lock = threading.RLock()
        self._burst_files = burst_files
        self._slots: dict[str, int] = {}
        self._versions = np.zeros(0, np.int64)
        self._alike = np.zeros(0, np.bool_)
        self.moves = Segments(2)
        self._commits, self._places, self._bursts, self._replaces = (Segments() for _ in range(4))
        self._known: list[tuple[Sequence[HotTable], Ints]] = []

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return sum(part.nbytes for part in self._parts)

    @property
    def _parts(self) -> tuple[Segments, ...]:
        return self.moves, self._commits, self._places, self._bursts, self._replaces

    def update(self, tables: Sequence[HotTable]) -> Ints:
        """Take in what changed; slots of the tables, which stay theirs for ever."""
        for known, slots in self._known:
            if known is tables:
                return slots
        slots = np.array([self._slots.setdefault(table.uuid, len(self._slots)) for table in tables], np.int64)
        more = len(self._slots) - len(self._versions)
        self._versions, self._alike = np.pad(self._versions, (0, more)), np.pad(self._alike, (0, more))
        for part in self._parts:
            part.grow(len(self._slots))
        versions = np.array([table.version for table in tables], np.int64)
        changed = np.flatnonzero(self._versions[slots] != versions).tolist()
        if len(changed) > 1:
            self.moves.reserve(sum(tables[place].log.height + 4 for place in changed) * 17 // 16)
        for place in changed:
            self._renew(int(slots[place]), tables[place])
        # Nothing changed since these were asked for: the same objects have the same slots.
        self._known = [(tables, slots), *([] if changed else self._known[: _KNOWN - 1])]
        return slots

    def slot(self, table: HotTable) -> int | None:
        """The slot of a table that is held as it is now."""
        slot = self._slots.get(table.uuid)
        return slot if slot is not None and self._versions[slot] == table.version else None

    def _renew(self, slot: int, table: HotTable) -> None:
        history = History(table)
        times, places, commits = history.moves, history.main_places, history.numbers("committed_at")
        self.moves.put(slot, times, history.main_numbers("total_data_files"))
        alike = len(times) == len(commits) and bool((times == commits).all())
        alike = alike and bool((places == np.arange(len(places))).all())
        self._alike[slot] = alike
        self._commits.put(slot, commits[:0] if alike else commits)
        self._places.put(slot, places[:0] if alike else places)
        self._bursts.put(slot, commits[history.numbers("added_data_files") >= self._burst_files])
        self._replaces.put(slot, commits[table.rows.equals("operation", "replace")])
        self._versions[slot] = table.version

    def stand(self, slots: Ints, at: int) -> Stand:
        """After all moves until an instant, itself included (microseconds)."""
        moves = self.moves
        index = moves.before(slots, at, "right") - 1
        since = np.where(index >= 0, moves.at(0, slots, index), NULL)
        until = np.where(index + 1 < moves.count[slots], moves.at(0, slots, index + 1), ALWAYS)
        place = np.where(self._alike[slots], index, self._places.at(0, slots, index))
        return Stand(since, until, np.where(index >= 0, place, -1), self._usual(slots, index))

    def _usual(self, slots: Ints, index: Ints) -> NDArray[np.float64]:
        """Median of the distances of the last moves until `index`."""
        back = np.arange(_USUAL_OF - 1, -1, -1)
        places = index[:, None] - back
        times = self.moves.data[0][np.clip(self.moves.first[slots][:, None] + places, 0, self.moves.data.shape[1] - 1)]
        distances = np.where(places[:, :-1] >= 0, np.diff(times, axis=1), ALWAYS)
        distances.sort(axis=1)
        known = np.clip(index, 0, _USUAL_OF - 1)
        row = np.arange(len(index))
        low, high = distances[row, (known - 1) // 2], distances[row, known // 2]
        return np.where(known >= 4, (low + high.astype(np.float64)) / 2 / 1_000_000, np.nan)

    def commits(self, slots: Ints, at: int) -> tuple[Ints, Ints, Ints]:
        """How many rows there are until an instant, itself included; the commits around it (NULL, ALWAYS: none)."""
        found = np.zeros((3, len(slots)), np.int64)
        for kind, part in ((True, self.moves), (False, self._commits)):
            chosen = self._alike[slots] == kind
            own = slots[chosen]
            count = part.before(own, at, "right")
            found[0, chosen] = count
            found[1, chosen] = np.where(count > 0, part.at(0, own, count - 1), NULL)
            found[2, chosen] = np.where(count < part.count[own], part.at(0, own, count), ALWAYS)
        return found[0], found[1], found[2]

    def burst(self, slots: Ints, start: int, end: int) -> NDArray[np.bool_]:
        """Which have a commit of many files in `[start, end)`."""
        return _any(self._bursts, slots, start, end)

    def replaced(self, slots: Ints, start: int, end: int) -> NDArray[np.bool_]:
        """Which have a `replace` in `[start, end)`."""
        return _any(self._replaces, slots, start, end)

    def shares(self, slots: Ints, start: int, end: int, within: int) -> NDArray[np.float64]:
        """Greatest growth of each in `[start, end)`, as `growth.greatest` tells it; NOTHING where there is none.

        O(moves in the range), some at a time.
        """
        moves = self.moves
        lasts = moves.before(slots, end, "left")
        firsts = np.minimum(np.maximum(moves.before(slots, start, "left") - 1, 0), lasts)
        sizes, found = lasts - firsts, np.full(len(slots), NOTHING)
        begin = 0
        for cut in [*np.flatnonzero(np.diff(np.cumsum(sizes) // _AT_ONCE)) + 1, len(slots)]:
            part = slice(begin, int(cut))
            places = _places(moves.first[slots[part]] + firsts[part], sizes[part])
            data = moves.data[:, places]
            found[part] = shares_of(data[0], data[1], sizes[part], (start, end), within)
            begin = int(cut)
        return found


def _places(starts: Ints, sizes: Ints) -> Ints:
    """Places of stretches that begin at `starts`, one after the other."""
    ends = np.cumsum(sizes)
    found: Ints = np.repeat(starts - ends + sizes, sizes) + np.arange(int(ends[-1]) if len(ends) else 0)
    return found


def _any(part: Segments, slots: Ints, start: int, end: int) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = part.before(slots, start, "left") < part.before(slots, end, "left")
    return found
