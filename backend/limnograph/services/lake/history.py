"""The known history of one table as a view on columns: its snapshots, main's moves with their time, its other changes.

Main follows the table's own log (`changes` of kind `ref`), so rollbacks and set-current are right. Where the log has no
entry, main's ancestors are used instead, by commit time. Instants are epoch microseconds. A view serves one response
and is then dropped: its derived values are not stored in the index.

Ancestors of main's head are found through the chain of parents, reading no more rows than necessary.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

import numpy as np

from limnograph.analysis.alignment import Value
from limnograph.domain.facts.meta_tables import ChangeFact, SnapshotFact
from limnograph.domain.ids import TableName
from limnograph.domain.time import Micros
from limnograph.services.lake.columns import INDEX, NULL, Ints, facts_of, plain, sheet_of
from limnograph.services.lake.expired import RETAINED, RetainedIds
from limnograph.services.lake.main_log import MainLog, is_move, main_log, move_of
from limnograph.services.lake.names import standing_names
from limnograph.services.lake.rows import PackedRows, places_of
from limnograph.services.lake.table import HotTable, LastSeen, table_of

__all__ = ["CommitColumns", "History", "history_of", "main_log", "standing_names"]

_OPERATION = INDEX["operation"]


class CommitColumns:
    """Commits of a range in time order, by column. Facts are built only for the commits that are shown."""

    def __init__(self, history: History, first: int, last: int) -> None:
        self._history, self.first, self.last = history, first, last

    def __len__(self) -> int:
        """The number of commits."""
        return self.last - self.first

    def numbers(self, name: str) -> Ints:
        """A column; NULL where unknown."""
        return self._history.numbers(name)[self.first : self.last]

    def are(self, operation: str) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Which commits have this operation."""
        return self._history.table.rows.equals("operation", operation)[self.first : self.last]

    def fact(self, place: int) -> SnapshotFact:
        """The commit at an index."""
        return self._history.fact(self.first + place)

    def __iter__(self) -> Iterator[SnapshotFact]:
        """All commits, oldest first."""
        rows = self._history.table.rows.sheet(self.first, self.last)
        return iter(facts_of(rows, self._history.uuid, self._history.name))


