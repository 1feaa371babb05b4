"""Main's log of one table in packed columns: when main moved and to which snapshot, in the order of the moves."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from limnograph.domain.facts.meta_tables import ChangeFact
from limnograph.domain.time import Micros
from limnograph.services.lake.columns import NULL, Ints, Sheet
from limnograph.services.lake.packing import Block, pack
from limnograph.services.lake.rows import pushed

Move = tuple[Micros, int, int | None]
"""`(at, snapshot id, previous snapshot id)`."""
_NONE = np.empty(0, np.int64)


def is_move(change: ChangeFact) -> bool:
    """Whether a change is an entry of main's log that names a snapshot."""
    return change.kind == "ref" and change.subject == "main" and _is_id(change.to_value)


def move_of(change: ChangeFact) -> Move:
    """The entry of main's log in a change."""
    return change.at, int(change.to_value or 0), int(change.from_value or 0) if _is_id(change.from_value) else None


def main_log(changes: Iterable[ChangeFact]) -> list[tuple[Micros, int]]:
    """`(at, snapshot id)` of the entries in the order of main's moves; entries without a decimal id are left out."""
    return [(at, to) for at, to, _ in ordered([move_of(change) for change in changes if is_move(change)], None)]


class MainLog(NamedTuple):
    """Blocks of three columns: at, snapshot id, previous id (kept only to order the moves of one instant)."""

    blocks: tuple[Block, ...] = ()

    @property
    def nbytes(self) -> int:
        """Bytes in memory."""
        return sum(block.nbytes for block in self.blocks)

    @property
    def height(self) -> int:
        """The number of moves."""
        return sum(block.height for block in self.blocks)

    def times(self) -> Ints:
        """Instants of the moves."""
        return self._column(0)

    def ids(self) -> Ints:
        """Snapshots that main moved to."""
        return self._column(1)

    @property
    def head(self) -> int | None:
        """The snapshot that main points at now; None if the log is empty."""
        return int(self.blocks[-1].column(1)[-1]) if self.blocks else None

    def _column(self, index: int) -> Ints:
        if len(self.blocks) == 1:
            return self.blocks[0].column(index)
        return np.concatenate([block.column(index) for block in self.blocks]) if self.blocks else _NONE

    def moves(self) -> list[Move]:
        """All moves; where the previous snapshot was not recorded, it is that of the previous entry."""
        times, ids, befores = self.times(), self.ids().tolist(), self._column(2).tolist()
        steps = zip(times.tolist(), ids, [NULL, *ids[:-1]], befores, strict=True) if ids else ()
        return [(at, to, came if came != NULL else before) for at, to, before, came in steps]

    def put(self, moves: Iterable[Move]) -> MainLog:
        """The log with more moves; known ones (same instant and snapshot) are left out. Appending is O(new)."""
        times, ids = self.times(), self.ids()
        known: set[tuple[int, int]] = set()
        last = int(times[-1]) if len(times) else None
        new = sorted(moves, key=lambda move: move[0])
        if last is not None and new and new[0][0] <= last:
            first = int(np.searchsorted(times, new[0][0]))
            known = set(zip(times[first:].tolist(), ids[first:].tolist(), strict=True))
        fresh: list[Move] = []
        for move in new:
            if move[:2] not in known:
                known.add(move[:2])
                fresh.append(move)
        if not fresh:
            return self
        if last is None or fresh[0][0] > last:
            return MainLog(pushed(self.blocks, _sheet(ordered(fresh, int(ids[-1]) if len(ids) else None)), _pack))
        return MainLog((_pack(_sheet(ordered([*self.moves(), *fresh], None))),))

    def trimmed(self, floor: Micros) -> MainLog:
        """The log without moves before `floor`, except for the newest of them."""
        times = self.times()
        first = int(np.searchsorted(times, floor)) - 1
        if first <= 0:
            return self
        kept = np.stack([self._column(index)[first:] for index in range(3)])
        return MainLog((_pack(Sheet(kept, [])),))


def ordered(moves: list[Move], previous_id: int | None) -> list[Move]:
    """Moves by time; those of one instant as a chain in which each begins where the previous one ended."""
    found: list[Move] = []
    by_time = sorted(moves, key=lambda move: move[0])
    for _, group in itertools.groupby(by_time, key=lambda move: move[0]):
        same = list(group)
        found += _chained(same, found[-1][1] if found else previous_id) if len(same) > 1 else same
    return found


def _chained(moves: list[Move], previous_id: int | None) -> list[Move]:
    """Moves of one instant, starting at snapshot `previous_id` if they continue it, else at one that none leads to."""
    left, chain = list(moves), []
    while left:
        reached = {to for _, to, _ in left}
        following = next((m for m in left if m[2] == previous_id), None)
        following = following or next((m for m in left if m[2] not in reached), left[0])
        left.remove(following)
        chain.append(following)
        previous_id = following[1]
    return chain


def _sheet(moves: list[Move]) -> Sheet:
    times = [at for at, _, _ in moves]
    shared = {a for a, b in itertools.pairwise(times) if a == b}
    befores = [NULL if before is None or at not in shared else before for at, _, before in moves]
    return Sheet(np.array([times, [to for _, to, _ in moves], befores], np.int64), [])


def _pack(sheet: Sheet) -> Block:
    return pack(sheet.numbers, times=(0,))


def log_of_sorted(times: Ints, ids: Ints) -> MainLog:
    """A log from columns whose instants strictly increase; no Python object per move."""
    return MainLog((_pack(Sheet(np.stack([times, ids, np.full(len(times), NULL, np.int64)]), [])),))


def _is_id(text: str | None) -> bool:
    """A decimal of 64 bits."""
    if text is None or len(text) > 20 or not text.lstrip("-").isdecimal() or not text.isascii():
        return False
    return -(2**63) <= int(text) < 2**63 if text.rfind("-") < 1 else False
