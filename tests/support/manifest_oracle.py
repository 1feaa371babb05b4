"""What a manifest or a manifest list holds according to fastavro: the second opinion of our kernel."""

from __future__ import annotations

import io
import json
from typing import Any, NamedTuple

import fastavro

from limnograph.adapters.iceberg.manifests.bounds import bound_key, column_type
from limnograph.domain.metadata.manifests import ManifestFile

COUNTS = {
    "added_files": ("added_files_count", "added_data_files_count"),
    "existing_files": ("existing_files_count", "existing_data_files_count"),
    "deleted_files": ("deleted_files_count", "deleted_data_files_count"),
    "added_rows": ("added_rows_count",),
    "existing_rows": ("existing_rows_count",),
    "deleted_rows": ("deleted_rows_count",),
}


class Entry(NamedTuple):
    """An entry as `Entries` has it; `partition`: values by name, bounds as keys."""

    status: int
    content: int
    is_dv: bool
    snapshot: int
    records: int
    size: int
    partition: tuple[Any, ...]
    lower: bytes | None
    upper: bytes | None


def records(content: bytes) -> list[dict[str, Any]]:
    """All records, logical types resolved."""
    return list(fastavro.reader(io.BytesIO(content)))  # type: ignore[arg-type]


def header(content: bytes) -> dict[str, str]:
    """The header's entries."""
    return dict(fastavro.reader(io.BytesIO(content)).metadata)


def entries(content: bytes, bounds_of: int | None = None) -> list[Entry]:
    """Entries of a manifest of data or deletes that its entries call so."""
    schema = json.loads(header(content).get("schema", "{}"))
    key = bound_key(column_type(schema, bounds_of)) if bounds_of is not None else None
    found = []
    for record in records(content):
        file = record["data_file"]
        own = file.get("content_size_in_bytes")
        kind = file.get("content", 0)
        found.append(
            Entry(
                status=record["status"],
                content=kind,
                is_dv=kind == 1 and file["file_format"].upper() == "PUFFIN",
                snapshot=-1 if record["snapshot_id"] is None else record["snapshot_id"],
                records=file["record_count"],
                size=file["file_size_in_bytes"] if own is None else own,
                partition=tuple(file["partition"].items()) if file.get("partition") else (),
                lower=_bound(file.get("lower_bounds"), bounds_of, key),
                upper=_bound(file.get("upper_bounds"), bounds_of, key),
            )
        )
    return found


def _bound(listed: Any, field_id: int | None, key: Any) -> bytes | None:
    for item in listed or ():
        if item["key"] == field_id:
            return key(item["value"]) if key else None  # type: ignore[no-any-return]
    return None


def lines(content: bytes) -> list[ManifestFile]:
    """Lines of a manifest list."""
    return [
        ManifestFile(
            path=record["manifest_path"],
            length=record["manifest_length"] if 0 <= record["manifest_length"] <= 2**50 else None,
            spec_id=record["partition_spec_id"],
            deletes=record.get("content", 0) == 1,
            added_snapshot_id=record["added_snapshot_id"],
            **{ours: next((record[t] for t in theirs if t in record), None) for ours, theirs in COUNTS.items()},
        )
        for record in records(content)
    ]
