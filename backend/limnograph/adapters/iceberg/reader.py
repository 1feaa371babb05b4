"""Port TableReader for Iceberg: a snapshot's numbers from its manifest list and the sums of its manifests."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from limnograph.adapters.iceberg.manifests.lists import parse_manifest_list
from limnograph.adapters.iceberg.metadata.metadata import MAX_METADATA_BYTES, parse_metadata
from limnograph.adapters.iceberg.sums.agreement import compared
from limnograph.adapters.iceberg.sums.cache import ManifestCache, TableCache
from limnograph.adapters.iceberg.sums.column_totals import ColumnTotals
from limnograph.adapters.iceberg.sums.content import SnapshotSums
from limnograph.adapters.iceberg.sums.fetching import MAX_AVRO_BYTES, ManifestFetcher, code_of, detail_of
from limnograph.adapters.iceberg.sums.file_columns import FileColumns, ScopedDeletes
from limnograph.adapters.iceberg.sums.shape import MAX_FILES, LiveFiles, file_shape, nulls_place, overlap_field
from limnograph.adapters.iceberg.sums.table_sums import Line, lines_of
from limnograph.analysis.shape import wrote_much
from limnograph.domain.errors import MetadataError
from limnograph.domain.metadata.content import Reading, Shape, Want
from limnograph.domain.metadata.manifests import ManifestFile
from limnograph.domain.metadata.table import Snapshot, TableMetadata
from limnograph.ports.storage import Storage

TOO_LARGE = "shape_too_large"


class IcebergReader:
    """Reads tables of one storage.

    cache  shared between readers; None: a cache for the life of this reader
    most   maximum new manifests of a snapshot; with more it raises MetadataError (MANY_MANIFESTS) and reads none; 0:
           unlimited
    """

    def __init__(self, storage: Storage, cache: ManifestCache | None = None, most: int = 0) -> None:
        self._storage, self._cache = storage, cache or ManifestCache()
        self._fetching = ManifestFetcher(storage, most)

    def metadata(self, location: str) -> TableMetadata:
        return parse_metadata(self._storage.read(location, MAX_METADATA_BYTES), location)

    def read(self, metadata: TableMetadata, snapshot: Snapshot, want: Want) -> Reading:
        try:
            manifests = self.manifests(snapshot)
        except MetadataError as error:
            code, place = code_of("manifest_list", error), snapshot.manifest_list
            detail = error.detail if place is None else detail_of(place, error)
            return Reading(tier="summary", problems=(code,), details={code: detail})
        if not want.entries and all(m.added_files is not None for m in manifests):
            return Reading(tier="manifest_list", manifests=manifests)
        table = self._cache.table(metadata, overlap_field(metadata))
        with table.lock:
            return self._entries(table, manifests, metadata, snapshot, want)

    def _entries(
        self,
        table: TableCache,
        manifests: list[ManifestFile],
        metadata: TableMetadata,
        snapshot: Snapshot,
        want: Want,
    ) -> Reading:
        lines = lines_of(manifests)
        fits = keeps_files(manifests)
        shaped = _wrote_much(snapshot, manifests) if want.shape is None else want.shape
        columns = ColumnTotals(want.columns, snapshot.snapshot_id) if want.columns else None
        fetched = self._fetching.complete(
            table, metadata, manifests, lines, keep=fits, files=fits and shaped, columns=columns
        )
        try:
            if fetched.problems:
                return Reading(
                    tier="manifest_list", manifests=manifests, problems=fetched.problems, details=fetched.details
                )
            sums = SnapshotSums(metadata, snapshot, table.sums, table.sums.weights(lines))
            shape, notes = _shape(table, lines, metadata, sums) if shaped else (None, ())
            notes = (*(fetched.notes or notes), *compared(table.sums, lines, manifests))
            content = sums.content(want, shape)
            known = columns is not None and self._fetching.complete_columns(columns, manifests)
        except MetadataError as error:
            code = code_of("manifest", error)
            return Reading(tier="manifest_list", manifests=manifests, problems=(code,), details={code: error.detail})
        finally:
            # A backfill reads older snapshots after newer ones; they must not prune what the head needs.
            self._cache.settle(table, lines, wrote=fetched.wrote and snapshot.snapshot_id == metadata.head_id)
        stats = columns.stats() if columns is not None and known else None
        return Reading(tier="entries", manifests=manifests, content=content, notes=notes, columns=stats)

    def manifests(self, snapshot: Snapshot) -> list[ManifestFile]:
        """Lines of the snapshot's manifest list. Raises MetadataError, SourceError."""
        if snapshot.manifest_list is not None:
            return parse_manifest_list(self._storage.read(snapshot.manifest_list, MAX_AVRO_BYTES))
        if snapshot.manifests is not None:
            # Format v1 may list manifests in the metadata itself; then only their paths are known.
            return [ManifestFile(path=path) for path in snapshot.manifests]
        raise MetadataError("file_missing", f"snapshot {snapshot.snapshot_id} has no manifest list")


def keeps_files(manifests: Sequence[ManifestFile]) -> bool:
    """Whether to keep the file columns of a snapshot's manifests: only if its shape is computed."""
    return (_listed(manifests) or 0) <= MAX_FILES


def _listed(manifests: Sequence[ManifestFile]) -> int | None:
    """Live data files according to the manifest list; None if one of its lines omits the count."""
    total = 0
    for manifest in manifests:
        if manifest.added_files is None or manifest.existing_files is None:
            return None
        if not manifest.deletes:
            total += manifest.added_files + manifest.existing_files
    return total


def _wrote_much(snapshot: Snapshot, manifests: Sequence[ManifestFile]) -> bool:
    own = sum(manifest.added_snapshot_id == snapshot.snapshot_id for manifest in manifests)
    return wrote_much(own, len(manifests))


def _shape(
    table: TableCache, lines: Sequence[Line], metadata: TableMetadata, sums: SnapshotSums
) -> tuple[Shape, tuple[str, ...]]:
    """The shape, and notes about it. A list that understates its number of files does not bypass the limit."""
    found = sums.partition_shape()
    files = [table.files.get(line) for line in lines]
    if sums.data_files > MAX_FILES or None in files:
        return Shape(**found), (TOO_LARGE,)
    data = [(line, part) for line, part in zip(lines, files, strict=True) if isinstance(part, FileColumns)]
    columns = LiveFiles(
        columns=[part for _, part in data],
        spec_ids=[table.sums.spec_id(line) for line, _ in data],
        places=[table.sums.places(line)[part.partition] for line, part in data],
        deletes=[part for part in files if isinstance(part, ScopedDeletes)],
        nulls=nulls_place(metadata, table.sums.partitions),
    )
    return structs.replace(file_shape(metadata, columns), **found), ()
