"""Numbers of a snapshot without its entries: from its manifest list or, if that is lost, from its summary alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from limnograph.domain.metadata.manifests import ManifestFile
from limnograph.domain.metadata.table import Snapshot
from limnograph.services.extraction.summary import number

_MAX_LONG = 2**63 - 1


def manifest_numbers(manifests: list[ManifestFile]) -> dict[str, Any]:
    """Columns of group `manifests` from a manifest list."""
    return {
        "manifests": len(manifests),
        "delete_manifests": sum(m.deletes for m in manifests),
        "manifest_bytes": _sum(m.length for m in manifests),
    }


def list_numbers(snapshot: Snapshot, manifests: list[ManifestFile]) -> dict[str, Any]:
    """Files and rows from the entries of the manifest list. The summary supplies counts that the list omits (format
    v1), and bytes if there are no delete files.
    """
    data = [m for m in manifests if not m.deletes]
    deletes = [m for m in manifests if m.deletes]
    own_data, own_deletes = _own(snapshot, data, manifests), _own(snapshot, deletes, manifests)
    listed: dict[str, Any] = {
        "total_data_files": _live(data, "files"),
        "total_delete_files": _live(deletes, "files"),
        "total_records": _live(data, "rows"),
        "added_data_files": _sum(m.added_files for m in own_data),
        "added_delete_files": _sum(m.added_files for m in own_deletes),
        "added_records": _sum(m.added_rows for m in own_data),
        "removed_data_files": _sum(m.deleted_files for m in own_data),
        "removed_delete_files": _sum(m.deleted_files for m in own_deletes),
        "removed_records": _sum(m.deleted_rows for m in own_data),
    }
    counts = _counts(snapshot)
    found = {**manifest_numbers(manifests), **counts, **{k: v for k, v in listed.items() if v is not None}}
    return {**found, **_deletes(snapshot, found), **_bytes(snapshot, found)}


def _own(snapshot: Snapshot, manifests: list[ManifestFile], listed: list[ManifestFile]) -> list[ManifestFile]:
    """The manifests that the snapshot added. A placeholder with unknown counts if an entry of the list does not name
    its snapshot.
    """
    if any(m.added_snapshot_id is None for m in listed):
        return [ManifestFile(path="")]
    return [m for m in manifests if m.added_snapshot_id == snapshot.snapshot_id]


def summary_numbers(snapshot: Snapshot) -> dict[str, Any]:
    """The writer's counts. Iceberg's writers omit counts that are 0, so an absent count is 0 if another one of its
    family is present. An append adds data files even if its summary lost the count.
    """
    found = _counts(snapshot)
    return {**found, **_deletes(snapshot, found), **_bytes(snapshot, found)}


def _counts(snapshot: Snapshot) -> dict[str, Any]:
    summary = snapshot.summary
    adds, removes = _says(summary, "added-"), _says(summary, "deleted-", "removed-")

    def delta(key: str, family: bool) -> int | None:
        return number(summary, key) if key in (summary or {}) else (0 if family else None)

    adds_data = adds and snapshot.operation != "append"
    return {
        "total_data_files": number(summary, "total-data-files"),
        "total_delete_files": number(summary, "total-delete-files"),
        "total_records": number(summary, "total-records"),
        "added_data_files": delta("added-data-files", adds_data),
        "added_delete_files": delta("added-delete-files", adds),
        "added_records": delta("added-records", adds_data),
        "removed_data_files": delta("deleted-data-files", removes),
        "removed_delete_files": delta("removed-delete-files", removes),
        "removed_records": delta("deleted-records", removes),
        "changed_partitions": number(summary, "changed-partition-count"),
    }


def _says(summary: Mapping[str, str] | None, *prefixes: str) -> bool:
    """Whether a summary has a count of a family of keys."""
    return any(key.startswith(prefixes) and number(summary, key) is not None for key in summary or {})


def _deletes(snapshot: Snapshot, found: dict[str, Any]) -> dict[str, Any]:
    """Rows in delete files: a list does not distinguish position from equality deletes, the summary does."""
    none = found["total_delete_files"] == 0
    return {
        "total_position_deletes": 0 if none else number(snapshot.summary, "total-position-deletes"),
        "total_equality_deletes": 0 if none else number(snapshot.summary, "total-equality-deletes"),
        "total_dvs": 0 if none else None,
    }


def _bytes(snapshot: Snapshot, found: dict[str, Any]) -> dict[str, Any]:
    """`*-files-size` of a summary includes delete files: it is the size of the data only if there are none."""
    summary = snapshot.summary
    return {
        "total_bytes": _size(
            found["total_data_files"], found["total_delete_files"], number(summary, "total-files-size")
        ),
        "total_delete_bytes": 0 if found["total_delete_files"] == 0 else None,
        "added_bytes": _size(
            found["added_data_files"], found["added_delete_files"], number(summary, "added-files-size")
        ),
        "removed_bytes": _size(
            found["removed_data_files"], found["removed_delete_files"], number(summary, "removed-files-size")
        ),
    }


def _size(data_files: object, delete_files: object, said: int | None) -> int | None:
    if data_files == 0:
        return 0
    return said if delete_files == 0 else None


def _live(manifests: list[ManifestFile], what: str) -> int | None:
    if what == "files":
        return _sum(_plus(m.added_files, m.existing_files) for m in manifests)
    return _sum(_plus(m.added_rows, m.existing_rows) for m in manifests)


def _plus(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else a + b


def _sum(values: Iterable[int | None]) -> int | None:
    """The sum; None if a value is unknown, or if plausible values add up to more than a column holds."""
    total = 0
    for value in values:
        if value is None:
            return None
        total += value
    return total if total <= _MAX_LONG else None
