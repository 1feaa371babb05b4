"""Avro schemas of manifest lists and manifests, format v1 to v3, as the Iceberg specification numbers their fields."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable
from functools import cache
from typing import Any

import fastavro

_COUNTS = ((504, "added_files_count"), (505, "existing_files_count"), (506, "deleted_files_count"))
_ROWS = ((512, "added_rows_count"), (513, "existing_rows_count"), (514, "deleted_rows_count"))


def _field(number: int, name: str, kind: Any, *, optional: bool = False) -> dict[str, Any]:
    found = {"name": name, "type": ["null", kind] if optional else kind, "field-id": number}
    return {**found, "default": None} if optional else found


@cache
def list_schema(version: int) -> Any:
    """Lines of a manifest list."""
    fields = [
        _field(500, "manifest_path", "string"),
        _field(501, "manifest_length", "long"),
        _field(502, "partition_spec_id", "int"),
    ]
    if version == 1:
        fields.append(_field(503, "added_snapshot_id", "long", optional=True))
        fields += [_field(number, name, "int", optional=True) for number, name in _COUNTS]
        fields += [_field(number, name, "long", optional=True) for number, name in _ROWS]
    else:
        fields += [
            _field(517, "content", "int"),
            _field(515, "sequence_number", "long"),
            _field(516, "min_sequence_number", "long"),
            _field(503, "added_snapshot_id", "long"),
        ]
        fields += [_field(number, name, "int") for number, name in _COUNTS]
        fields += [_field(number, name, "long") for number, name in _ROWS]
    if version >= 3:
        fields.append(_field(520, "first_row_id", "long", optional=True))
    return fastavro.parse_schema({"type": "record", "name": "manifest_file", "fields": fields})


@cache
def entry_schema(version: int, partition: str) -> Any:
    """Entries of a manifest. `partition`: JSON list of `[field id, name, Avro type]`."""
    inside = [_field(number, name, kind, optional=True) for number, name, kind in json.loads(partition)]
    data_file = [] if version == 1 else [_field(134, "content", "int")]
    data_file += [
        _field(100, "file_path", "string"),
        _field(101, "file_format", "string"),
        _field(102, "partition", {"type": "record", "name": "r102", "fields": inside}),
        _field(103, "record_count", "long"),
        _field(104, "file_size_in_bytes", "long"),
    ]
    data_file += [_field(105, "block_size_in_bytes", "long")] if version == 1 else []
    data_file += [
        _field(108, "column_sizes", _int_map(117, 118, "long"), optional=True),
        _field(125, "lower_bounds", _int_map(126, 127, "bytes"), optional=True),
        _field(128, "upper_bounds", _int_map(129, 130, "bytes"), optional=True),
        _field(131, "key_metadata", "bytes", optional=True),
        _field(135, "equality_ids", {"type": "array", "items": "int", "element-id": 136}, optional=True),
    ]
    if version >= 3:
        data_file += [
            _field(number, name, "string" if number == 143 else "long", optional=True)
            for number, name in (
                (142, "first_row_id"),
                (143, "referenced_data_file"),
                (144, "content_offset"),
                (145, "content_size_in_bytes"),
            )
        ]
    entry = [_field(0, "status", "int"), _field(1, "snapshot_id", "long", optional=version > 1)]
    if version > 1:
        entry += [
            _field(3, "sequence_number", "long", optional=True),
            _field(4, "file_sequence_number", "long", optional=True),
        ]
    entry.append(_field(2, "data_file", {"type": "record", "name": "r2", "fields": data_file}))
    return fastavro.parse_schema({"type": "record", "name": "manifest_entry", "fields": entry})


def _int_map(key: int, value: int, kind: str) -> dict[str, Any]:
    """A map with integer keys, as Iceberg writes it: an array of pairs."""
    pair = {
        "type": "record",
        "name": f"k{key}_v{value}",
        "fields": [
            {"name": "key", "type": "int", "field-id": key},
            {"name": "value", "type": kind, "field-id": value},
        ],
    }
    return {"type": "array", "logicalType": "map", "items": pair}


def container(layout: Any, records: Iterable[dict[str, Any]], codec: str, **header: str) -> bytes:
    """One Avro file; underscores in the names of the header's keys stand for dashes."""
    out = io.BytesIO()
    metadata = {name.replace("_", "-"): value for name, value in header.items()}
    fastavro.writer(out, layout, records, codec=codec, metadata=metadata)
    return out.getvalue()