class History:
    """A table as rows and moves. `provisional`: ids that only the watcher has seen. Belongs to one request; lazily
    filled.
    """

    def __init__(self, table: HotTable, name: TableName | None = None) -> None:
        self.table, self.uuid, self.changes = table, table.uuid, table.changes
        self.name = name or table.name or TableName("", "", "")
        self.provisional = table.provisional
        self._numbers: dict[str, Ints] = {}

    def numbers(self, name: str) -> Ints:
        """A column of all rows in commit order; NULL where unknown."""
        if name not in self._numbers:
            self._numbers[name] = self.table.rows.column(name)
        return self._numbers[name]

    @cached_property
    def _first_known(self) -> int:
        """Rows before this index have no commit time."""
        return int(np.searchsorted(self.numbers("committed_at"), NULL + 1))

    @cached_property
    def _main(self) -> tuple[Ints, Ints, Ints]:
        """Instants of main's moves, ids of the snapshots, indexes of their rows (-1 if there is no row)."""
        times, ids = self.table.log.times(), self.table.log.ids()
        commits, row_ids = self.numbers("committed_at"), self.numbers("snapshot_id")
        end = int(np.searchsorted(commits, times[0])) if len(times) else len(commits)
        first = self._first_known
        if first < end:
            before = np.arange(first, end)[(self.numbers("on_main")[first:end] == 1)]
            before = before[~np.isin(row_ids[before], ids)]
            before = before[np.lexsort((row_ids[before], commits[before]))]
            times = np.concatenate([commits[before], times])
            ids = np.concatenate([row_ids[before], ids])
        return times, ids, places_of(row_ids, ids)

    @property
    def moves(self) -> Ints:
        """Instants of main's moves."""
        return self._main[0]

    @cached_property
    def main_times(self) -> list[Micros]:
        """Instants of main's moves, as a list."""
        return self._main[0].tolist()  # type: ignore[no-any-return]

    @property
    def main_ids(self) -> list[int]:
        """Snapshots that main moved to, in time order."""
        return self._main[1].tolist()  # type: ignore[no-any-return]

    @property
    def main_snapshots(self) -> Ints:
        """The same as a column."""
        return self._main[1]

    @property
    def main_places(self) -> Ints:
        """Indexes of the rows of these snapshots; -1 if there is no row."""
        return self._main[2]

    @property
    def main(self) -> list[tuple[Micros, int]]:
        """`(instant, snapshot id)` of every move of main, in time order."""
        return list(zip(self.main_times, self.main_ids, strict=True))

    def main_numbers(self, name: str) -> Ints:
        """A column of the snapshots along main; NULL where the row or the value is unknown."""
        values, places = self.numbers(name), self._main[2]
        return np.where(places < 0, NULL, values[places]) if len(values) else np.full(len(places), NULL, np.int64)

    def column(self, name: str) -> list[Value]:
        """The same as Python values; None where unknown."""
        return plain(name, self.main_numbers(name), ())

    def place_at(self, micros: Micros) -> int:
        """Index of the row that main pointed at; -1 if main or its row is unknown."""
        index = int(np.searchsorted(self._main[0], micros, "right")) - 1
        return int(self._main[2][index]) if index >= 0 else -1

    def main_at(self, micros: Micros) -> SnapshotFact | None:
        """Row of the snapshot that main pointed at; None if main or its row is unknown."""
        place = self.place_at(micros)
        return self.fact(place) if place >= 0 else None

    @cached_property
    def head(self) -> SnapshotFact | None:
        """Row of the snapshot that main points at now."""
        places = self._main[2]
        return self.fact(int(places[-1])) if len(places) and places[-1] >= 0 else None

    def fact(self, place: int) -> SnapshotFact:
        """The row at an index."""
        return facts_of(self.table.rows.chosen([place]), self.uuid, self.name)[0]

    @cached_property
    def snapshots(self) -> Mapping[int, SnapshotFact]:
        """Rows by id, built on demand."""
        return _ById(self)

    def between(self, start: Micros, end: Micros) -> CommitColumns:
        """Commits in `[start, end)`."""
        commits = self.numbers("committed_at")
        first, last = (int(np.searchsorted(commits, at)) for at in (start, end))
        return CommitColumns(self, max(first, self._first_known), max(last, first, self._first_known))

    @property
    def ordered(self) -> list[SnapshotFact]:
        """Snapshots with a known time, oldest first."""
        return list(CommitColumns(self, self._first_known, self.table.rows.height))

    @cached_property
    def main_ancestors(self) -> frozenset[int]:
        """Ids on the chain of main's head. Behind a gap in the chain, the rows that were ancestors when observed."""
        return _ancestors(self)

    def is_on_main(self, place: int) -> bool:
        """Whether the commit at an index is an ancestor of main's head. Reads no older rows than that one."""
        return _is_ancestor(self, place)

    def schemas_changed(self, first: int, last: int) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Which rows of `[first, last)` have a different schema than their parent; false if either is unknown."""
        own, parents = self.numbers("schema_id")[first:last], self.numbers("parent_id")[first:last]
        places = places_of(self.numbers("snapshot_id"), parents)
        before = self.numbers("schema_id")[places]
        known = (places >= 0) & (parents != NULL) & (own != NULL) & (before != NULL)
        changed: np.ndarray[tuple[int], np.dtype[np.bool_]] = known & (before != own)
        return changed

    def of_kind(self, *kinds: str) -> list[ChangeFact]:
        """Changes of these kinds in time order, without main's log."""
        return [change for change in self.changes if change.kind in kinds]

    def latest(self, kind: str, until: Micros | None = None) -> ChangeFact | None:
        """The newest change of a kind at or before an instant."""
        found = [c for c in self.changes if c.kind == kind and (until is None or c.at <= until)]
        return found[-1] if found else None

    @cached_property
    def retained(self) -> RetainedIds:
        """Which commits the table itself still has."""
        return RetainedIds(self.latest(RETAINED))

    @property
    def unreadable(self) -> ChangeFact | None:
        """The current `unreadable` change; None if the table is readable."""
        newest = self.latest("unreadable")
        return newest if newest and newest.to_value is not None else None

    @property
    def dropped(self) -> bool:
        """Whether every name of the table is gone."""
        return self.table.dropped


