"""Everything known about all tables over a span of time, as one immutable value: tables, names and damaged names.

A change builds a new lake that shares every unchanged table. Cost: O(changed tables), plus O(tables) pointers.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

from limnograph.domain.errors import NotFound
from limnograph.domain.facts.meta_tables import ChangeFact, SnapshotFact
from limnograph.domain.ids import PlainName, TableName
from limnograph.domain.time import EPOCH, Micros
from limnograph.services.lake.history import History
from limnograph.services.lake.table import HotTable, name_of, states_once

_versions = itertools.count(1)


class Facts(NamedTuple):
    """Rows of the meta tables, or rows from the watcher."""

    snapshots: list[SnapshotFact]
    changes: list[ChangeFact]


class NameIndex(NamedTuple):
    """The table that held each name last, and the names that were never readable."""

    uuids: dict[TableName, str]
    damaged: dict[TableName, ChangeFact]


class Lake:
    """All tables of a span.

    `floor`: nothing before this instant (microseconds) is complete, except for carried-in states
    `edges`: the same for single tables whose older hours were evicted
    `nameless`: changes of names that were never readable
    `observed_at`: when the latest pass read the lake

    Immutable after construction: a lazily computed value is the same whichever thread computes it.
    """

    def __init__(
        self,
        tables: Mapping[str, HotTable],
        *,
        floor: Micros = EPOCH,
        observed_at: Micros | None = None,
        nameless: tuple[ChangeFact, ...] = (),
        edges: Mapping[str, Micros] | None = None,
        known: NameIndex | None = None,
    ) -> None:
        self.tables, self.floor, self.observed_at, self.nameless = tables, floor, observed_at, nameless
        self.edges: Mapping[str, Micros] = edges or {}
        self.version = next(_versions)
        self._known = known or _names(tables, nameless)

    @property
    def names(self) -> dict[TableName, str]:
        """The table that held each name last, by uuid."""
        return self._known.uuids

    @property
    def damaged(self) -> dict[TableName, ChangeFact]:
        """Names that were never readable and are still listed, with their newest `unreadable` change."""
        return self._known.damaged

    @property
    def histories(self) -> Histories:
        """Views of the tables by uuid."""
        return Histories(self.tables)

    def resolved(self, name: TableName) -> TableName:
        """The known name: the name itself, else the known name with this plain form, else the name unchanged."""
        if name in self.names or name in self.damaged:
            return name
        return self._by_plain.get(name.plain) or self._by_plain.get(PlainName(*name)) or name

    @cached_property
    def _by_plain(self) -> Mapping[PlainName, TableName]:
        """Known names whose plain form differs. O(names) once per lake."""
        return {name.plain: name for name in [*self.damaged, *self.names] if name.plain != PlainName(*name)}

    def named(self, text: str) -> TableName | None:
        """The known table that `catalog.namespace.table` names; None if there is none. O(names)."""
        return next((name for name in (*self.names, *self.damaged) if ".".join(name.plain) == text), None)

    def find(self, name: TableName) -> History | None:
        """The history under a current or former name; None for a name that was never readable. Raises NotFound."""
        uuid = self.names.get(name)
        if uuid is not None:
            return History(self.tables[uuid])
        if name in self.damaged:
            return None
        raise NotFound(f"unknown table {name}")

    @cached_property
    def listed(self) -> tuple[HotTable, ...]:
        """Tables that are still listed, by name. O(tables) once per lake."""
        found = [table for table in self.tables.values() if table.name is not None and not table.dropped]
        return tuple(sorted(found, key=lambda table: table.name or ("",)))

    @cached_property
    def size(self) -> tuple[int, int]:
        """Bytes and rows of all tables. O(tables) once per lake."""
        tables = self.tables.values()
        return sum(table.nbytes for table in tables), sum(table.rows.height for table in tables)

    def current(self) -> list[History]:
        """Views of the tables that are still listed, by name."""
        return [History(table) for table in self.listed]

    def reaches(self, start: Micros, uuid: str | None = None) -> bool:
        """Whether a table, or every table, is complete since an instant (microseconds)."""
        if start < self.floor:
            return False
        return start >= (self.edges.get(uuid, 0) if uuid else max(self.edges.values(), default=0))

    def changed(
        self,
        tables: Iterable[HotTable],
        *,
        gone: Iterable[str] = (),
        floor: Micros | None = None,
        observed_at: Micros | None = None,
        nameless: tuple[ChangeFact, ...] | None = None,
        edges: Mapping[str, Micros] | None = None,
    ) -> Lake:
        """A lake in which these tables replace their previous values. Omitted arguments stay unchanged."""
        all_tables = dict(self.tables)
        renamed = nameless is not None and nameless != self.nameless
        newer: dict[str, HotTable] = {}
        for uuid in gone:
            renamed |= all_tables.pop(uuid, None) is not None
        for table in tables:
            old = all_tables.get(table.uuid)
            renamed |= old is None or (old.names, old.name, old.dropped) != (table.names, table.name, table.dropped)
            all_tables[table.uuid] = table
            newer[table.uuid] = table
        made = Lake(
            all_tables,
            floor=self.floor if floor is None else floor,
            observed_at=self.observed_at if observed_at is None else observed_at,
            nameless=self.nameless if nameless is None else nameless,
            edges=self.edges if edges is None else edges,
            known=None if renamed else self._known,
        )
        if not renamed and "listed" in self.__dict__:
            made.__dict__["listed"] = tuple(newer.get(table.uuid, table) for table in self.listed)
        return made


class Histories(Mapping[str, History]):
    """Views by uuid, built on demand."""

    def __init__(self, tables: Mapping[str, HotTable]) -> None:
        self._tables = tables

    def __getitem__(self, uuid: str) -> History:
        table = self._tables[uuid]
        if table.name is None:
            raise KeyError(uuid)
        return History(table)

    def __iter__(self) -> Iterator[str]:
        return (uuid for uuid, table in self._tables.items() if table.name is not None)

    def __len__(self) -> int:
        return sum(table.name is not None for table in self._tables.values())

    def __bool__(self) -> bool:
        return any(table.name is not None for table in self._tables.values())


def _names(tables: Mapping[str, HotTable], nameless: Iterable[ChangeFact]) -> NameIndex:
    """If a table was dropped and created again, the name belongs to the latest one."""
    got = [(at, name, uuid) for uuid, table in tables.items() for name, at in table.names]
    uuids = {name: uuid for _, name, uuid in sorted(got, key=lambda entry: entry[0])}
    return NameIndex(uuids, _damaged(states_once(nameless), uuids))


def _damaged(changes: Iterable[ChangeFact], names: dict[TableName, str]) -> dict[TableName, ChangeFact]:
    newest: dict[TableName, ChangeFact] = {}
    for change in changes:
        name = name_of(change)
        if name is None or name in names:
            continue
        if change.kind == "dropped" or (change.kind == "unreadable" and change.to_value is None):
            newest.pop(name, None)
        elif change.kind == "unreadable":
            newest[name] = change
    return newest


EMPTY = Lake({})
