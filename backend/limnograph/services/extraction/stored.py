"""What a table stores, read on request: its bytes, and the files of one snapshot. Runs in the killable child."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from limnograph.domain.advice.document import NotKnown, TableBytes
from limnograph.domain.answers.storage import StorageReading, StorageTree, StoredFile
from limnograph.domain.errors import MetadataError, SourceError
from limnograph.domain.metadata.table import TableMetadata
from limnograph.domain.time import Millis
from limnograph.ports.table_planner import TablePlanner
from limnograph.services.extraction.private_partitions import HIDDEN, PrivatePartitions


def storage_reading(
    metadata: TableMetadata,
    planner: TablePlanner | None,
    *,
    snapshot_id: int | None,
    now: Millis,
    private: Sequence[str],
) -> StorageReading:
    """A table's storage at `now`. `snapshot_id`: of the tree; None: main's current snapshot. `private`: patterns of
    columns whose values may be in no path. What cannot be read is a reason, not an error.
    """
    size, size_missing = _bytes(metadata, planner, now)
    tree, tree_missing = _tree(metadata, planner, metadata.head_id if snapshot_id is None else snapshot_id)
    if tree is not None and PrivatePartitions(metadata, private):
        tree = _hidden_tree(tree)
    return StorageReading(bytes=size, bytes_missing=size_missing, tree=tree, tree_missing=tree_missing)


def _bytes(metadata: TableMetadata, planner: TablePlanner | None, now: Millis) -> tuple[TableBytes | None, str | None]:
    if planner is None:
        return None, f"bytes by snapshot are not read for tables of format {metadata.format}"
    try:
        found = planner.held(metadata, now, frozenset())
    except SourceError as error:
        return None, f"storage did not respond: {error.detail}"
    return (None, found.missing) if isinstance(found, NotKnown) else (found.bytes, None)


def _tree(
    metadata: TableMetadata, planner: TablePlanner | None, snapshot_id: int | None
) -> tuple[StorageTree | None, str | None]:
    if planner is None or metadata.format != "iceberg":
        return None, f"files are not listed for tables of format {metadata.format}"
    if snapshot_id is None:
        return None, "nothing was committed to the table"
    snapshot = metadata.snapshots.get(snapshot_id)
    if snapshot is None:
        return None, f"snapshot {snapshot_id} is not retained"
    try:
        return planner.tree(metadata, snapshot), None
    except (MetadataError, SourceError) as error:
        return None, f"a metadata file of the snapshot cannot be read: {error.detail}"


def _hidden_tree(tree: StorageTree) -> StorageTree:
    manifests = [replace(each, largest=list(map(_hidden, each.largest))) for each in tree.manifests]
    return replace(tree, manifests=manifests, largest=list(map(_hidden, tree.largest)))


def _hidden(file: StoredFile) -> StoredFile:
    """The file without its folder, which contains the values of partition columns."""
    return replace(file, path=f"{HIDDEN}/{file.path.rpartition('/')[2]}")
