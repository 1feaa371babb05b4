"""The rows that one table's metadata adds to `changes`: schemas, specs, properties, refs, expiry, upgrades, main's
moves.

A state is written only if it differs from its newest row and its metadata is not older than that row. Older metadata
files in the table's own log, where they still exist, show when a state changed; snapshots show when a schema was in
use.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from limnograph.domain.errors import MetadataError
from limnograph.domain.facts.meta_tables import ChangeFact
from limnograph.domain.ids import LOCATION_UUID, TableName
from limnograph.domain.metadata.table import MAIN, LogEntry, SnapshotRef, TableMetadata
from limnograph.domain.time import Micros, Millis, to_micros
from limnograph.ports.tables import READER_ENDED, Tables
from limnograph.services.lake.expired import EXPIRED, RETAINED, expired_between, state_of
from limnograph.services.pipeline.ledger import Ledger

PROPERTIES = ("write.", "commit.", "history.", "delta.", "hoodie.", "limnograph.")
"""Prefixes of the properties that decide how a table's files are written, and of Limnograph's own."""
OWNER = "owner"
UPGRADED, FORMAT_VERSION = "upgraded", "format-version"
OLDER_FILES = 50
"""At most this many older metadata files of a table are read in one pass, the newest ones."""

Values = dict[tuple[str, str | None], tuple[str, str | None]]
"""`(kind, subject)` -> `(value, detail)`."""


class ObservedTable(NamedTuple):
    """One readable table: its series, name, newest metadata, and older files with their instants."""

    uuid: str
    name: TableName
    metadata: TableMetadata
    older: tuple[tuple[Micros, TableMetadata], ...] = ()


class _Version(NamedTuple):
    """States at an instant (microseconds). `whole`: the metadata file, if one was read; a subject that it lacks was
    removed.
    """

    at: Micros
    values: Values
    location: str
    whole: TableMetadata | None


def older_files(
    catalog: str, metadata: TableMetadata, tables: Tables, newest_known: Micros
) -> tuple[tuple[Micros, TableMetadata], ...]:
    """Older metadata files that no snapshot explains and that are newer than the known state. Raises SourceError."""
    explained = {snapshot.timestamp_ms for snapshot in metadata.snapshots.values()}
    entries = [e for e in metadata.metadata_log if to_micros(e.timestamp_ms) > newest_known]
    chosen = [e for e in entries if e.timestamp_ms not in explained][-OLDER_FILES:]
    return tuple(_readable(chosen, catalog, metadata, tables))


def _readable(
    entries: list[LogEntry], catalog: str, metadata: TableMetadata, tables: Tables
) -> Iterator[tuple[Micros, TableMetadata]]:
    """A file that is damaged or was deleted (as table properties may request) is skipped: the remaining files date the
    change. A file that ends its reader ends the iteration: the deadline is per table, not per file.
    """
    for entry in entries:
        try:
            yield to_micros(entry.timestamp_ms), tables.outline(catalog, metadata.format, entry.value, of=metadata)
        except MetadataError as error:
            if error.code in READER_ENDED:
                return


def state_changes(table: ObservedTable, ledger: Ledger, now: Micros) -> list[ChangeFact]:
    """New rows of all states and of main's log, in time order; they are added to the ledger."""
    rows = [*_main_rows(table, ledger), *_state_rows(table, ledger, now)]
    return sorted(rows, key=lambda row: row.at)


def _main_rows(table: ObservedTable, ledger: Ledger) -> Iterator[ChangeFact]:
    known = ledger.main_log(table.uuid)
    previous: str | None = None
    before: Micros | None = None
    detail = _ref_detail(table.metadata.refs.get(MAIN))
    for at, snapshot_id in _main_log(table.metadata):
        value = str(snapshot_id)
        if (value, at) not in known:
            row = _row(table, ("ref", MAIN), (previous, value), at=at, not_before=before, detail=detail)
            ledger.add(row)
            yield row
        previous, before = value, at


def _main_log(metadata: TableMetadata) -> list[tuple[Micros, int]]:
    """`(instant, snapshot id)`; the head is added if the log does not end with it."""
    log = [(to_micros(entry.timestamp_ms), entry.value) for entry in metadata.snapshot_log]
    head = metadata.head_id
    if head is not None and (not log or log[-1][1] != head):
        snapshot = metadata.snapshots.get(head)
        at = snapshot.committed_at if snapshot else None
        last = to_micros(metadata.last_updated_ms or Millis(0))
        newer = at is not None and (not log or at >= log[-1][0])
        log.append((at if newer and at is not None else last, head))
    return log


def _state_rows(table: ObservedTable, ledger: Ledger, now: Micros) -> Iterator[ChangeFact]:
    before: Micros | None = None
    versions = _versions(table, now)
    upgrades = _Upgrades(table, ledger)
    complete = ledger.latest(table.uuid, "property", FORMAT_VERSION) is not None
    for version in versions:
        current = version is versions[-1]
        for (kind, subject), (value, detail) in _with_removed(table, ledger, version).items():
            row = ledger.latest(table.uuid, kind, subject)
            old = row.to_value if row else None
            too_old = row is not None and (version.at < row.at or (version.at == row.at and not current))
            if too_old or old == value:
                continue
            found = _row(
                table,
                (kind, subject),
                (old, value),
                at=version.at,
                not_before=before,
                detail=detail,
                location=version.location,
            )
            ledger.add(found)
            yield found
            yield from upgrades.of_version(found)
            if kind == RETAINED and (row is not None or complete):
                yield from _expiry(found, ledger)
        yield from upgrades.of_uuid(version, before)
        complete |= version.whole is not None
        before = version.at


