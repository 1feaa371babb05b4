"""Parses metadata.json, format v1 to v3, plain or gzip, into `domain/metadata/table.py`. Lenient: unknown types are
kept unchanged.

PyIceberg's model rejects a whole table for one unknown type; its history must still be readable.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw

from limnograph.adapters.iceberg.metadata.edge import Edge, dicts
from limnograph.adapters.iceberg.metadata.inflate import GZIP_MAGIC, MAX_METADATA_BYTES, inflated
from limnograph.adapters.iceberg.metadata.snapshots import read_log, read_snapshots
from limnograph.adapters.iceberg.metadata.statistics import read_statistics
from limnograph.domain.errors import MetadataError
from limnograph.domain.metadata.summary import string_map
from limnograph.domain.metadata.table import MAIN, Snapshot, SnapshotRef, TableMetadata, TableProblem

_VERSIONS = (1, 2, 3)
_REQUIRED = ("schemas", "partition-specs", "last-partition-id", "sort-orders", "last-sequence-number")
_RETENTION = ("min-snapshots-to-keep", "max-snapshot-age-ms", "max-ref-age-ms")
_LONG = frozenset({"snapshots", "snapshot-log"})
"""Keys that grow with the history are decoded by dedicated types."""
_UNREAD = frozenset({"statistics", "partition-statistics"})
_decode_document = msgspec.json.Decoder(dict[str, Raw]).decode

__all__ = ["MAX_METADATA_BYTES", "parse_metadata"]


def parse_metadata(content: bytes, location: str) -> TableMetadata:
    """One metadata file.

    Raises MetadataError: metadata_unreadable, format_version_unsupported, not_a_table, file_too_large.
    """
    text = inflated(content, location) if content.startswith(GZIP_MAGIC) else content
    try:
        parts = _decode_document(text)
        document = {
            key: Raw() if key in _UNREAD else msgspec.json.decode(part)
            for key, part in parts.items()
            if key not in _LONG
        }
        return _table(document, parts, location, len(content))
    except msgspec.ValidationError as error:
        raise MetadataError("metadata_unreadable", f"{location} is not a JSON object: {error}") from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise MetadataError("metadata_unreadable", f"{location} is not complete JSON: {error}") from error


def _table(document: dict[str, Any], parts: dict[str, Raw], location: str, size_bytes: int) -> TableMetadata:
    problems: list[TableProblem] = []
    edge = Edge(problems)
    version = edge.number(document, "format-version", Edge.INT32)
    if "view-uuid" in document or (version is not None and "versions" in document and "snapshots" not in parts):
        raise MetadataError("not_a_table", f"{location} describes a view")
    if version not in _VERSIONS:
        said = document.get("format-version")
        raise MetadataError("format_version_unsupported", f"{location} has format version {said}")
    home = document.get("location")
    if not isinstance(home, str) or not home:
        raise MetadataError("metadata_unreadable", f"{location} has no table location")
    snapshots = read_snapshots(parts.get("snapshots"), edge)
    schemas = _by_id(dicts(document, "schemas") or _one(document, "schema"), "schema-id", edge)
    specs = _specs(document, edge)
    orders = _by_id(dicts(document, "sort-orders"), "order-id", edge)
    current_schema = _current(document, "current-schema-id", schemas, "schema_missing", edge)
    default_spec = _current(document, "default-spec-id", specs, "partition_spec_missing", edge)
    if version > 1:
        problems += [
            TableProblem("metadata_incomplete", f"format version {version} requires {key}")
            for key in _REQUIRED
            if key not in document
        ]
    uuid = document.get("table-uuid")
    refs = _refs(document, snapshots, edge)
    snapshot_log = read_log(parts.get("snapshot-log"), edge)
    metadata_log = edge.log(document, "metadata-log", "metadata-file", str)
    last_updated = edge.instant(document, "last-updated-ms")
    sort_order = edge.number(document, "default-sort-order-id", Edge.INT32)
    return TableMetadata(
        format_version=version,
        uuid=uuid if isinstance(uuid, str) and uuid else None,
        location=home,
        metadata_location=location,
        size_bytes=size_bytes,
        last_updated_ms=last_updated,
        current_schema_id=current_schema,
        schemas=schemas,
        default_spec_id=default_spec,
        specs=specs,
        default_sort_order_id=sort_order,
        sort_orders=orders,
        properties=string_map(document.get("properties")) or {},
        snapshots=snapshots,
        refs=refs,
        snapshot_log=snapshot_log,
        metadata_log=metadata_log,
        statistics=read_statistics(parts.get("statistics")),
        problems=tuple(dict.fromkeys(problems)),
    )


def _refs(document: dict[str, Any], snapshots: dict[int, Snapshot], edge: Edge) -> dict[str, SnapshotRef]:
    refs: dict[str, SnapshotRef] = {}
    found = document.get("refs")
    for name, item in (found if isinstance(found, dict) else {}).items():
        target = edge.number(item, "snapshot-id") if isinstance(item, dict) else None
        if target is not None:
            refs[name] = SnapshotRef(target, str(item.get("type", "branch")), _retention(item))
    current = edge.number(document, "current-snapshot-id")
    if MAIN not in refs and current is not None and current != -1:
        refs[MAIN] = SnapshotRef(current, "branch")
    edge.problems += [
        TableProblem("ref_dangling", f"{name} points to a snapshot that is not in the metadata", ref.snapshot_id)
        for name, ref in refs.items()
        if ref.snapshot_id not in snapshots
    ]
    return refs


def _retention(item: dict[str, Any]) -> dict[str, int]:
    """Retention settings; a value that is not a 64-bit number is ignored, because no count depends on it."""
    found = {key: item.get(key) for key in _RETENTION}
    return {key: n for key, n in found.items() if type(n) is int and n in Edge.INT64}


def _specs(document: dict[str, Any], edge: Edge) -> dict[int, dict[str, Any]]:
    if listed := dicts(document, "partition-specs"):
        return _by_id(listed, "spec-id", edge)
    fields = document.get("partition-spec")
    return {0: {"spec-id": 0, "fields": fields}} if isinstance(fields, list) else {}


def _current(document: dict[str, Any], key: str, known: dict[int, dict[str, Any]], code: str, edge: Edge) -> int | None:
    """Id of the current schema or spec. Format v1 may name none; there is only one then."""
    current = edge.number(document, key, Edge.INT32)
    if not isinstance(document.get(key), int) and len(known) == 1:
        (only,) = known
        return only
    if current is None or current not in known:
        edge.problems.append(TableProblem(code, f"{key} {current} is not in the metadata"))
    return current


def _by_id(items: list[dict[str, Any]], key: str, edge: Edge) -> dict[int, dict[str, Any]]:
    """Items by id (0 if format v1 omits it); items with an id out of range are dropped: nothing can refer to them."""
    found = {edge.number(item, key, Edge.INT32) if isinstance(item.get(key), int) else 0: item for item in items}
    return {number: item for number, item in found.items() if number is not None}


def _one(document: dict[str, Any], key: str) -> list[dict[str, Any]]:
    found = document.get(key)
    return [found] if isinstance(found, dict) else []
