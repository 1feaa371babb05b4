"""Manifest lists and manifests into the counts of `domain/manifests.py`. Reads eight columns of an entry."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import msgspec
import numpy as np

from limnograph.adapters.iceberg.avro import Container, compile_record, field_type, open_container
from limnograph.adapters.iceberg.bounds import bound_key, column_type
from limnograph.adapters.iceberg.entries import (
    DATA,
    EQUALITY_DELETES,
    NO_SNAPSHOT,
    POSITION_DELETES,
    Bounds,
    Entries,
)
from limnograph.adapters.iceberg.partition_text import partition_text
from limnograph.domain.errors import MetadataError
from limnograph.domain.manifests import (
    Delta,
    ManifestFile,
    ManifestSum,
    PartitionKey,
    PartitionSum,
    is_small,
    size_bin,
)

MAX_FILE_BYTES = 2**50
MAX_COUNT = 2**50
"""Files or rows that one line may claim; their sums still fit 64 bits."""
_SPEC_IDS = range(2**31)
_DELETED, _ADDED = 2, 1

# Field ids of the Iceberg spec; names for writers that left the ids out, and v1's older names.
_LIST_FIELDS: tuple[tuple[int, tuple[str, ...]], ...] = (
    (500, ("manifest_path",)),
    (501, ("manifest_length",)),
    (502, ("partition_spec_id",)),
    (517, ("content",)),
    (503, ("added_snapshot_id",)),
    (504, ("added_files_count", "added_data_files_count")),
    (505, ("existing_files_count", "existing_data_files_count")),
    (506, ("deleted_files_count", "deleted_data_files_count")),
    (512, ("added_rows_count",)),
    (513, ("existing_rows_count",)),
    (514, ("deleted_rows_count",)),
)
_FILE_FIELDS: tuple[tuple[int, tuple[str, ...]], ...] = (
    (134, ("content",)),
    (101, ("file_format",)),
    (102, ("partition",)),
    (103, ("record_count",)),
    (104, ("file_size_in_bytes",)),
    (145, ("content_size_in_bytes",)),
    (125, ("lower_bounds",)),
    (128, ("upper_bounds",)),
)
_DATA_FILE = (2, ("data_file",))
_ENTRY_FIELDS: tuple[tuple[int, tuple[str, ...]], ...] = ((0, ("status",)), (1, ("snapshot_id",)), _DATA_FILE)


@contextmanager
def _as_damage() -> Iterator[None]:
    """Whatever else a file makes the reader raise is the file's damage: it is foreign, and its schema is its own."""
    try:
        yield
    except (
        *(KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError),
        *(RecursionError, EOFError, MemoryError, struct.error),
    ) as error:
        raise MetadataError("avro_damaged", f"a manifest is damaged: {error!r}") from error


@_as_damage()
def parse_manifest_list(content: bytes) -> list[ManifestFile]:
    """Lines of a manifest list. Raises MetadataError."""
    container = open_container(content)
    read = compile_record(container.schema, _LIST_FIELDS)
    found: list[ManifestFile] = []
    for row in _rows(container, read):
        path, length, spec_id, kind, added_by, *counts = row
        if not isinstance(path, str) or any(count is not None and not 0 <= count <= MAX_COUNT for count in counts):
            raise MetadataError("manifest_list_implausible", "a line without a path or with an impossible count")
        if (spec_id or 0) not in _SPEC_IDS:
            raise MetadataError("manifest_list_implausible", f"a line with partition spec {spec_id}")
        added, existing, deleted, added_rows, existing_rows, deleted_rows = counts
        found.append(
            ManifestFile(
                path=path,
                length=length if length is not None and 0 <= length <= MAX_FILE_BYTES else None,
                spec_id=spec_id or 0,
                deletes=kind == 1,
                added_snapshot_id=added_by,
                added_files=added,
                existing_files=existing,
                deleted_files=deleted,
                added_rows=added_rows,
                existing_rows=existing_rows,
                deleted_rows=deleted_rows,
            )
        )
    return found


