"""Files and the newest snapshot that reaches each of them: live and held bytes, by ref and by age, as exact sums.

Cost law: O(n log n) in the rows added. Memory: 32 bytes per distinct file, three times that while rows are folded.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from limnograph.domain.metadata.table import MAIN, TableMetadata
from limnograph.domain.time import Millis

DAY_MS = 86_400_000
LADDER = (0, 1, 3, 5, 7, 14, 30, 60, 90, 180, 365, 730, 1_095, 1_825, 3_650)
"""Ages in days for which freed bytes are calculated."""
HEAD = Millis(np.iinfo(np.int64).max)
REFERENCED = Millis(HEAD - 1)
"""`newest` of what main's current snapshot reaches, and of what the current snapshot of another ref reaches: both are
later than any instant.
"""
NO_REF, _NONE = -1, np.iinfo(np.int32).max
_BATCH = 1 << 20

Words = npt.NDArray[np.uint64]
Longs = npt.NDArray[np.int64]
_Ints = npt.NDArray[np.int32]
_Places = npt.NDArray[np.intp]


class Reach(NamedTuple):
    """The snapshots that reach something, as far as they matter.

    newest       epoch milliseconds of the newest one; HEAD or REFERENCED if a ref's current snapshot is among them
    first, last  least and greatest number of a ref (of those other than main) whose current snapshot is among them;
                 `first` > `last`: none
    kept         whether one of them stays after the expiry in question
    """

    newest: Millis
    first: int = _NONE
    last: int = NO_REF
    kept: bool = True

    def joined(self, other: Reach) -> Reach:
        """The snapshots of both."""
        newest, kept = max(self.newest, other.newest), self.kept or other.kept
        return Reach(newest, min(self.first, other.first), max(self.last, other.last), kept)


class Reached(NamedTuple):
    """Distinct files, ordered by identity: their bytes and what reaches them, as in Reach."""

    identity: Words
    size: Longs
    newest: Longs
    first: _Ints
    last: _Ints
    kept: npt.NDArray[np.bool_]

    def reach(self, row: int) -> Reach:
        """What reaches one of the files."""
        return Reach(Millis(int(self.newest[row])), int(self.first[row]), int(self.last[row]), bool(self.kept[row]))


class ReachedFiles:
    """Collects files; a file that is added several times is one file, reached by all that reached it."""

    def __init__(self) -> None:
        types = (np.uint64, np.int64, np.int64, np.int32, np.int32, np.bool_)
        self._parts: list[list[npt.NDArray[Any]]] = [[np.zeros(0, kind)] for kind in types]
        self._waiting = 0

    @property
    def folded(self) -> int:
        """Distinct files among all but the last additions."""
        return int(self._parts[0][0].size)

    def add(self, identity: Words, size: Longs, reach: Reach) -> None:
        """Add files that the same snapshots reach. `size`: in bytes."""
        if not identity.size:
            return
        same = (
            np.full(identity.size, value, part[0].dtype) for value, part in zip(reach, self._parts[2:], strict=True)
        )
        for part, column in zip(self._parts, (identity, size, *same), strict=True):
            part.append(column)
        self._waiting += identity.size
        if self._waiting > max(_BATCH, self.folded // 4):
            self.files()

    def files(self) -> Reached:
        """All files added so far."""
        if self._waiting:
            self._waiting = 0
            order, begins, self._parts[0] = _grouped(self._parts[0])
            for part, reduce in zip(self._parts[1:], _REDUCED, strict=True):
                part[:] = [reduce(np.concatenate(part)[order], begins)]
        return Reached(*(part[0] for part in self._parts))


_REDUCED = (
    *(np.maximum.reduceat, np.maximum.reduceat, np.minimum.reduceat, np.maximum.reduceat),
    np.logical_or.reduceat,
)
"""How `size`, `newest`, `first`, `last` and `kept` of one file are reduced."""


def _grouped(
    parts: list[npt.NDArray[Any]],
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp], list[npt.NDArray[Any]]]:
    """Order of the identities, where each distinct one begins in it, and the distinct ones."""
    identity = np.concatenate(parts)
    order = np.argsort(identity)
    identity = identity[order]
    begins = np.flatnonzero(np.concatenate([[True], identity[1:] != identity[:-1]]))
    return order, begins, [identity[begins]]


class HeldSums(NamedTuple):
    """Bytes by what reaches them, see `TableBytes`. `freed`: those that no kept snapshot reaches."""

    live: int
    held: int
    by_ref: dict[str, int]
    by_age: list[tuple[int, int]]
    freed: int


def other_refs(metadata: TableMetadata) -> list[str]:
    """Branches and tags other than main, in the order of their numbers in Reach."""
    return sorted(name for name in metadata.refs if name != MAIN)


def snapshot_reaches(metadata: TableMetadata, expiring: frozenset[int] = frozenset()) -> dict[int, Reach]:
    """What each retained snapshot contributes to the reach of its files, by its id. `expiring`: not kept.

    A snapshot is referenced if it is the current snapshot of a branch or tag; ancestors of a branch are not, because
    `expire_snapshots` removes them by age. One without a time is kept at every age, because its age is unknown.
    """
    numbers: dict[int, list[int]] = {}
    for number, name in enumerate(other_refs(metadata)):
        numbers.setdefault(metadata.refs[name].snapshot_id, []).append(number)
    found = {}
    for snapshot_id, snapshot in metadata.snapshots.items():
        refs = numbers.get(snapshot_id, [])
        at = REFERENCED if refs or snapshot.timestamp_ms is None else snapshot.timestamp_ms
        newest = HEAD if snapshot_id == metadata.head_id else at
        kept = snapshot_id not in expiring
        found[snapshot_id] = Reach(newest, min(refs, default=_NONE), max(refs, default=NO_REF), kept)
    return found


def held_sums(files: Reached, refs: Sequence[str], oldest: Millis | None, now: Millis) -> HeldSums:
    """Sums over the files of all retained snapshots.

    refs    branches and tags other than main, by their numbers
    oldest  time of the oldest snapshot, up to which `by_age` reaches; None: unknown
    now     the instant for which ages are calculated
    """
    live = files.newest == HEAD
    own = ~live & (files.first == files.last)
    by_ref = np.zeros(len(refs), np.int64)
    np.add.at(by_ref, files.first[own], files.size[own])
    order = np.argsort(files.newest)
    newest, sums = files.newest[order], np.concatenate([[0], np.cumsum(files.size[order])])
    days = [day for day in LADDER if day == 0 or (oldest is not None and now - oldest > day * DAY_MS)]
    freed = [int(sums[np.searchsorted(newest, now - day * DAY_MS)]) for day in days]
    return HeldSums(
        live=int(files.size[live].sum()),
        held=int(files.size[~live].sum()),
        by_ref=dict(zip(refs, by_ref.tolist(), strict=True)),
        by_age=list(zip(days, freed, strict=True)),
        freed=int(files.size[~files.kept].sum()),
    )
