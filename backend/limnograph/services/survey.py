"""First half of a pass: what the lake says now, against what `changes` and `snapshots` already hold. Writes nothing."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import msgspec

from limnograph.domain.due import DueTable
from limnograph.domain.errors import LimnographError, MetadataError
from limnograph.domain.facts import ChangeFact
from limnograph.domain.ids import TableName
from limnograph.domain.metadata import Snapshot, TableMetadata
from limnograph.domain.time import MICROS_PER_SECOND
from limnograph.ports.catalog import TablePointer
from limnograph.ports.lake import Lake, Listing
from limnograph.ports.meta_store import Candidates, Known, KnownRow
from limnograph.services.changes import Observed, older_files, state_changes
from limnograph.services.identity import series_ids
from limnograph.services.ledger import Ledger
from limnograph.services.sightings import above_floor, dropped, first_seen, health, named

_log = logging.getLogger("limnograph.survey")
READ_AT_ONCE = 8
DAY_MICROS = 86_400 * MICROS_PER_SECOND
BACKFILL_MICROS = 31 * DAY_MICROS
"""A pass covers at most 31 days of commits, whole ones, so that a day is rolled up once; the rest stays due."""


class Damaged(msgspec.Struct, frozen=True):
    """A pointer whose metadata cannot be read at all."""

    pointer: TablePointer
    error: MetadataError


class Survey(msgspec.Struct, frozen=True, kw_only=True):
    """Answers of the lake for the pointers that were looked at. `failed`: tables that stay due."""

    listing: Listing
    readable: dict[TablePointer, TableMetadata]
    damaged: list[Damaged]
    failed: dict[TableName, str]

    @contextmanager
    def isolated(self, name: TableName) -> Iterator[None]:
        """What goes wrong inside is this table's failure alone: it stays due, and the others go on."""
        try:
            yield
        except LimnographError as error:
            self.failed[name] = str(error)
        except Exception as error:  # noqa: BLE001 - one table's surprise must not end the pass of all
            _log.exception("%s could not be read", name)
            self.failed[name] = f"unexpected {type(error).__name__}: {error}"


def survey(lake: Lake, listing: Listing, pointers: Iterable[TablePointer]) -> Survey:
    """Read the metadata file of every pointer; a few at a time, because storage is mostly waiting."""
    found = Survey(listing=listing, readable={}, damaged=[], failed={})

    def look(pointer: TablePointer) -> None:
        with found.isolated(pointer.name):
            try:
                found.readable[pointer] = lake.tables.outline(pointer.name.catalog, pointer.format, pointer.location)
            except MetadataError as error:
                found.damaged.append(Damaged(pointer, error))

    with ThreadPoolExecutor(READ_AT_ONCE) as pool:
        list(pool.map(look, pointers))
    return found


def observed_tables(found: Survey, lake: Lake, ledger: Ledger) -> list[Observed]:
    """Readable tables with their series and the older metadata files that date their changes."""
    held = _read_relatives(found, lake, ledger)
    tables = {pointer.name: metadata for pointer, metadata in found.readable.items()}
    ids = series_ids(tables, ledger, held)
    observed: list[Observed] = []
    for name in sorted(tables):
        with found.isolated(name):
            older = older_files(name.catalog, tables[name], lake.tables, ledger.newest(ids[name]))
            observed.append(Observed(ids[name], name, tables[name], older))
    return observed


def _read_relatives(found: Survey, lake: Lake, ledger: Ledger) -> set[str]:
    """Read the listed tables whose uuid another name shows now, so that a copy and its original are told apart.

    Answers the uuids of which such a table is listed, but cannot be read now.
    """
    owners, looked = ledger.owners(), {*found.readable, *(damage.pointer for damage in found.damaged)}
    strangers = {m.uuid for p, m in found.readable.items() if m.uuid and owners.get(str(p.name)) != m.uuid}
    relatives = {p: uuid for p in found.listing.pointers if (uuid := owners.get(str(p.name))) in strangers}
    others = survey(lake, found.listing, [pointer for pointer in relatives if pointer not in looked])
    found.readable.update(others.readable)
    return {uuid for pointer, uuid in relatives.items() if pointer not in found.readable and uuid}


def first_sights(tables: list[Observed], ledger: Ledger, now: int) -> list[ChangeFact]:
    """Rows that must be durable before the first snapshot of their series; added to the ledger."""
    return _taken(ledger, (first_seen(table, ledger, now) for table in tables))


def other_changes(found: Survey, tables: list[Observed], ledger: Ledger, now: int) -> list[ChangeFact]:
    """All other rows of `changes` that this survey adds; added to the ledger."""
    rows: list[ChangeFact] = []
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


def candidates(tables: list[Observed]) -> list[Candidates]:
    """Where rows of the tables' snapshots can lie."""
    found: list[Candidates] = []
    for table in tables:
        times = [snapshot.committed_at for snapshot in table.metadata.snapshots.values()]
        if times:
            known = [time for time in times if time is not None]
            low, high = (None, None) if len(known) < len(times) else (min(known), max(known))
            found.append(Candidates(table.uuid, low, high))
    return found


def due_tables(
    tables: list[Observed], known: Known, ledger: Ledger, run_id: str, failing: Collection[TableName] = ()
) -> tuple[list[DueTable], set[TableName]]:
    """What is new, by set difference, and the tables of which some is left for the next pass.

    Tables that were `failing` have a window of their own: what they cannot give must not hold back the others.
    """
    new = [
        (table, [s for s in table.metadata.ordered if _is_new(table, s, known, ledger)])
        for table in one_name_each(tables)
    ]
    due: list[DueTable] = []
    left: set[TableName] = set()
    for window in ([n for n in new if n[0].name not in failing], [n for n in new if n[0].name in failing]):
        times = [s.committed_at for _, found in window for s in found if s.committed_at is not None]
        end = min(times, default=0) // DAY_MICROS * DAY_MICROS + BACKFILL_MICROS
        for table, found in window:
            ids = [s.snapshot_id for s in found if s.committed_at is None or s.committed_at < end]
            if len(ids) < len(found):
                left.add(table.name)
            if ids:
                due.append(due_of(table, ids, known.get(table.uuid, {}), run_id))
    return due, left


def _is_new(table: Observed, snapshot: Snapshot, known: Known, ledger: Ledger) -> bool:
    return snapshot.snapshot_id not in known.get(table.uuid, {}) and above_floor(table, snapshot, ledger)


def one_name_each(tables: list[Observed]) -> list[Observed]:
    """A series that is registered under two names is extracted once, from its newer metadata."""
    newest: dict[str, Observed] = {}
    for table in tables:
        other = newest.get(table.uuid)
        if other is None or (table.metadata.last_updated_ms or 0) > (other.metadata.last_updated_ms or 0):
            newest[table.uuid] = table
    return list(newest.values())


def due_of(table: Observed, ids: list[int], seen: dict[int, KnownRow], run_id: str, source: str = "poll") -> DueTable:
    """What is to be extracted of one table. `seen`: its rows that stand in the meta table."""
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
