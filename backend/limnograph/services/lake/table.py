"""One table in the hot index as an immutable value: packed rows, main's log, other changes, names and provisional ids.
A new fact builds a new value that shares all unchanged parts.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from limnograph.domain.facts.meta_tables import ChangeFact, SnapshotFact
from limnograph.domain.ids import TableName
from limnograph.domain.time import EPOCH, Micros
from limnograph.services.lake.columns import AT, INDEX, NULL, Sheet, sheet_of
from limnograph.services.lake.main_log import MainLog, Move, is_move, move_of
from limnograph.services.lake.names import standing_names
from limnograph.services.lake.rows import PackedRows

_versions = itertools.count(1)
_STATES = {"schema", "spec", "sort_order", "property", "ref", "unreadable"}
CHANGE_BYTES = 600
"""Approximate bytes of a change besides its detail: a struct of 15 fields and its own texts."""


class LastSeen(NamedTuple):
    """Name and metadata location of the table from the latest rows; instants in microseconds."""

    observed_at: Micros | None = None
    name: TableName | None = None
    named_at: Micros = Micros(-1)
    location: str | None = None
    located_at: Micros = Micros(-1)

    def and_also(self, other: LastSeen) -> LastSeen:
        """The newer of both."""
        observed = max((at for at in (self.observed_at, other.observed_at) if at is not None), default=None)
        namer = other if other.named_at > self.named_at else self
        locator = other if other.located_at >= self.located_at else self
        return LastSeen(observed, namer.name, namer.named_at, locator.location, locator.located_at)


class HotTable(NamedTuple):
    """One table; instants in microseconds.

    `version`: differs between any two values
    `rows`, `log`, `changes`: its snapshots, main's moves, and its other changes by time
    `provisional`: ids that only the watcher has seen
    `completed`: ids whose durable row has fewer values than the watcher's
    `names`: every name the table was given, and when
    `last_at`: its newest commit
    `most_added`: the most data files added by one commit in memory
    `schema_at`: when its schema or spec last changed
    `unreadable`: its metadata cannot be read now
    `change_bytes`: approximate bytes of `changes`
    """

    uuid: str
    version: int = 0
    rows: PackedRows = PackedRows()
    log: MainLog = MainLog()
    changes: tuple[ChangeFact, ...] = ()
    provisional: frozenset[int] = frozenset()
    completed: frozenset[int] = frozenset()
    seen: LastSeen = LastSeen()
    name: TableName | None = None
    names: tuple[tuple[TableName, Micros], ...] = ()
    dropped: bool = False
    last_at: Micros = Micros(NULL)
    most_added: int = NULL
    schema_at: Micros = Micros(NULL)
    unreadable: bool = False
    change_bytes: int = 0

    @property
    def nbytes(self) -> int:
        """Bytes of rows, log and changes."""
        return self.rows.nbytes + self.log.nbytes + self.change_bytes

    def with_durable(self, sheet: Sheet | None, seen: LastSeen) -> HotTable:
        """With rows of the meta tables: they replace the watcher's, but erase no values that only the watcher has."""
        if sheet is None:
            return self
        ids = frozenset(sheet.numbers[0].tolist())
        put = self.rows.put(sheet, wins=True, filled=self.provisional | self.completed)
        provisional, completed = self.provisional - ids, (self.completed - ids) | put.filled
        if not put.changed and provisional == self.provisional and self.seen.and_also(seen) == self.seen:
            return self
        return self._renewed(rows=put.rows, provisional=provisional, completed=completed, seen=self.seen.and_also(seen))

    def with_provisional(self, facts: Sequence[SnapshotFact]) -> HotTable:
        """With rows of the watcher: they fill the unknown values of durable rows."""
        if not facts:
            return self
        known = frozenset(self.rows.column("snapshot_id").tolist())
        put = self.rows.put(sheet_of(facts), wins=False, own=self.provisional)
        fresh = frozenset(fact.snapshot_id for fact in facts) - known
        seen = self.seen.and_also(seen_of(facts))
        if not put.changed and seen == self.seen:
            return self
        return self._renewed(
            rows=put.rows, provisional=self.provisional | fresh, completed=self.completed | put.filled, seen=seen
        )

    def with_changes(self, changes: Sequence[ChangeFact]) -> HotTable:
        """With more changes and moves."""
        moves: list[Move] = []
        others = []
        for change in changes:
            if is_move(change):
                moves.append(move_of(change))
            else:
                others.append(change)
        log = self.log.put(moves)
        united = states_once({_identity(c): c for c in [*others, *self.changes]}.values()) if others else self.changes
        if log is self.log and united == self.changes:
            return self
        return self._renewed(log=log, changes=united, seen=self.seen.and_also(_named_by(changes)))

    def with_moves(self, moves: Iterable[Move]) -> HotTable:
        """With more moves of main."""
        log = self.log.put(moves)
        return self if log is self.log else self._renewed(log=log)

    def moves(self) -> list[Move]:
        """All known moves of main."""
        return self.log.moves()

    def with_watched(self, old: HotTable) -> HotTable:
        """With an older value's rows that only the watcher has seen, or of which it knew more."""
        watched = old.provisional | old.completed
        ids = old.rows.column("snapshot_id").tolist() if watched else []
        places = [place for place, snapshot_id in enumerate(ids) if snapshot_id in watched]
        if not places:
            return self
        known = frozenset(self.rows.column("snapshot_id").tolist())
        put = self.rows.put(old.rows.chosen(places), wins=False)
        return self._renewed(
            rows=put.rows,
            provisional=old.provisional - known,
            completed=(old.completed & known) | put.filled,
            seen=self.seen.and_also(old.seen),
        )

    def trimmed(self, floor: Micros) -> HotTable:
        """Without rows before `floor`, except for those that main pointed at since. O(rows) if any row leaves."""
        log = self.log.trimmed(floor)
        keep = frozenset(log.ids().tolist())
        if not keep or log.times()[0] >= floor:
            keep |= self._last_on_main(floor)
        rows = self.rows.trimmed(floor, keep)
        if rows is self.rows and log is self.log:
            return self
        ids = frozenset(rows.column("snapshot_id").tolist())
        return self._renewed(rows=rows, log=log, provisional=self.provisional & ids, completed=self.completed & ids)

    def _last_on_main(self, before: Micros) -> frozenset[int]:
        """The latest row of main before an instant: the state at that time if there is no log."""
        times, ids = self.rows.column("committed_at"), self.rows.column("snapshot_id")
        end = int(times.searchsorted(before))
        on_main = (self.rows.column("on_main")[:end] == 1).nonzero()[0]
        return frozenset(ids[on_main[-1:]].tolist())

    def _renewed(self, **parts: object) -> HotTable:
        made = self._replace(**parts, version=next(_versions))  # type: ignore[arg-type]
        if made.rows is not self.rows and made.rows.height:
            last, added = made.rows.blocks[-1], (b.column(INDEX["added_data_files"]) for b in made.rows.blocks)
            made = made._replace(
                last_at=Micros(last.column(AT)[-1]), most_added=int(max(numbers.max() for numbers in added))
            )
        if made.changes is self.changes and (made.names and made.seen.name == self.seen.name):
            return made
        if made.changes is not self.changes:
            made = made._replace(
                schema_at=_schema_at(made.changes),
                unreadable=_unreadable(made.changes),
                change_bytes=sum(CHANGE_BYTES + len(change.detail or "") for change in made.changes),
            )
        names = tuple((name, at) for c in made.changes if c.kind == "named" and (name := name_of(c)) for at in (c.at,))
        if not names and made.seen.name is not None:
            names = ((made.seen.name, max(EPOCH, made.seen.named_at)),)
        standing = standing_names(made.changes).values()
        lost = {name_of(change) for change in standing if change.kind == "dropped"}
        name = None
        for candidate, _ in names:
            if name is None or candidate not in lost:
                name = candidate
        dropped = bool(standing) and not any(change.kind == "named" for change in standing)
        return made._replace(names=names, name=name, dropped=dropped)