def _expiry(retained: ChangeFact, ledger: Ledger) -> Iterator[ChangeFact]:
    """The row that dates an expiry, for a new state of the retained commits whose previous state was observed."""
    lost = expired_between(retained.from_value, retained.to_value or "")
    if lost is None:
        return
    row = msgspec.structs.replace(
        retained, kind=EXPIRED, from_value=None, to_value=lost.spans, detail=_json({"commits": lost.commits})
    )
    if not ledger.holds(row):
        ledger.add(row)
        yield row


class _Upgrades:
    """Rows `upgraded`: the format version increased, or the table was assigned a uuid. They are states like the others,
    so that they are dated and recorded once; the first observed state is not an upgrade.
    """

    def __init__(self, table: ObservedTable, ledger: Ledger) -> None:
        self._table, self._ledger = table, ledger
        self._nameless = table.uuid.startswith(LOCATION_UUID)

    def of_version(self, row: ChangeFact) -> Iterator[ChangeFact]:
        """Upgrades that belong to a row of property `format-version`."""
        old, new = row.from_value or "", row.to_value or ""
        if row.subject == FORMAT_VERSION and old.isdecimal() and new.isdecimal() and int(old) < int(new):
            yield from self._told(msgspec.structs.replace(row, kind=UPGRADED))

    def of_uuid(self, version: _Version, before: Micros | None) -> Iterator[ChangeFact]:
        """A uuid that was assigned after an older file, or after the series began without one."""
        if version.whole is None:
            return
        if version.whole.uuid is None:
            self._nameless = True
        elif self._nameless:
            self._nameless = False
            row = _row(
                self._table,
                (UPGRADED, "uuid"),
                (None, version.whole.uuid),
                at=version.at,
                not_before=before,
                detail=None,
                location=version.location,
            )
            yield from self._told(row)

    def _told(self, row: ChangeFact) -> Iterator[ChangeFact]:
        if not self._ledger.holds(row):
            self._ledger.add(row)
            yield row


def _versions(table: ObservedTable, now: Micros) -> list[_Version]:
    """Older files, snapshots with a schema, and the newest file, in time order; the newest file is last."""
    metadata = table.metadata
    found = [_Version(at, _values(older), older.metadata_location, older) for at, older in table.older]
    for snapshot in metadata.snapshots.values():
        schema = metadata.schemas.get(snapshot.schema_id) if snapshot.schema_id is not None else None
        if schema is not None and snapshot.committed_at is not None:
            values: Values = {("schema", None): (str(snapshot.schema_id), _json(schema))}
            found.append(_Version(snapshot.committed_at, values, metadata.metadata_location, None))
    found.sort(key=lambda version: version.at)
    at = now if metadata.last_updated_ms is None else to_micros(metadata.last_updated_ms)
    return [*found, _Version(at, _values(metadata), metadata.metadata_location, metadata)]


def _values(metadata: TableMetadata) -> Values:
    values: Values = {("property", FORMAT_VERSION): (str(metadata.format_version), None), **state_of(metadata)}
    for kind, current, known in (
        ("schema", metadata.current_schema_id, metadata.schemas),
        ("spec", metadata.default_spec_id, metadata.specs),
        ("sort_order", metadata.default_sort_order_id, metadata.sort_orders),
    ):
        if current is not None:
            values[kind, None] = (str(current), _json(known[current]) if current in known else None)
    for key, text in metadata.properties.items():
        if key.startswith(PROPERTIES) or key == OWNER:
            values["property", key] = (text, None)
    refs = {name: ref for name, ref in metadata.refs.items() if name != MAIN}
    return values | {("ref", name): (str(ref.snapshot_id), _ref_detail(ref)) for name, ref in refs.items()}


def _with_removed(table: ObservedTable, ledger: Ledger, version: _Version) -> dict[Any, tuple[str | None, str | None]]:
    found: dict[Any, tuple[str | None, str | None]] = dict(version.values)
    if version.whole is not None:
        for kind in ("property", "ref"):
            for subject in ledger.subjects(table.uuid, kind):
                found.setdefault((kind, subject), (None, None))
    return found


def _row(
    table: ObservedTable,
    state: tuple[str, str | None],
    values: tuple[str | None, str | None],
    *,
    at: Micros,
    not_before: Micros | None,
    detail: str | None,
    location: str | None = None,
) -> ChangeFact:
    kind, subject = state
    return ChangeFact(
        table_uuid=table.uuid,
        catalog=table.name.catalog,
        namespace=table.name.namespace,
        table=table.name.table,
        kind=kind,
        subject=subject,
        from_value=values[0],
        to_value=values[1],
        not_before=not_before,
        at=at,
        detail=detail,
        metadata_location=location or table.metadata.metadata_location,
    )


def _ref_detail(ref: SnapshotRef | None) -> str:
    """`retention` is written even if empty: rows from before it was read have none."""
    return _json({"type": ref.type if ref else "branch", "retention": ref.retention if ref else {}})


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