@_as_damage()
def sum_manifest(content: bytes, manifest: ManifestFile, target_bytes: int | None) -> ManifestSum:
    """Sums over the entries of one manifest. `target_bytes` decides what is small. Raises MetadataError."""
    container = open_container(content)
    data_file = field_type(container.schema, *_DATA_FILE)
    if not isinstance(data_file, dict):
        raise MetadataError("manifest_unreadable", f"{manifest.path} has no data_file in its entries")
    schema = _with_inner(container.schema)
    read = compile_record(schema, _ENTRY_FIELDS)
    names = partition_text(_spec_fields(container), field_type(data_file, 102, ("partition",)))
    total = ManifestSum()
    texts: dict[Any, str] = {}
    for status, snapshot_id, (content_id, file_format, partition, records, file_size, content_size, *_) in _rows(
        container, read
    ):
        if partition not in texts:
            texts[partition] = names(partition) if partition else ""
        # Several deletion vectors share a Puffin file: each counts with its own bytes, as Iceberg's summaries do.
        size = file_size if content_size is None else content_size
        if records is None or not 0 <= records <= MAX_COUNT or size is None or not 0 <= size <= MAX_FILE_BYTES:
            raise MetadataError("manifest_implausible", f"{manifest.path} has a file of {size} bytes, {records} rows")
        writer = snapshot_id if snapshot_id is not None else manifest.added_snapshot_id
        is_data = not content_id and not manifest.deletes
        key = (manifest.spec_id, texts[partition])
        entry = _Entry(key, writer, is_data, content_id == EQUALITY_DELETES, file_format, records, size)
        if status != _DELETED:
            _live(total, entry, small=is_data and is_small(size, target_bytes))
        if status in {_ADDED, _DELETED} and writer is not None:
            _changed(total, entry, writer, added=status == _ADDED)
    return total


@_as_damage()
def decode_manifest(content: bytes, manifest: ManifestFile, *, bounds_of: int | None) -> Entries:
    """The entries of one manifest as columns; with bounds of the column of field id `bounds_of`.

    Raises MetadataError.
    """
    container = open_container(content)
    data_file = field_type(container.schema, *_DATA_FILE)
    if not isinstance(data_file, dict):
        raise MetadataError("manifest_unreadable", f"{manifest.path} has no data_file in its entries")
    read = compile_record(_with_inner(container.schema), _ENTRY_FIELDS)
    names = partition_text(_spec_fields(container), field_type(data_file, 102, ("partition",)))
    texts: dict[str, int] = {}
    known: dict[Any, int] = {}
    columns: list[tuple[int, int, bool, int, int, int, int]] = []
    bounds = Bounds([], [])
    key = bound_key(column_type(_header_json(container, "schema"), bounds_of)) if bounds_of is not None else None
    for status, snapshot_id, file in _rows(container, read):
        kind, file_format, partition, records, file_size, content_size, lower, upper = file
        if partition not in known:
            known[partition] = texts.setdefault(names(partition) if partition else "", len(texts))
        # Several deletion vectors share a Puffin file: each counts with its own bytes, as Iceberg's summaries do.
        size = file_size if content_size is None else content_size
        kind = kind or DATA
        if records is None or not 0 <= records <= MAX_COUNT or size is None or not 0 <= size <= MAX_FILE_BYTES:
            raise MetadataError("manifest_implausible", f"{manifest.path} has a file of {size} bytes, {records} rows")
        if status not in range(3) or kind not in range(3):
            raise MetadataError("manifest_implausible", f"{manifest.path} has an entry of status {status}, {kind}")
        kind = POSITION_DELETES if manifest.deletes and kind == DATA else kind
        is_dv = kind == POSITION_DELETES and (file_format or "").upper() == "PUFFIN"
        writer = snapshot_id if snapshot_id is not None else manifest.added_snapshot_id
        columns.append(
            (status, kind, is_dv, NO_SNAPSHOT if writer is None else writer, records, size, known[partition])
        )
        bounds.lower.append(_bound(lower, bounds_of, key))
        bounds.upper.append(_bound(upper, bounds_of, key))
    status, kind, is_dv, writer, records, size, partition = zip(*columns, strict=True) if columns else ((),) * 7
    return Entries(
        status=np.array(status, np.int8),
        content=np.array(kind, np.int8),
        is_dv=np.array(is_dv, np.bool_),
        snapshot=np.array(writer, np.int64),
        records=np.array(records, np.int64),
        size=np.array(size, np.int64),
        partition=np.array(partition, np.int32),
        partitions=list(texts),
        bounds=None if bounds_of is None else bounds,
    )