def table_of(uuid: str, rows: PackedRows, log: MainLog, changes: Iterable[ChangeFact], seen: LastSeen) -> HotTable:
    """A table built from durable facts."""
    others = states_once({_identity(c): c for c in changes}.values())
    return HotTable(uuid)._renewed(rows=rows, log=log, changes=others, seen=seen.and_also(_named_by(others)))  # noqa: SLF001


def states_once(changes: Iterable[ChangeFact]) -> tuple[ChangeFact, ...]:
    """Changes in time order, without rows that repeat the current state: watcher and pipeline each date the same state
    by when they saw it.
    """
    kept: list[ChangeFact] = []
    standing: dict[tuple[object, ...], str | None] = {}
    for change in sorted(changes, key=lambda change: change.at):
        if change.kind not in _STATES or (change.kind == "ref" and change.subject == "main"):
            kept.append(change)
            continue
        key = (change.catalog, change.namespace, change.table, change.kind, change.subject)
        if key not in standing or standing[key] != change.to_value:
            kept.append(change)
        standing[key] = change.to_value
    return tuple(kept)


def _schema_at(changes: Iterable[ChangeFact]) -> Micros:
    """When schema or spec last changed; NULL if never."""
    return max((c.at for c in changes if c.kind in {"schema", "spec"} and c.from_value), default=Micros(NULL))


def _unreadable(changes: Sequence[ChangeFact]) -> bool:
    newest = next((c for c in reversed(changes) if c.kind == "unreadable"), None)
    return newest is not None and newest.to_value is not None


def name_of(fact: SnapshotFact | ChangeFact) -> TableName | None:
    """The name in a fact."""
    return TableName(fact.catalog, fact.namespace or "", fact.table) if fact.catalog and fact.table else None


def seen_of(facts: Iterable[SnapshotFact]) -> LastSeen:
    """The name and location in the newest of some rows."""
    seen = LastSeen()
    for fact in facts:
        located = LastSeen().located_at if fact.committed_at is None else fact.committed_at
        named_at = (fact.observed_at or EPOCH) if name_of(fact) else LastSeen().named_at
        seen = seen.and_also(LastSeen(fact.observed_at, name_of(fact), named_at, fact.metadata_location, located))
    return seen


def _named_by(changes: Iterable[ChangeFact]) -> LastSeen:
    """The name in changes, for a table that never had a row."""
    seen = LastSeen()
    for change in changes:
        if name := name_of(change):
            seen = seen.and_also(LastSeen(None, name, change.observed_at or EPOCH))
    return seen


def _identity(change: ChangeFact) -> tuple[object, ...]:
    return (change.catalog, change.namespace, change.table, change.kind, change.subject, change.to_value, change.at)
