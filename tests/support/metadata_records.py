"""Files, entries and manifests of the metadata writer, and how they stand in Avro, lists and summaries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

DATA, POSITION_DELETES, EQUALITY_DELETES = 0, 1, 2
EXISTING, ADDED, DELETED = 0, 1, 2
PATH_OF_DELETES = 2_147_483_546
"""Field id of the path column of position delete files."""


class Field(NamedTuple):
    """A partition field: its column (id and name), transform, and the Avro type of its values."""

    source: int
    name: str
    transform: str = "identity"
    kind: Any = "string"


BY_REGION = (Field(2, "region"),)
UNPARTITIONED: tuple[Field, ...] = ()


class File(NamedTuple):
    """A data or delete file. `dv_of`: path of the data file whose deletion vector this is, at `offset` of its file.
    `scoped_to`: of the one data file whose positions are in this delete file, as bounds of its paths say.
    """

    path: str
    partition: tuple[Any, ...] = ()
    records: int = 10
    size: int = 1_000
    content: int = DATA
    spec_id: int = 0
    dv_of: str | None = None
    scoped_to: str | None = None
    offset: int = 4

    @property
    def key(self) -> tuple[str, str | None]:
        """Several deletion vectors may share a path."""
        return self.path, self.dv_of


class Entry(NamedTuple):
    """One line of a manifest."""

    status: int
    snapshot_id: int
    sequence: int
    file: File


class Manifest(NamedTuple):
    """A manifest as it lies there. Its entries never change."""

    path: str
    length: int
    spec_id: int
    content: int
    snapshot_id: int
    sequence: int
    entries: tuple[Entry, ...]

    def live(self) -> list[Entry]:
        """Entries of files that are there."""
        return [entry for entry in self.entries if entry.status != DELETED]


def entry_record(entry: Entry, names: list[str], version: int) -> dict[str, Any]:
    """One entry as Avro wants it. `names`: fields of the partition."""
    file = entry.file
    data_file: dict[str, Any] = {
        "content": file.content,
        "file_path": file.path,
        "file_format": "PUFFIN" if file.dv_of else "PARQUET",
        "partition": dict(zip(names, file.partition, strict=True)),
        "record_count": file.records,
        "file_size_in_bytes": file.size + 8 if file.dv_of else file.size,
        "block_size_in_bytes": 64 * 2**20,
        "equality_ids": [1] if file.content == EQUALITY_DELETES else None,
    }
    if file.scoped_to:
        bound = [{"key": PATH_OF_DELETES, "value": file.scoped_to.encode()}]
        data_file |= {"lower_bounds": bound, "upper_bounds": bound}
    if file.dv_of:
        blob = {"content_offset": file.offset, "content_size_in_bytes": file.size}
        data_file |= {"referenced_data_file": file.dv_of, **blob}
    # A file that the commit itself added inherits both from the line of its manifest (v2).
    inherited = entry.status == ADDED and version > 1
    return {
        "status": entry.status,
        "snapshot_id": None if inherited else entry.snapshot_id,
        "sequence_number": None if inherited else entry.sequence,
        "file_sequence_number": None if inherited else entry.sequence,
        "data_file": data_file,
    }


def list_line(manifest: Manifest) -> dict[str, Any]:
    """A manifest as a line of a manifest list."""
    line: dict[str, Any] = {
        "manifest_path": manifest.path,
        "manifest_length": manifest.length,
        "partition_spec_id": manifest.spec_id,
        "content": manifest.content,
        "sequence_number": manifest.sequence,
        "min_sequence_number": min((e.sequence for e in manifest.live()), default=manifest.sequence),
        "added_snapshot_id": manifest.snapshot_id,
        "first_row_id": None,
    }
    for status, word in ((ADDED, "added"), (EXISTING, "existing"), (DELETED, "deleted")):
        chosen = [entry.file for entry in manifest.entries if entry.status == status]
        line |= {f"{word}_files_count": len(chosen), f"{word}_rows_count": sum(f.records for f in chosen)}
    return line


def totals_of(live: list[File], added: list[File], removed: list[File]) -> dict[str, int]:
    """What columns `total_*`, `added_*` and `removed_*` of a row must be."""
    data, deletes = data_of(live), deletes_of(live)
    found = {
        "total_data_files": len(data),
        "total_records": sum(f.records for f in data),
        "total_bytes": sum(f.size for f in data),
        "total_delete_files": len(deletes),
        "total_delete_bytes": sum(f.size for f in deletes),
        "total_position_deletes": sum(f.records for f in deletes if f.content == POSITION_DELETES),
        "total_equality_deletes": sum(f.records for f in deletes if f.content == EQUALITY_DELETES),
        "total_dvs": sum(f.dv_of is not None for f in deletes),
        "partitions_total": len({(f.spec_id, f.partition) for f in live}),
    }
    for word, moved in (("added", added), ("removed", removed)):
        found |= {
            f"{word}_data_files": len(data_of(moved)),
            f"{word}_delete_files": len(deletes_of(moved)),
            f"{word}_records": sum(f.records for f in data_of(moved)),
            f"{word}_bytes": sum(f.size for f in data_of(moved)),
        }
    return found


def summary_of(totals: Mapping[str, int]) -> dict[str, str]:
    """Counts of a snapshot as writers put them into its summary."""
    said = {
        "total-data-files": totals["total_data_files"],
        "total-delete-files": totals["total_delete_files"],
        "total-records": totals["total_records"],
        "total-files-size": totals["total_bytes"] + totals["total_delete_bytes"],
        "total-position-deletes": totals["total_position_deletes"],
        "total-equality-deletes": totals["total_equality_deletes"],
    }
    moved = {
        "added-data-files": totals["added_data_files"],
        "deleted-data-files": totals["removed_data_files"],
        "added-delete-files": totals["added_delete_files"],
        "removed-delete-files": totals["removed_delete_files"],
        "added-records": totals["added_records"],
        "deleted-records": totals["removed_records"],
    }
    return {key: str(value) for key, value in (*said.items(), *((k, v) for k, v in moved.items() if v))}


def after(entry: Entry, gone: set[tuple[str, str | None]], snapshot_id: int) -> Entry:
    """The entry in the manifest that takes its manifest's place."""
    if entry.file.key in gone:
        return entry._replace(status=DELETED, snapshot_id=snapshot_id)
    return entry._replace(status=EXISTING)


def data_of(files: Iterable[File]) -> list[File]:
    """Data files among them."""
    return [file for file in files if file.content == DATA]


def deletes_of(files: Iterable[File]) -> list[File]:
    """Delete files among them."""
    return [file for file in files if file.content != DATA]
