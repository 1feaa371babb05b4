"""metadata.json, format v1 to v3, plain or gzip, into `domain/metadata.py`. Lenient: unknown types stay as they are.

PyIceberg's model refuses whole tables for one unknown type; a history must still be told then.
"""

from __future__ import annotations

import gzip
import io
import zlib
from typing import Any

import msgspec

from limnograph.domain.errors import MetadataError
from limnograph.domain.metadata import MAIN, LogEntry, Problem, Ref, Snapshot, TableMetadata

MAX_METADATA_BYTES = 256 * 2**20
_VERSIONS = (1, 2, 3)
_REQUIRED = ("schemas", "partition-specs", "last-partition-id", "sort-orders", "last-sequence-number")


def parse_metadata(content: bytes, location: str) -> TableMetadata:
    """One metadata file. Raises MetadataError: metadata_unreadable, unknown_format_version, not_a_table."""
    text = _decompressed(content, location)
    try:
        document = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise MetadataError("metadata_unreadable", f"{location} is not complete JSON: {error}") from error
    if not isinstance(document, dict):
        raise MetadataError("metadata_unreadable", f"{location} is not a JSON object")
    return _table(document, location, len(content))


def _decompressed(content: bytes, location: str) -> bytes:
    if not content.startswith(b"\x1f\x8b"):
        return content
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as stream:
            text = stream.read(MAX_METADATA_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise MetadataError("metadata_unreadable", f"{location} is not complete gzip: {error}") from error
    if len(text) > MAX_METADATA_BYTES:
        raise MetadataError("file_too_large", f"{location} is longer than {MAX_METADATA_BYTES} bytes decompressed")
    return text


def _table(document: dict[str, Any], location: str, size_bytes: int) -> TableMetadata:
    version = _int(document.get("format-version"))
    if "view-uuid" in document or (version is not None and "versions" in document and "snapshots" not in document):
        raise MetadataError("not_a_table", f"{location} describes a view")
    if version not in _VERSIONS:
        raise MetadataError("unknown_format_version", f"{location} has format version {document.get('format-version')}")
    home = document.get("location")
    if not isinstance(home, str) or not home:
        raise MetadataError("metadata_unreadable", f"{location} names no table location")
    problems: list[Problem] = []
    snapshots = {s.snapshot_id: s for s in map(_snapshot, _dicts(document, "snapshots")) if s is not None}
    schemas = _by_id(_dicts(document, "schemas") or _one(document, "schema"), "schema-id")
    specs = _specs(document)
    orders = _by_id(_dicts(document, "sort-orders"), "order-id")
    current_schema = _current(document, "current-schema-id", schemas, "schema_missing", problems)
    default_spec = _current(document, "default-spec-id", specs, "partition_spec_missing", problems)
    if version > 1:
        problems += [
            Problem("metadata_incomplete", f"format version {version} requires {key}")
            for key in _REQUIRED
            if key not in document
        ]
    uuid = document.get("table-uuid")
    return TableMetadata(
        format_version=version,
        uuid=uuid if isinstance(uuid, str) and uuid else None,
        location=home,
        metadata_location=location,
        size_bytes=size_bytes,
        last_updated_ms=_int(document.get("last-updated-ms")),
        current_schema_id=current_schema,
        schemas=schemas,
        default_spec_id=default_spec,
        specs=specs,
        default_sort_order_id=_int(document.get("default-sort-order-id")),
        sort_orders=orders,
        properties=_strings(document.get("properties")) or {},
        snapshots=snapshots,
        refs=_refs(document, snapshots, problems),
        snapshot_log=_log(document, "snapshot-log", "snapshot-id", int),
        metadata_log=_log(document, "metadata-log", "metadata-file", str),
        problems=tuple(problems),
    )


def _snapshot(item: dict[str, Any]) -> Snapshot | None:
    snapshot_id = _int(item.get("snapshot-id"))
    if snapshot_id is None:
        return None
    manifests = item.get("manifests")
    listed = item.get("manifest-list")
    return Snapshot(
        snapshot_id=snapshot_id,
        timestamp_ms=_int(item.get("timestamp-ms")),
        parent_id=_int(item.get("parent-snapshot-id")),
        sequence_number=_int(item.get("sequence-number")),
        schema_id=_int(item.get("schema-id")),
        summary=_strings(item.get("summary")),
        manifest_list=listed if isinstance(listed, str) else None,
        manifests=tuple(p for p in manifests if isinstance(p, str)) if isinstance(manifests, list) else None,
    )


def _refs(document: dict[str, Any], snapshots: dict[int, Snapshot], problems: list[Problem]) -> dict[str, Ref]:
    refs: dict[str, Ref] = {}
    found = document.get("refs")
    for name, item in (found if isinstance(found, dict) else {}).items():
        target = _int(item.get("snapshot-id")) if isinstance(item, dict) else None
        if target is not None:
            refs[name] = Ref(target, str(item.get("type", "branch")))
    current = _int(document.get("current-snapshot-id"))
    if MAIN not in refs and current is not None and current != -1:
        refs[MAIN] = Ref(current, "branch")
    problems += [
        Problem("ref_dangling", f"{name} points at a snapshot that the metadata does not hold", ref.snapshot_id)
        for name, ref in refs.items()
        if ref.snapshot_id not in snapshots
    ]
    return refs


def _specs(document: dict[str, Any]) -> dict[int, dict[str, Any]]:
    if listed := _dicts(document, "partition-specs"):
        return _by_id(listed, "spec-id")
    fields = document.get("partition-spec")
    return {0: {"spec-id": 0, "fields": fields}} if isinstance(fields, list) else {}


def _current(
    document: dict[str, Any], key: str, known: dict[int, dict[str, Any]], code: str, problems: list[Problem]
) -> int | None:
    """Id of the current schema or spec; format v1 may name none and then has one only."""
    current: int | None = _int(document.get(key))
    if current is None and len(known) == 1:
        (only,) = known
        return only
    if current is None or current not in known:
        problems.append(Problem(code, f"{key} {current} is not among those that the metadata lists"))
    return current


def _log(document: dict[str, Any], key: str, value: str, kind: type) -> tuple[LogEntry, ...]:
    found: list[LogEntry] = []
    for item in _dicts(document, key):
        at = _int(item.get("timestamp-ms"))
        if at is not None and isinstance(item.get(value), kind):
            found.append(LogEntry(at, item[value]))
    return tuple(found)


def _by_id(items: list[dict[str, Any]], key: str) -> dict[int, dict[str, Any]]:
    return {_int(item.get(key)) or 0: item for item in items}


def _dicts(document: dict[str, Any], key: str) -> list[dict[str, Any]]:
    found = document.get(key)
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def _one(document: dict[str, Any], key: str) -> list[dict[str, Any]]:
    found = document.get(key)
    return [found] if isinstance(found, dict) else []


def _strings(found: Any) -> dict[str, str] | None:
    """String map; a value of another type is kept as its JSON text."""
    if not isinstance(found, dict):
        return None
    return {k: v if isinstance(v, str) else msgspec.json.encode(v).decode() for k, v in found.items()}


def _int(found: Any) -> int | None:
    if not isinstance(found, int) or isinstance(found, bool):
        return None
    return found if abs(found) < 2**63 else None
