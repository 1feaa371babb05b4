"""The files of one snapshot: metadata file, manifest list, manifests with the bytes of their files, the largest files.

Cost law: O(manifests + entries) of the snapshot, each manifest read once; memory O(manifests).
"""

from __future__ import annotations

import heapq
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from limnograph.adapters.iceberg.held.listed import FoundFile, ManifestListing, listed_files
from limnograph.adapters.iceberg.manifests.lists import parse_manifest_list
from limnograph.adapters.iceberg.sums.fetching import MAX_AVRO_BYTES
from limnograph.domain.answers.storage import StorageTree, StoredFile, StoredManifest
from limnograph.domain.errors import MetadataError
from limnograph.domain.metadata.manifests import ManifestFile
from limnograph.domain.metadata.table import Snapshot, TableMetadata
from limnograph.ports.storage import Storage

LARGEST, LARGEST_OF_MANIFEST, SHOWN = 20, 5, 100
MAX_ENTRIES = 5_000_000
"""Maximum entries that a snapshot's manifest list may claim for its tree to be read."""
_THREADS = min(4, os.cpu_count() or 1)
_AT_ONCE = 32


def storage_tree(storage: Storage, metadata: TableMetadata, snapshot: Snapshot) -> StorageTree:
    """Files of a snapshot. Raises MetadataError if one of its metadata files cannot be read, or it has too many files;
    SourceError if storage does not respond.
    """
    listed, list_bytes = _listed(storage, snapshot)
    claimed = sum((each.added_files or 0) + (each.existing_files or 0) for each in listed)
    if claimed > MAX_ENTRIES:
        raise MetadataError("file_too_large", f"the snapshot has {claimed:,} files, more than {MAX_ENTRIES:,}")
    manifests: list[StoredManifest] = []
    largest: list[FoundFile] = []
    for each, (length, found) in zip(listed, _contents(storage, listed), strict=True):
        manifests.append(_stored(each, length, found))
        largest = heapq.nlargest(LARGEST, [*largest, *found.largest])
    return StorageTree(
        snapshot_id=str(snapshot.snapshot_id),
        metadata_path=metadata.metadata_location,
        metadata_bytes=metadata.size_bytes,
        list_path=snapshot.manifest_list,
        list_bytes=list_bytes,
        manifest_count=len(manifests),
        manifest_bytes=sum(each.bytes for each in manifests),
        files=sum(each.files for each in manifests),
        file_bytes=sum(each.file_bytes for each in manifests),
        manifests=heapq.nlargest(SHOWN, manifests, key=lambda each: (each.file_bytes, each.path)),
        largest=[_file(each) for each in largest],
    )


def _listed(storage: Storage, snapshot: Snapshot) -> tuple[list[ManifestFile], int | None]:
    """Manifests of a snapshot, each once, and bytes of its list."""
    if snapshot.manifest_list is not None:
        content = storage.read(snapshot.manifest_list, MAX_AVRO_BYTES)
        found, size = parse_manifest_list(content), len(content)
    elif snapshot.manifests is not None:
        found, size = [ManifestFile(path=path) for path in snapshot.manifests], None
    else:
        raise MetadataError("file_missing", f"snapshot {snapshot.snapshot_id} has no manifest list")
    return list({each.path: each for each in found}.values()), size


def _contents(storage: Storage, manifests: Sequence[ManifestFile]) -> Iterator[tuple[int, ManifestListing]]:
    with ThreadPoolExecutor(_THREADS) as pool:
        for start in range(0, len(manifests), _AT_ONCE):
            yield from pool.map(partial(_content, storage), manifests[start : start + _AT_ONCE])


def _content(storage: Storage, manifest: ManifestFile) -> tuple[int, ManifestListing]:
    content = storage.read(manifest.path, MAX_AVRO_BYTES)
    return len(content), listed_files(content, manifest, LARGEST)


def _stored(manifest: ManifestFile, length: int, found: ManifestListing) -> StoredManifest:
    return StoredManifest(
        path=manifest.path,
        content="deletes" if found.deletes else "data",
        spec_id=manifest.spec_id,
        added_by=None if manifest.added_snapshot_id is None else str(manifest.added_snapshot_id),
        bytes=length,
        files=found.files,
        file_bytes=found.bytes,
        largest=[_file(each) for each in found.largest[:LARGEST_OF_MANIFEST]],
    )


def _file(file: FoundFile) -> StoredFile:
    return StoredFile(path=file.path, content=file.content, bytes=file.size, records=file.records)