def _bound(listed: Any, field_id: int | None, key: Any) -> bytes | None:
    for one, value in listed or ():
        if one == field_id:
            return key(value) if key else None  # type: ignore[no-any-return]
    return None


class _Entry(NamedTuple):
    """One entry. `writer`: snapshot that added or removed the file."""

    key: PartitionKey
    writer: int | None
    is_data: bool
    is_equality: bool
    file_format: str | None
    records: int
    size: int


def _live(total: ManifestSum, entry: _Entry, *, small: bool) -> None:
    part = total.partitions.get(entry.key)
    if part is None:
        part = total.partitions[entry.key] = PartitionSum()
    if entry.writer is not None:
        part.writers.add(entry.writer)
    if entry.is_data:
        total.data_files += 1
        total.records += entry.records
        total.bytes += entry.size
        total.small_files += small
        total.histogram[size_bin(entry.size)] += 1
        part.data_files += 1
        part.records += entry.records
        part.bytes += entry.size
        part.small_files += small
        return
    total.delete_files += 1
    total.delete_bytes += entry.size
    part.delete_files += 1
    if entry.is_equality:
        total.equality_deletes += entry.records
    else:
        total.position_deletes += entry.records
        total.dvs += (entry.file_format or "").upper() == "PUFFIN"


def _changed(total: ManifestSum, entry: _Entry, writer: int, *, added: bool) -> None:
    delta = total.deltas.get(writer)
    if delta is None:
        delta = total.deltas[writer] = Delta()
    touched = delta.touched.get(entry.key)
    if touched is None:
        touched = delta.touched[entry.key] = [0, 0]
    if entry.is_data and added:
        delta.added_data_files += 1
        delta.added_records += entry.records
        delta.added_bytes += entry.size
        touched[0] += 1
    elif entry.is_data:
        delta.removed_data_files += 1
        delta.removed_records += entry.records
        delta.removed_bytes += entry.size
        touched[1] += 1
    elif added:
        delta.added_delete_files += 1
        delta.added_delete_bytes += entry.size
    else:
        delta.removed_delete_files += 1
        delta.removed_delete_bytes += entry.size


def _with_inner(schema: dict[str, Any]) -> dict[str, Any]:
    """Entry schema whose data_file is marked so that only the wanted columns of it are read."""
    fields = []
    for field in schema["fields"]:
        if field.get("field-id") == _DATA_FILE[0] or field.get("name") in _DATA_FILE[1]:
            inner = field_type(schema, *_DATA_FILE)
            fields.append({**field, "type": {**inner, "wanted": _FILE_FIELDS}})
        else:
            fields.append(field)
    return {**schema, "fields": fields}


def _rows(container: Container, read: Any) -> Any:
    for count, decoder in container.blocks():
        for _ in range(count):
            yield read(decoder)


def _header_json(container: Container, name: str) -> dict[str, Any]:
    try:
        found = msgspec.json.decode(container.header.get(name, b"{}"))
    except msgspec.DecodeError:
        return {}
    return found if isinstance(found, dict) else {}


def _spec_fields(container: Container) -> list[dict[str, Any]]:
    try:
        found = msgspec.json.decode(container.header.get("partition-spec", b"[]"))
    except msgspec.DecodeError:
        return []
    fields = found.get("fields", []) if isinstance(found, dict) else found
    return [field for field in fields if isinstance(field, dict)] if isinstance(fields, list) else []
