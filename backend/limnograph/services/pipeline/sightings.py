"""Rows of `changes` about names and health: first_seen, named, dropped, unreadable and readable again."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

import msgspec

from limnograph.domain.errors import MetadataError
from limnograph.domain.facts.meta_tables import ChangeFact
from limnograph.domain.ids import TableName, normalise_location
from limnograph.domain.metadata.table import Snapshot, TableMetadata
from limnograph.domain.time import Micros, to_micros
from limnograph.services.pipeline.changes import ObservedTable
from limnograph.services.pipeline.ledger import Ledger

TAKEN_AT_FIRST_SIGHT = 10_000
"""When a table is first observed, at most this many snapshots are read, the newest; older ones are below the floor."""


def first_seen(table: ObservedTable, ledger: Ledger, now: Micros) -> ChangeFact | None:
    """The row that must be durable before the series' first snapshot; None if it exists."""
    if ledger.first_seen(table.uuid):
        return None
    metadata = table.metadata
    taken = metadata.ordered[-TAKEN_AT_FIRST_SIGHT:]
    floor = _position(metadata, taken[0]) if taken else 0
    detail = {"location": normalise_location(metadata.location), "floor": _floor_kind(metadata)}
    return _row(
        table.name,
        table.uuid,
        ("first_seen", str(table.name)),
        (None, str(floor)),
        now,
        detail=detail,
        metadata=metadata,
    )


def above_floor(table: ObservedTable, snapshot: Snapshot, ledger: Ledger) -> bool:
    """Whether a snapshot belongs to the history that is recorded since the first observation."""
    row = ledger.first_seen(table.uuid)
    if row is None or not (row.to_value or "").lstrip("-").isdecimal():
        return True
    detail = msgspec.json.decode(row.detail or "{}")
    by_sequence = detail.get("floor") == "sequence_number" and snapshot.sequence_number is not None
    position = snapshot.sequence_number if by_sequence else snapshot.committed_at
    if not by_sequence and detail.get("floor") == "sequence_number":
        return True
    return position is None or position >= int(row.to_value or 0)


def _floor_kind(metadata: TableMetadata) -> str:
    return "sequence_number" if _numbered(metadata) else "committed_at"


def _position(metadata: TableMetadata, snapshot: Snapshot) -> int:
    found = snapshot.sequence_number if _numbered(metadata) else snapshot.committed_at
    return found or 0


def _numbered(metadata: TableMetadata) -> bool:
    """Whether commits have sequence numbers: only Iceberg's format v1 has none."""
    return metadata.format != "iceberg" or metadata.format_version != 1


def named(table: ObservedTable, ledger: Ledger, now: Micros) -> ChangeFact | None:
    """A new name of the series. The first series with a name had it as long as its history goes back."""
    name = str(table.name)
    if ledger.owners().get(name) == table.uuid:
        return None
    metadata = table.metadata
    detail = {
        "location": metadata.location,
        "format": metadata.format,
        "format_version": metadata.format_version,
        "metadata_location": metadata.metadata_location,
    }
    at = now if ledger.ever_named(name, table.uuid) else _oldest(table, now)
    return _row(table.name, table.uuid, ("named", name), (None, name), at, detail=detail, metadata=metadata)


def _oldest(table: ObservedTable, now: Micros) -> Micros:
    commits = (s.committed_at for s in table.metadata.snapshots.values() if s.committed_at is not None)
    logs = (to_micros(entry.timestamp_ms) for entry in table.metadata.metadata_log)
    return min((now, *commits, *logs))


def dropped(
    listed: dict[str, str | None], complete: Collection[str], ledger: Ledger, now: Micros
) -> Iterator[ChangeFact]:
    """Names that their series lost. `listed`: series by listed name, None if it cannot be read now; `complete`:
    catalogs whose listing is complete.
    """
    for name, uuid in sorted(ledger.owners().items()):
        catalog = name.split(".", maxsplit=1)[0]
        gone = name not in listed and catalog in complete
        if gone or (name in listed and listed[name] not in {None, uuid}):
            yield _row(_split(name), uuid, ("dropped", name), (name, None), now)
    for name in sorted(ledger.nameless_unreadable()):
        if name not in listed and name.split(".", maxsplit=1)[0] in complete:
            yield _row(_split(name), None, ("dropped", name), (name, None), now)


def health(
    name: TableName, uuid: str | None, location: str, error: MetadataError | None, *, ledger: Ledger, now: Micros
) -> Iterator[ChangeFact]:
    """`unreadable` with a code, or readable again (no error), for the series and for the name before it had one."""
    subject, code = str(name), error.code if error else None
    for bearer in dict.fromkeys((uuid, None)):
        row = ledger.latest(bearer or subject, "unreadable", subject)
        old = row.to_value if row else None
        concerned = bearer == uuid if code is not None else row is not None and row.table_uuid == bearer
        if concerned and old != code:
            found = _row(name, bearer, ("unreadable", subject), (old, code), now)
            yield msgspec.structs.replace(found, detail=error.detail if error else None, metadata_location=location)


def _split(name: str) -> TableName:
    """Inverse of `str(TableName)`; a table without a catalog may have no namespace."""
    catalog, *levels, table = name.split(".")
    return TableName(catalog, ".".join(levels), table)


def _row(
    name: TableName,
    uuid: str | None,
    what: tuple[str, str],
    values: tuple[str | None, str | None],
    at: Micros,
    *,
    detail: dict[str, Any] | None = None,
    metadata: TableMetadata | None = None,
) -> ChangeFact:
    return ChangeFact(
        table_uuid=uuid,
        catalog=name.catalog,
        namespace=name.namespace,
        table=name.table,
        kind=what[0],
        subject=what[1],
        from_value=values[0],
        to_value=values[1],
        at=at,
        detail=None if detail is None else msgspec.json.encode(detail).decode(),
        metadata_location=metadata.metadata_location if metadata else None,
    )
