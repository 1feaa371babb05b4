"""The known history of one table in memory: its snapshots, what main pointed at and when, its other changes.

A value. Main follows the table's own log (`changes` of kind `ref`), so rollbacks and set-current are right; where the
log has no entry, rows that were ancestors of main stand in by their commit time. Instants are epoch microseconds.
"""

from __future__ import annotations

import itertools
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from functools import cached_property

from limnograph.analysis.alignment import Value
from limnograph.domain.facts import ChangeFact, SnapshotFact
from limnograph.domain.ids import TableName


class History:
    """Snapshots by id, changes in time order. `provisional`: ids that only the watcher has seen."""

    def __init__(
        self,
        uuid: str,
        name: TableName,
        snapshots: dict[int, SnapshotFact],
        changes: Sequence[ChangeFact],
        provisional: frozenset[int] = frozenset(),
    ) -> None:
        self.uuid = uuid
        self.name = name
        self.snapshots = snapshots
        self.changes = sorted(changes, key=lambda change: change.at)
        self.provisional = provisional
        self._columns: dict[str, list[Value]] = {}

    @cached_property
    def main(self) -> list[tuple[int, int]]:
        """`(instant, snapshot id)` of every move of main, in time order."""
        log = main_log(self.changes)
        first = log[0][0] if log else None
        logged = {snapshot_id for _, snapshot_id in log}
        before = sorted(
            (row.committed_at, row.snapshot_id)
            for row in self.snapshots.values()
            if row.on_main
            and row.committed_at is not None
            and row.snapshot_id not in logged
            and (first is None or row.committed_at < first)
        )
        return [*before, *log]

    @cached_property
    def main_times(self) -> list[int]:
        """Instants of `main`."""
        return [at for at, _ in self.main]

    def column(self, name: str) -> list[Value]:
        """Numbers of the snapshots along `main`; None where the row or its number is not known."""
        if name not in self._columns:
            rows = (self.snapshots.get(snapshot_id) for _, snapshot_id in self.main)
            self._columns[name] = [getattr(row, name) if row else None for row in rows]
        return self._columns[name]

    def main_at(self, micros: int) -> SnapshotFact | None:
        """Row of the snapshot that main pointed at; None when main or its row is not known."""
        index = bisect_right(self.main_times, micros) - 1
        return self.snapshots.get(self.main[index][1]) if index >= 0 else None

    @property
    def head(self) -> SnapshotFact | None:
        """Row of the snapshot that main points at now."""
        return self.snapshots.get(self.main[-1][1]) if self.main else None

    @cached_property
    def ordered(self) -> list[SnapshotFact]:
        """Snapshots with a known time, oldest first."""
        known = [row for row in self.snapshots.values() if row.committed_at is not None]
        return sorted(known, key=lambda row: (row.committed_at or 0, row.sequence_number or 0, row.snapshot_id))

    @cached_property
    def main_ancestors(self) -> frozenset[int]:
        """Ids on the chain of main's head; behind a hole in the chain, those that were ancestors when observed."""
        chain: set[int] = set()
        row = self.head
        last: SnapshotFact | None = None
        while row is not None and row.snapshot_id not in chain:
            chain.add(row.snapshot_id)
            last = row
            row = self.snapshots.get(row.parent_id) if row.parent_id is not None else None
        if last is not None and last.parent_id is None and last.operation is not None:
            return frozenset(chain)
        floor = last.committed_at if last else None
        older = (
            other.snapshot_id
            for other in self.ordered
            if other.on_main and (floor is None or (other.committed_at or 0) < floor)
        )
        return frozenset(chain.union(older))

    def of_kind(self, *kinds: str) -> list[ChangeFact]:
        """Changes of these kinds in time order."""
        return [change for change in self.changes if change.kind in kinds]

    def latest(self, kind: str, until: int | None = None) -> ChangeFact | None:
        """Newest change of a kind at or before an instant."""
        found = [c for c in self.changes if c.kind == kind and (until is None or c.at <= until)]
        return found[-1] if found else None

    @property
    def unreadable(self) -> ChangeFact | None:
        """The standing `unreadable` change; None when the table can be read."""
        newest = self.latest("unreadable")
        return newest if newest and newest.to_value is not None else None

    @property
    def dropped(self) -> bool:
        """Whether every name of the table is gone."""
        names = standing_names(self.changes)
        return bool(names) and not any(change.kind == "named" for change in names.values())


def standing_names(changes: Iterable[ChangeFact]) -> dict[str, ChangeFact]:
    """Newest `named` or `dropped` change of every name a table ever had, oldest first."""
    found: dict[str, ChangeFact] = {}
    for change in sorted(changes, key=lambda change: change.at):
        if change.kind in {"named", "dropped"}:
            name = str(TableName(change.catalog or "", change.namespace or "", change.table or ""))
            found.pop(name, None)
            found[name] = change
    return found


def main_log(changes: Iterable[ChangeFact]) -> list[tuple[int, int]]:
    """`(at, snapshot id)` of main's log entries in the order of main's moves; those without a decimal id are left out.

    Moves of one instant stand in the order of their chain: each begins where the one before it ended.
    """
    moves = [c for c in changes if c.kind == "ref" and c.subject == "main" and _is_id(c.to_value)]
    found: list[ChangeFact] = []
    for _, group in itertools.groupby(sorted(moves, key=lambda move: move.at), key=lambda move: move.at):
        found += _chained(list(group), found[-1].to_value if found else None)
    return [(move.at, int(move.to_value or 0)) for move in found]


def _chained(moves: list[ChangeFact], start: str | None) -> list[ChangeFact]:
    """Moves of one instant, from `start` on where they continue it, else from the one that no other leads to."""
    left, ordered = list(moves), []
    while left:
        reached = {move.to_value for move in left}
        following = next((m for m in left if m.from_value == start), None)
        following = following or next((m for m in left if m.from_value not in reached), left[0])
        left.remove(following)
        ordered.append(following)
        start = following.to_value
    return ordered


def _is_id(text: str | None) -> bool:
    return text is not None and text.lstrip("-").isdecimal()
