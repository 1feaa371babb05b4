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
_INT32 = range(-(2**31), 2**31)
_INT64 = range(-(2**63), 2**63)
_MILLIS = range(-62_135_596_800_000, 253_402_300_800_000)
"""Instants of the years 1 to 9999: within 64 bits as microseconds, and every engine can write them as text."""
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
    problems: list[Problem] = []
    edge = _Edge(problems)
    version = edge.number(document, "format-version", _INT32)
    if "view-uuid" in document or (version is not None and "versions" in document and "snapshots" not in document):
        raise MetadataError("not_a_table", f"{location} describes a view")
    if version not in _VERSIONS:
        raise MetadataError("unknown_format_version", f"{location} has format version {document.get('format-version')}")
    home = document.get("location")
    if not isinstance(home, str) or not home:
        raise MetadataError("metadata_unreadable", f"{location} names no table location")
    read = (_snapshot(item, edge) for item in _dicts(document, "snapshots"))
    snapshots = {snapshot.snapshot_id: snapshot for snapshot in read if snapshot is not None}
    schemas = _by_id(_dicts(document, "schemas") or _one(document, "schema"), "schema-id", edge)
    specs = _specs(document, edge)
    orders = _by_id(_dicts(document, "sort-orders"), "order-id", edge)
    current_schema = _current(document, "current-schema-id", schemas, "schema_missing", edge)
    default_spec = _current(document, "default-spec-id", specs, "partition_spec_missing", edge)
    if version > 1:
        problems += [
            Problem("metadata_incomplete", f"format version {version} requires {key}")
            for key in _REQUIRED
            if key not in document
        ]
    uuid = document.get("table-uuid")
    refs = _refs(document, snapshots, edge)
    snapshot_log = edge.log(document, "snapshot-log", "snapshot-id", int)
    metadata_log = edge.log(document, "metadata-log", "metadata-file", str)
    last_updated = edge.number(document, "last-updated-ms", _MILLIS)
    sort_order = edge.number(document, "default-sort-order-id", _INT32)
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
        properties=_strings(document.get("properties")) or {},
        snapshots=snapshots,
        refs=refs,
        snapshot_log=snapshot_log,
        metadata_log=metadata_log,
        problems=tuple(dict.fromkeys(problems)),
    )


class _Edge:
    """Reads numbers as our columns can hold them. One that is beyond is a problem of the table, and then not known."""

    def __init__(self, problems: list[Problem]) -> None:
        self.problems = problems

    def number(self, item: dict[str, Any], key: str, within: range = _INT64) -> int | None:
        """The number of `key`; None when it is absent, no whole number or out of range."""
        found = item.get(key)
        if not isinstance(found, int) or isinstance(found, bool):
            return None
        if found in within:
            return found
        self.problems.append(Problem("metadata_incomplete", f"a {key} is beyond what the format allows"))
        return None

    def fits(self, item: dict[str, Any], key: str) -> bool:
        """Whether a 64-bit number is in range, or absent."""
        return self.number(item, key) is not None or not isinstance(item.get(key), int)

    def log(self, document: dict[str, Any], key: str, value: str, kind: type) -> tuple[LogEntry, ...]:
        """Entries of `snapshot-log` or `metadata-log` with a usable instant and value."""
        found: list[LogEntry] = []
        for item in _dicts(document, key):
            at = self.number(item, "timestamp-ms", _MILLIS)
            what = item.get(value) if kind is str else self.number(item, value)
            if at is not None and isinstance(what, kind):
                found.append(LogEntry(at, what))
        return tuple(found)


def _snapshot(item: dict[str, Any], edge: _Edge) -> Snapshot | None:
    """None for one without an id, or whose place in the history is beyond what numbers say."""
    snapshot_id = edge.number(item, "snapshot-id")
    if snapshot_id is None or not edge.fits(item, "sequence-number"):
        return None
    manifests = item.get("manifests")
    listed = item.get("manifest-list")
    return Snapshot(
        snapshot_id=snapshot_id,
        timestamp_ms=edge.number(item, "timestamp-ms", _MILLIS),
        parent_id=edge.number(item, "parent-snapshot-id"),
        sequence_number=edge.number(item, "sequence-number"),
        schema_id=edge.number(item, "schema-id", _INT32),
        summary=_strings(item.get("summary")),
        manifest_list=listed if isinstance(listed, str) else None,
        manifests=tuple(p for p in manifests if isinstance(p, str)) if isinstance(manifests, list) else None,
    )


def _refs(document: dict[str, Any], snapshots: dict[int, Snapshot], edge: _Edge) -> dict[str, Ref]:
    refs: dict[str, Ref] = {}
    found = document.get("refs")
    for name, item in (found if isinstance(found, dict) else {}).items():
        target = edge.number(item, "snapshot-id") if isinstance(item, dict) else None
        if target is not None:
            refs[name] = Ref(target, str(item.get("type", "branch")))
    current = edge.number(document, "current-snapshot-id")
    if MAIN not in refs and current is not None and current != -1:
        refs[MAIN] = Ref(current, "branch")
    edge.problems += [
        Problem("ref_dangling", f"{name} points at a snapshot that the metadata does not hold", ref.snapshot_id)
        for name, ref in refs.items()
        if ref.snapshot_id not in snapshots
    ]
    return refs


def _specs(document: dict[str, Any], edge: _Edge) -> dict[int, dict[str, Any]]:
    if listed := _dicts(document, "partition-specs"):
        return _by_id(listed, "spec-id", edge)
    fields = document.get("partition-spec")
    return {0: {"spec-id": 0, "fields": fields}} if isinstance(fields, list) else {}


def _current(
    document: dict[str, Any], key: str, known: dict[int, dict[str, Any]], code: str, edge: _Edge
) -> int | None:
    """Id of the current schema or spec; format v1 may name none and then has one only."""
    current = edge.number(document, key, _INT32)
    if not isinstance(document.get(key), int) and len(known) == 1:
        (only,) = known
        return only
    if current is None or current not in known:
        edge.problems.append(Problem(code, f"{key} {current} is not among those that the metadata lists"))
    return current


def _by_id(items: list[dict[str, Any]], key: str, edge: _Edge) -> dict[int, dict[str, Any]]:
    """Items by their id, 0 where format v1 gave none; one whose id is out of range cannot be meant by anything."""
    found = {edge.number(item, key, _INT32) if isinstance(item.get(key), int) else 0: item for item in items}
    return {number: item for number, item in found.items() if number is not None}


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
