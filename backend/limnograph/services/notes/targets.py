"""What a note is about, and the key under which all notes on the same thing are found."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import NamedTuple

from limnograph.domain.answers.notes import NoteScope
from limnograph.domain.errors import NotFound
from limnograph.domain.facts.notes import NoteFact
from limnograph.domain.ids import TableName
from limnograph.domain.time import Micros, Millis, to_millis
from limnograph.services.lake.store import HotStore

_NONE = Millis(0)


class NoteTarget(NamedTuple):
    """A thing that a note can be about.

    id       of the finding, snapshot id, fingerprint; None: a table or a range of it
    start    where a note on it is drawn; None: when it is written
    end      of a range
    severity of an open finding; None: of anything else, and of a closed one
    """

    scope: NoteScope
    id: str | None = None
    table_uuid: str | None = None
    name: TableName | None = None
    start: Micros | None = None
    end: Micros | None = None
    severity: str | None = None

    @property
    def key(self) -> TargetKey:
        """The same for all notes on it."""
        return target_key(self.scope, table_key(self.table_uuid, self.name), self.id, self.start, self.end)


class TargetKey(NamedTuple):
    """Identity of a target. `table` is empty where the id is unique among all tables; instants are epoch ms, as callers
    send them back, and 0 where they do not identify it.
    """

    scope: str
    table: str
    id: str
    start: Millis
    end: Millis


class TargetSources(NamedTuple):
    """Look-ups of targets by what a caller sends. All raise NotFound, and SourceError."""

    finding: Callable[[str], Awaitable[NoteTarget]]
    commit: Callable[[TableName, int], Awaitable[NoteTarget]]
    alert: Callable[[str, Micros | None], Awaitable[NoteTarget]]
    table: Callable[[TableName], NoteTarget]


def target_key(scope: str, table: str, target: str | None, start: Micros | None, end: Micros | None) -> TargetKey:
    """The key of a target from its parts."""
    dated, ranged = scope in {"alert", "range"}, scope == "range"
    return TargetKey(
        scope,
        table if scope in {"commit", "range", "table"} else "",
        target or "",
        Millis(to_millis(start) or 0) if dated else _NONE,
        Millis(to_millis(end) or 0) if ranged else _NONE,
    )


def key_of_note(fact: NoteFact) -> TargetKey:
    """The key of what a note is about."""
    return target_key(fact.scope or "", table_of_note(fact), fact.target, fact.range_from, fact.range_to)


def table_of_note(fact: NoteFact) -> str:
    """The table that a note is about: its uuid, else its plain name; empty if none is known."""
    return table_key(fact.table_uuid, name_of_note(fact))


def name_of_note(fact: NoteFact) -> TableName | None:
    """The table's name when the note was written."""
    return TableName(fact.catalog or "", fact.namespace or "", fact.table) if fact.table else None


def table_key(uuid: str | None, name: TableName | None) -> str:
    """The uuid of a table, or the plain name of one that has none."""
    return uuid or (".".join(name.plain) if name else "")


def finding_key(finding_id: str) -> TargetKey:
    """The key of a finding."""
    return TargetKey("finding", "", finding_id, _NONE, _NONE)


def key_of_table(uuid: str | None, name: TableName | None) -> TargetKey:
    """The key of a table."""
    return TargetKey("table", table_key(uuid, name), "", _NONE, _NONE)


def table_target(store: HotStore, name: TableName) -> NoteTarget:
    """A table, by its known name or one spelled without escapes. Raises NotFound."""
    lake = store.reading.lake
    known = lake.resolved(name)
    uuid = lake.names.get(known)
    if uuid is None and known not in lake.damaged:
        raise NotFound(f"unknown table {name}")
    return NoteTarget("table", table_uuid=uuid, name=known)
