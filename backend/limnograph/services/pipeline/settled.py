"""Tables for which a pass has nothing left to do, so that the next one can skip them. Saves reads only; correctness
does not depend on it.

Valid while rows are only added to the meta tables; any other change clears it.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection
from typing import NamedTuple

from limnograph.domain.ids import TableName
from limnograph.ports.catalog import TablePointer
from limnograph.ports.lake import LakeListing
from limnograph.ports.meta_store import Known, KnownRow
from limnograph.services.pipeline.changes import ObservedTable
from limnograph.services.pipeline.ledger import Ledger
from limnograph.services.pipeline.sightings import above_floor

MOST_IDS = 4_000_000
"""Most snapshot ids that are remembered: 32 MB."""


class _SettledTable(NamedTuple):
    """`ids`: snapshots of its newest metadata, all of which have a row."""

    location: str
    uuid: str | None
    ids: array[int]


class SettledTables:
    """Settled tables by name. `most_ids`: the limit over all tables; tables beyond it are read completely when they
    change.
    """

    def __init__(self, most_ids: int = MOST_IDS) -> None:
        self._tables: dict[TableName, _SettledTable] = {}
        self._most, self._count = most_ids, 0
        self._listing: LakeListing | None = None

    def clear(self) -> None:
        """Forget everything."""
        self._tables.clear()
        self._count, self._listing = 0, None

    def moved(self, pointer: TablePointer) -> bool:
        """Whether the table must be checked."""
        known = self._tables.get(pointer.name)
        return known is None or known.location != pointer.location

    def same_names(self, listing: LakeListing) -> bool:
        """Whether no name was added or removed, according to the listing."""
        old = self._listing
        if old is None or not listing.complete <= old.complete:
            return False
        same = listing.listed is old.listed or listing.listed == old.listed
        return same and (listing.pointers is old.pointers or _names(listing) == _names(old))

    def put_names(self, listing: LakeListing) -> None:
        """Record that all names were processed, and forget tables that responding catalogs no longer list."""
        self._listing = listing
        for name in self._tables.keys() - {pointer.name for pointer in listing.pointers}:
            if name.catalog in listing.complete:
                self._drop(name)

    def put(
        self, pointer: TablePointer, table: ObservedTable | None, ledger: Ledger, left: Collection[int] = ()
    ) -> None:
        """Record that everything at the pointer was processed, except for snapshots in `left`: with any of those, the
        table is checked again. `table` None: its rows are unknown, and there is nothing to do until the pointer
        changes.
        """
        self._drop(pointer.name)
        ids: array[int] = array("q")
        if table is not None:
            told = (s for s in table.metadata.snapshots.values() if s.snapshot_id not in left)
            ids.extend(s.snapshot_id for s in told if above_floor(table, s, ledger))
        if self._count + len(ids) > self._most:
            ids = array("q")
        self._count += len(ids)
        self._tables[pointer.name] = _SettledTable("" if left else pointer.location, table.uuid if table else None, ids)

    def known(self, tables: Collection[ObservedTable]) -> Known:
        """Rows that tables certainly have, among those in their metadata."""
        found: Known = {}
        for table in tables:
            there = self._tables.get(table.name)
            if there is None or there.uuid != table.uuid:
                continue
            held = table.metadata.snapshots
            rows = {i: KnownRow(False, held[i].committed_at, held[i].sequence_number) for i in there.ids if i in held}
            found[table.uuid] = {**found.get(table.uuid, {}), **rows}
        return found

    def _drop(self, name: TableName) -> None:
        known = self._tables.pop(name, None)
        self._count -= len(known.ids) if known else 0


def _names(listing: LakeListing) -> set[TableName]:
    return {pointer.name for pointer in listing.pointers}


def together(some: Known, better: Known) -> Known:
    """The rows of both; `better` takes precedence."""
    return {series: {**some.get(series, {}), **better.get(series, {})} for series in some.keys() | better.keys()}
