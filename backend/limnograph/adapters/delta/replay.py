"""Applies one commit to the live files. Changes are counted by logical file: files = before + added - removed.

A file whose deletion vector changed remains the same data file: it counts as delete files added and removed, the same
as in Delta's own metrics of DELETE. A file that is added again unchanged is no change.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import msgspec

from limnograph.adapters.delta.actions import DeltaFile, FileAction, Values
from limnograph.adapters.delta.state import DeltaLiveFiles


class CommitDelta(msgspec.Struct):
    """Totals that a commit added or removed. A number that is missing for one of its files is None."""

    data_files: int = 0
    delete_files: int = 0
    records: int | None = 0
    bytes: int | None = 0

    def count(self, file: DeltaFile) -> None:
        """Count a data file, with its vector if it has one."""
        self.data_files += 1
        self.delete_files += file.vector_rows is not None
        self.records = _plus(self.records, file.records)
        self.bytes = _plus(self.bytes, file.size)


class Moves(msgspec.Struct):
    """Changes of one commit.

    touched  partition values -> data files added and removed
    placed   whether all removed files name their partition
    visited  partitions that the commit itself names; a removed file may omit its own
    """

    added: CommitDelta = msgspec.field(default_factory=CommitDelta)
    removed: CommitDelta = msgspec.field(default_factory=CommitDelta)
    touched: dict[Values, list[int]] = msgspec.field(default_factory=dict)
    visited: set[Values] = msgspec.field(default_factory=set)
    placed: bool = True

    @property
    def data_files(self) -> int:
        """Data files added and removed."""
        return self.added.data_files + self.removed.data_files

    def touch(self, values: Values | None, added: int, removed: int) -> None:
        """Record a touched partition; None if a removed file does not name its partition."""
        if values is None:
            self.placed = False
            return
        counts = self.touched.setdefault(values, [0, 0])
        counts[0] += added
        counts[1] += removed


def visited(actions: Iterable[FileAction]) -> set[Values]:
    """Partitions that file actions name."""
    return {action.file.values for action in actions if action.file.values is not None}


def replay(actions: list[FileAction], live: DeltaLiveFiles | None) -> Moves:
    """Apply a commit to `live`, in place. `live` None: the state before is unknown, only the commit is counted.

    Raises MetadataError; `live` is then inconsistent and must be discarded.
    """
    last = {action.file.key: action for action in actions}
    olds: dict[bytes, list[DeltaFile]] = defaultdict(list)
    news: dict[bytes, list[DeltaFile]] = defaultdict(list)
    for key, (adds, file) in last.items():
        old = live.pop(key) if live is not None else (None if adds else file)
        if old is not None:
            olds[file.path].append(old)
        if adds:
            news[file.path].append(file)
    if live is not None:
        for files in news.values():
            for file in files:
                live.put(file)
    moves = _moves(olds, news)
    moves.visited = visited(actions)
    return moves


def _moves(olds: dict[bytes, list[DeltaFile]], news: dict[bytes, list[DeltaFile]]) -> Moves:
    moves = Moves()
    for path in {**olds, **news}:
        before, after = olds.get(path, []), news.get(path, [])
        for old, new in zip(before, after, strict=False):
            _exchange(moves, old, new)
        for old in before[len(after) :]:
            moves.removed.count(old)
            moves.touch(old.values, 0, 1)
        for new in after[len(before) :]:
            moves.added.count(new)
            moves.touch(new.values, 1, 0)
    return moves


def _exchange(moves: Moves, old: DeltaFile, new: DeltaFile) -> None:
    """The same data file before and after: only its vector differs, unless a writer violates the protocol."""
    if any(was is not None and now is not None and was != now for was, now in zip(old[2:5], new[2:5], strict=True)):
        moves.removed.count(old)
        moves.added.count(new)
        moves.touch(old.values, 0, 1)
        moves.touch(new.values, 1, 0)
    elif old.key != new.key:
        moves.removed.delete_files += old.vector_rows is not None
        moves.added.delete_files += new.vector_rows is not None
        moves.touch(new.values, 0, 0)


def _plus(total: int | None, part: int | None) -> int | None:
    return None if total is None or part is None else total + part
