"""Concatenated sorted columns of many tables in one array: a query over all of them is a few array steps.

Every slot has a segment of the array with some room to grow. A slot that outgrows it moves to the end, and the array is
repacked when the end is reached.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from limnograph.services.lake.columns import Ints


class Segments:
    """`data[column, place]`; the first column of every slot increases. Guarded by the lock of the columns that it is a
    part of.
    """

    def __init__(self, columns: int = 1) -> None:
        self.data = np.zeros((columns, 1), np.int64)
        self.first, self.count, self._room = np.zeros((3, 0), np.int64)
        self._end = 0

    @property
    def nbytes(self) -> int:
        """Bytes in memory."""
        return self.data.nbytes + self.first.nbytes * 3

    def grow(self, slots: int) -> None:
        """Grow to this many slots; new ones are empty."""
        more = max(0, slots - len(self.first))
        self.first, self.count, self._room = (np.pad(one, (0, more)) for one in (self.first, self.count, self._room))

    def reserve(self, more: int) -> None:
        """Make room for this many numbers before `put`."""
        if self._end + more > self.data.shape[1]:
            self._packed(more)

    def put(self, slot: int, *columns: Ints) -> None:
        """Replace the numbers of one slot. O(numbers)."""
        count = len(columns[0])
        if count > self._room[slot]:
            room = count + count // 16 + 4
            self._room[slot] = self.count[slot] = 0
            self.reserve(room)
            self.first[slot], self._room[slot] = self._end, room
            self._end += room
        start = int(self.first[slot])
        for column, numbers in enumerate(columns):
            self.data[column, start : start + count] = numbers
        self.count[slot] = count

    def of(self, slot: int) -> Ints:
        """All columns of one slot, as a view that must not be kept."""
        start = self.first[slot]
        return self.data[:, start : start + self.count[slot]]

    def before(self, slots: Ints, value: int | Ints, side: Literal["left", "right"]) -> Ints:
        """How many numbers of each slot are less than `value` (`right`: or equal): `searchsorted` of all slots in one
        step. `value` is one number for all slots, or one for each.
        """
        times, first, left = self.data[0], self.first[slots], self.count[slots]
        low = first.copy()
        # Halving without a branch: if nothing is left, no half is added, whatever is stored before it.
        for _ in range(max(0, int(left.max(initial=0)) - 1).bit_length()):
            half = left >> 1
            found = times[low + half - 1]
            low += half * (found <= value if side == "right" else found < value)
            left -= half
        found = times[np.minimum(low, len(times) - 1)]
        low += (left > 0) & (found <= value if side == "right" else found < value)
        low -= first
        return low

    def between(self, slots: Ints, low: int | Ints, high: int | Ints) -> tuple[Ints, Ints]:
        """Indexes of each slot's first number in `[start, end)` and of the first one after it."""
        bounds = np.empty((2, len(slots)), np.int64)
        bounds[0], bounds[1] = low, high
        first, last = self.before(np.concatenate((slots, slots)), bounds.ravel(), "left").reshape(2, -1)
        return first, last

    def at(self, column: int, slots: Ints, places: Ints) -> Ints:
        """One number per slot; arbitrary where the index is outside the slot."""
        found: Ints = self.data[column][np.clip(self.first[slots] + places, 0, self.data.shape[1] - 1)]
        return found

    def _packed(self, more: int) -> None:
        """The used segments moved to the front, with room behind them."""
        used = np.flatnonzero(self._room)
        total = int(self._room[used].sum()) + more
        made, end = np.zeros((len(self.data), total + total // 8 + 1), np.int64), 0
        for slot in used.tolist():
            start, count = int(self.first[slot]), int(self.count[slot])
            made[:, end : end + count] = self.data[:, start : start + count]
            self.first[slot] = end
            end += int(self._room[slot])
        self.data, self._end = made, end


def stretches(starts: Ints, sizes: Ints) -> Ints:
    """Indexes of concatenated stretches that begin at `starts`."""
    ends = np.cumsum(sizes)
    found: Ints = np.repeat(starts - ends + sizes, sizes) + np.arange(int(ends[-1]) if len(ends) else 0)
    return found