class _ById(Mapping[int, SnapshotFact]):
    """Rows of a history by id. O(rows) per look-up; facts are not cached."""

    def __init__(self, history: History) -> None:
        self._history = history

    def __getitem__(self, snapshot_id: int) -> SnapshotFact:
        place = places_of(self._history.numbers("snapshot_id"), np.array([snapshot_id], np.int64))
        if place[0] < 0:
            raise KeyError(snapshot_id)
        return self._history.fact(int(place[0]))

    def __iter__(self) -> Iterator[int]:
        return iter(self._history.numbers("snapshot_id").tolist())

    def __len__(self) -> int:
        return self._history.table.rows.height


def _ancestors(history: History) -> frozenset[int]:
    """Ids on the chain of main's head. Behind a gap in the chain, the rows that were ancestors when observed."""
    straight = _straight_chain(history)
    if straight is not None:
        return straight
    ids, parents = history.numbers("snapshot_id").tolist(), history.numbers("parent_id").tolist()
    place_of = {snapshot_id: place for place, snapshot_id in enumerate(ids)}
    place: int | None = _head(history)
    chain: set[int] = set()
    last = None
    while place is not None and place >= 0 and ids[place] not in chain:
        chain.add(ids[place])
        last = place
        place = place_of.get(parents[place]) if parents[place] != NULL else None
    if last is not None and parents[last] == NULL and history.numbers("operation")[last] != NULL:
        return frozenset(chain)
    commits = history.numbers("committed_at")
    floor = commits[last] if last is not None else NULL
    older = (history.numbers("on_main") == 1) & (commits != NULL)
    if floor != NULL:
        older &= commits < floor
    return frozenset(chain.union(history.numbers("snapshot_id")[older].tolist()))


def _is_ancestor(history: History, place: int) -> bool:
    """Whether the commit at an index is an ancestor of main's head. Reads no older rows than that one."""
    if _leads_to_head(history, place):
        return True
    head = _head(history)
    if place <= head:
        ids, parents = history.numbers("snapshot_id"), history.numbers("parent_id")
        if (parents[place + 1 : head + 1] == ids[place:head]).all():
            return True
    return int(history.numbers("snapshot_id")[place]) in history.main_ancestors


def _head(history: History) -> int:
    """Index of the row of main's head; -1 if unknown."""
    places = history.main_places
    return int(places[-1]) if len(places) else -1


def _straight_chain(history: History) -> frozenset[int] | None:
    """The chain of main's head if every row is the child of the previous one and the first has no parent."""
    ids, parents = history.numbers("snapshot_id"), history.numbers("parent_id")
    head = _head(history)
    if head < 0 or head != len(ids) - 1 or parents[0] != NULL:
        return None
    straight = (parents[1:] == ids[:-1]).all() and history.table.rows.chosen([0]).numbers[_OPERATION, 0] != NULL
    return frozenset(ids.tolist()) if straight else None


def _leads_to_head(history: History, place: int) -> bool:
    """Whether main's log ends at the newest row and each row since `place` is the parent of the next."""
    rows, end = history.table.rows, history.table.rows.height
    ids = rows.window("snapshot_id", place, end)
    if not len(ids) or history.table.log.head != ids[-1]:
        return False
    return bool((rows.window("parent_id", place + 1, end) == ids[:-1]).all())


def history_of(uuid: str, name: TableName, rows: Iterable[SnapshotFact], changes: Iterable[ChangeFact]) -> History:
    """The history of a few facts, built in memory."""
    moves, others = [], []
    for change in changes:
        if is_move(change):
            moves.append(move_of(change))
        else:
            others.append(change)
    facts = list(rows)
    filled = PackedRows().put(sheet_of(facts), wins=True).rows if facts else PackedRows()
    return History(table_of(uuid, filled, MainLog().put(moves), others, LastSeen()), name)
