"""First half of a pass: compares the lake with the contents of `changes` and `snapshots`. Writes nothing."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import msgspec

from limnograph.domain.errors import LimnographError, MetadataError
from limnograph.domain.facts.meta_tables import ChangeFact
from limnograph.domain.ids import TableName, location_uuid
from limnograph.domain.metadata.due import DueTable
from limnograph.domain.metadata.table import TableMetadata
from limnograph.domain.secrecy import clean
from limnograph.domain.time import Micros
from limnograph.ports.catalog import TablePointer
from limnograph.ports.lake import LakeListing, ObservedLake
from limnograph.ports.meta_store import KnownRow
from limnograph.services.pipeline.changes import ObservedTable, older_files, state_changes
from limnograph.services.pipeline.identity import series_ids
from limnograph.services.pipeline.ledger import Ledger
from limnograph.services.pipeline.sightings import dropped, first_seen, health, named

_log = logging.getLogger("limnograph.survey")
READ_AT_ONCE = 8
_UNSAFE = "the name is empty or contains line breaks (shown escaped); rename the table to observe it"
TABLES_AT_ONCE = 1_000
"""Tables whose metadata is in memory at the same time."""


class DamagedTable(msgspec.Struct, frozen=True):
    """A pointer whose metadata cannot be read at all."""

    pointer: TablePointer
    error: MetadataError


class Survey(msgspec.Struct, frozen=True, kw_only=True):
    """The metadata behind the checked pointers. `failed`: tables that remain due."""

    listing: LakeListing
    readable: dict[TablePointer, TableMetadata]
    damaged: list[DamagedTable]
    failed: dict[TableName, str]

    @contextmanager
    def isolated(self, name: TableName) -> Iterator[None]:
        """Limits an error to this table: it stays due, and the others continue."""
        try:
            yield
        except LimnographError as error:
            self.failed[name] = str(error)
        except Exception as error:  # noqa: BLE001 - an unexpected error of one table must not end the whole pass
            _log.exception("%s could not be read", name)
            self.failed[name] = clean(f"unexpected {type(error).__name__}: {error}")


def survey(lake: ObservedLake, listing: LakeListing, pointers: Iterable[TablePointer]) -> Survey:
    """Read the metadata file of every pointer, a few at a time, as most of the time is spent waiting for storage."""
    found = Survey(listing=listing, readable={}, damaged=[], failed={})

    def read(pointer: TablePointer) -> None:
        if pointer.name.unsafe:
            raise MetadataError("name_unsafe", _UNSAFE)
        found.readable[pointer] = lake.tables.outline(pointer.name.catalog, pointer.format, pointer.location)

    def look(pointer: TablePointer) -> None:
        with found.isolated(pointer.name):
            try:
                read(pointer)
            except MetadataError as error:
                # A pointer is as old as its last probe: the table may have changed since, and its old file may be
                # deleted.
                newer = lake.newest(pointer)
                if newer is None:
                    found.failed[pointer.name] = "it was removed from its catalog while it was read"
                elif newer.location == pointer.location:
                    damaged(pointer, error)
                else:
                    again(newer)

    def again(pointer: TablePointer) -> None:
        try:
            read(pointer)
        except MetadataError as error:
            damaged(pointer, error)

    def damaged(pointer: TablePointer, error: MetadataError) -> None:
        _log.warning("%s cannot be read: %s", pointer.name, error)
        found.damaged.append(DamagedTable(pointer, error))

    with ThreadPoolExecutor(READ_AT_ONCE) as pool:
        list(pool.map(look, pointers))
    return found


def surveys(lake: ObservedLake, listing: LakeListing) -> Iterator[Survey]:
    """Surveys of all listed tables, in groups."""
    for first in range(0, max(len(listing.pointers), 1), TABLES_AT_ONCE):
        yield survey(lake, listing, listing.pointers[first : first + TABLES_AT_ONCE])


def observed_tables(found: Survey, lake: ObservedLake, ledger: Ledger) -> list[ObservedTable]:
    """Readable tables with their series and the older metadata files that date their changes."""
    held = _read_relatives(found, lake, ledger)
    tables = {pointer.name: metadata for pointer, metadata in found.readable.items()}
    ledger.need(_may_be(tables, ledger))
    ids = series_ids(tables, ledger, held)
    ledger.need(ids.values())
    observed: list[ObservedTable] = []
    for name in sorted(tables):
        with found.isolated(name):
            older = older_files(name.catalog, tables[name], lake.tables, ledger.newest(ids[name]))
            observed.append(ObservedTable(ids[name], name, tables[name], older))
    return observed


def _may_be(tables: Mapping[TableName, TableMetadata], ledger: Ledger) -> set[str]:
    """Series that tables may belong to."""
    owners = ledger.owners()
    found = {owners.get(str(name)) for name in tables}
    for metadata in tables.values():
        found |= {metadata.uuid, location_uuid(metadata.location)}
    return {series for series in found if series}


def _read_relatives(found: Survey, lake: ObservedLake, ledger: Ledger) -> set[str]:
    """Read the listed tables whose uuid another name has now, so that a copy and its original are distinguished.
    Returns the uuids of such tables that are currently unreadable.
    """
    owners, looked = ledger.owners(), {*found.readable, *(damage.pointer for damage in found.damaged)}
    strangers = {m.uuid for p, m in found.readable.items() if m.uuid and owners.get(str(p.name)) != m.uuid}
    relatives = {p: uuid for p in found.listing.pointers if (uuid := owners.get(str(p.name))) in strangers}
    others = survey(lake, found.listing, [pointer for pointer in relatives if pointer not in looked])
    found.readable.update(others.readable)
    return {uuid for pointer, uuid in relatives.items() if pointer not in found.readable and uuid}


def first_sights(tables: list[ObservedTable], ledger: Ledger, now: Micros) -> list[ChangeFact]:
    """Rows that must be durable before the first snapshot of their series; added to the ledger."""
    return _taken(ledger, (first_seen(table, ledger, now) for table in tables))


def other_changes(found: Survey, tables: list[ObservedTable], ledger: Ledger, now: Micros) -> list[ChangeFact]:
    """All other rows of `changes` from this survey; added to the ledger."""
    rows: list[ChangeFact] = []
    ledger.need(table.uuid for table in tables)
    owners = ledger.owners()
    listed: dict[str, str | None] = dict.fromkeys(found.listing.listed)
    listed |= {str(p.name): owners.get(str(p.name)) for p in found.listing.pointers}
    listed |= {str(table.name): table.uuid for table in tables}
    rows += _taken(ledger, dropped(listed, found.listing.complete, ledger, now))
    for table in tables:
        with found.isolated(table.name):
            rows += _taken(ledger, [named(table, ledger, now)])
            location = table.metadata.metadata_location
            rows += _taken(ledger, health(table.name, table.uuid, location, None, ledger=ledger, now=now))
            rows += state_changes(table, ledger, now)
    for damage in found.damaged:
        name, _, location = damage.pointer
        uuid = owners.get(str(name))
        rows += _taken(ledger, health(name, uuid, location, damage.error, ledger=ledger, now=now))
    return rows


def _taken(ledger: Ledger, rows: Iterable[ChangeFact | None]) -> list[ChangeFact]:
    taken = [row for row in rows if row is not None]
    for row in taken:
        ledger.add(row)
    return taken


def one_name_each(tables: Iterable[ObservedTable]) -> list[ObservedTable]:
    """A series that is registered under two names is extracted once, from its newer metadata."""
    newest: dict[str, ObservedTable] = {}
    for table in tables:
        other = newest.get(table.uuid)
        if other is None or (table.metadata.last_updated_ms or 0) > (other.metadata.last_updated_ms or 0):
            newest[table.uuid] = table
    return list(newest.values())


def due_of(
    table: ObservedTable, ids: list[int], seen: dict[int, KnownRow], run_id: str, source: str = "poll"
) -> DueTable:
    """What to extract from one table. `seen`: its rows in the meta table."""
    parents = {table.metadata.snapshots[i].parent_id for i in ids}
    return DueTable(
        catalog=table.name.catalog,
        namespace=table.name.namespace,
        table=table.name.table,
        table_uuid=table.uuid,
        metadata_location=table.metadata.metadata_location,
        snapshot_ids=ids,
        with_partitions=[i for i, row in seen.items() if row.has_partitions and i in parents],
        format=table.metadata.format,
        run_id=run_id,
        source=source,
    )
