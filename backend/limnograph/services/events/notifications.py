"""Notifications of catalogs and object stores as notices. A notification without a table still wakes the watcher; one
that does not concern tables is accepted and ignored. Pure. Every parser raises InvalidInput for a malformed body.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import unquote_plus

from limnograph.domain.errors import InvalidInput
from limnograph.domain.ids import TableName, escape_level
from limnograph.domain.inbound.client_reports import long
from limnograph.domain.inbound.notices import MARKERS, Notice, folder_of, notice
from limnograph.domain.inbound.notifications import CatalogRow, Change, CloudEvent, S3Entity, S3Event
from limnograph.services.events.bodies import BODY, convert, parse
from limnograph.services.events.naming import LONGEST, TableResolver
from limnograph.services.events.received import ReceivedEvents

MOST = 10_000
"""Most events in one body."""
CATALOG_TABLE = "iceberg_tables"
_SEPARATOR = "\x1f"
_NAMES = ("table", "name", "table-name", "table_name", "tableName")
_IDENTIFIERS = ("identifier", "table-identifier", "table_identifier", "tableIdentifier")
_LOCATIONS = ("metadata-location", "metadata_location", "metadataLocation", "location", "table-location")
_SNAPSHOTS = ("snapshot-id", "snapshot_id", "snapshotId")
_SUBSCRIPTIONS = ("SubscriptionConfirmation", "UnsubscribeConfirmation")


def parse_cloudevents(body: bytes, headers: Mapping[str, str], naming: TableResolver) -> ReceivedEvents:
    """Structured and batched mode, or binary mode with the attributes in `ce-` headers (names in lower case)."""
    events: Sequence[CloudEvent]
    if "ce-specversion" in headers:
        attributes = {key.removeprefix("ce-"): value for key, value in headers.items() if key.startswith("ce-")}
        events = [convert({**attributes, "data": parse(body, Any) if body.strip() else None}, CloudEvent)]
    elif headers.get("content-type", "").startswith("application/cloudevents-batch") or body.lstrip()[:1] == b"[":
        events = _bounded(parse(body, list[CloudEvent]))
    else:
        events = [parse(body, CloudEvent)]
    return ReceivedEvents(notices=tuple(_of_cloudevent(event, naming) for event in events), messages=len(events))


def _of_cloudevent(event: CloudEvent, naming: TableResolver) -> Notice:
    data = event.data if isinstance(event.data, dict) else {}
    told = next((data[key] for key in _IDENTIFIERS if isinstance(data.get(key), dict)), data)
    levels = _levels(_first(told, ("namespace",)) or event.namespace, _first(told, _NAMES) or event.name)
    location = _text(_first(data, _LOCATIONS))
    catalog = _text(_first(data, ("catalog", "catalog-name", "catalogName")))
    name = naming.by_catalog(catalog, None, levels) or (naming.by_rest(event.prefix, levels) if levels else None)
    name = name or naming.by_folder(location)
    if name is None and event.subject:
        name = naming.by_levels(event.subject.split("."))
    return notice(
        "cloudevents",
        (event.source, event.id),
        name,
        location=folder_of(location) if location else None,
        snapshot_id=long(_first(data, _SNAPSHOTS)),
        event=event.type,
    )


def _levels(namespace: object, table: object) -> list[str]:
    """Levels of a namespace (a list, or text joined with `.` or the unit separator) and a table name."""
    if not isinstance(table, str) or not table:
        return []
    if isinstance(namespace, str):
        namespace = namespace.split(_SEPARATOR if _SEPARATOR in namespace else ".")
    if isinstance(namespace, list) and all(isinstance(level, str) for level in namespace):
        return [*namespace, table]
    return table.split(".")


def parse_s3_events(body: bytes, naming: TableResolver) -> ReceivedEvents:
    """Events of table metadata; all other objects are ignored."""
    event = parse(body, S3Event)
    if event.message is not None and event.records is None and event.type not in _SUBSCRIPTIONS:
        event = parse(event.message.encode(), S3Event)
    if event.records is not None:
        found = [(record.s3, record.event_name) for record in event.records]
    elif event.detail is not None:
        found = [(event.detail, event.detail_type)]
    elif event.test is not None or event.type is not None:
        found = []
    else:
        raise InvalidInput("Records", "is required; the body is not an object store event")
    encoded = event.detail is None
    notices = (_of_object(entity, kind, naming, encoded=encoded) for entity, kind in found)
    return ReceivedEvents(notices=tuple(n for n in notices if n is not None), messages=len(found))


def _of_object(entity: S3Entity, kind: str, naming: TableResolver, *, encoded: bool) -> Notice | None:
    key = unquote_plus(entity.object.key, errors="replace") if encoded else entity.object.key
    location = f"s3://{entity.bucket.name}/{key.lstrip('/')}"
    if not any(marker in location for marker in MARKERS):
        return None
    version = entity.object.sequencer or entity.object.version_id or entity.object.e_tag or ""
    identity = (entity.bucket.name, entity.object.key, version, kind)
    return notice("s3", identity, naming.by_folder(location), location=folder_of(location)[:LONGEST], event=kind)


def parse_debezium_changes(body: bytes) -> ReceivedEvents:
    """Changes of a JDBC catalog's `iceberg_tables`: one event or a list, with or without schema, or flattened rows."""
    document = parse(body, Any) if body.strip() else None
    events: Sequence[Any] = document if isinstance(document, list) else [document]
    notices = tuple(n for place, event in enumerate(_bounded(events)) for n in _of_change(event, place, len(events)))
    return ReceivedEvents(notices=notices, messages=len(events))


def _of_change(event: Any, place: int, of: int) -> Iterator[Notice]:
    where = f"[{place}]" if of > 1 else ""
    if isinstance(event, dict) and "payload" in event:
        event, where = event["payload"], f"{where}.payload".lstrip(".")
    if event is None:
        return  # a tombstone, which follows a deletion
    if isinstance(event, dict) and "table_name" in event:
        yield _of_row(convert(event, CatalogRow, where), str(event.get("__op", "")))
        return
    change = convert(event, Change, where)
    if change.source is not None and change.source.table not in {None, CATALOG_TABLE}:
        return
    side = "after" if change.after is not None else "before"
    row = change.after if change.after is not None else change.before
    if row is None:
        if change.op in {"t", "m"}:
            return
        raise InvalidInput(f"{where}.after".lstrip("."), "is required; a change has a row before or after it")
    yield _of_row(convert(row, CatalogRow, f"{where}.{side}".lstrip(".")), change.op)


def _of_row(row: CatalogRow, op: str) -> Notice:
    name = TableName.of(row.catalog_name, row.table_namespace.split("."), escape_level(row.table_name))
    identity = (*name, row.metadata_location or "", op)
    location = folder_of(row.metadata_location)[:LONGEST] if row.metadata_location else None
    return notice("debezium", identity, name, location=location, event=op)


def _bounded(events: Sequence[Any]) -> Sequence[Any]:
    if len(events) > MOST:
        raise InvalidInput(BODY, f"has {len(events)} events; send at most {MOST} per request")
    return events


def _first(values: Mapping[str, Any], names: Sequence[str]) -> Any:
    return next((values[name] for name in names if values.get(name) is not None), None)


def _text(value: object) -> str | None:
    return value[:LONGEST] if isinstance(value, str) and value else None
