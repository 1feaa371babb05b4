"""Whether the files that snapshots reach exist: all of a small table, a sample of a large one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from limnograph.adapters.iceberg.held.listed import live_paths
from limnograph.adapters.iceberg.reader import IcebergReader
from limnograph.adapters.iceberg.sums.fetching import MAX_AVRO_BYTES
from limnograph.domain.errors import MetadataError
from limnograph.domain.maintenance.evidence import CHECKED_ALL, CHECKED_SAMPLE, MOST_MISSING
from limnograph.domain.metadata.manifests import ManifestFile
from limnograph.domain.metadata.table import Snapshot
from limnograph.ports.storage import Storage

_THREADS = 4


class FoundFiles(NamedTuple):
    """Files that were checked, and those that do not exist: at most MOST_MISSING of them, and their number."""

    checked: int
    missing: list[str]
    missing_count: int


def check_files(storage: Storage, reader: IcebergReader, snapshots: Iterable[Snapshot]) -> FoundFiles:
    """Check live data and delete files of the snapshots, each manifest and each file once. Raises MetadataError if a
    manifest list or manifest is missing or damaged, SourceError.
    """
    manifests = {each.path: each for snapshot in snapshots for each in reader.manifests(snapshot)}
    paths = _chosen(storage, list(manifests.values()))
    with ThreadPoolExecutor(_THREADS) as pool:
        exist = list(pool.map(lambda path: _exists(storage, path), paths))
    missing = [path for path, there in zip(paths, exist, strict=True) if not there]
    return FoundFiles(len(paths), missing[:MOST_MISSING], len(missing))


def _chosen(storage: Storage, manifests: Sequence[ManifestFile]) -> list[str]:
    """All distinct paths, or a sample evenly spread over the manifests."""
    found: dict[str, None] = {}
    sampled = dict[str, None]()
    each_gives = max(1, -(-CHECKED_SAMPLE // max(1, len(manifests))))
    for manifest in manifests:
        paths = live_paths(storage.read(manifest.path, MAX_AVRO_BYTES), manifest)
        step = max(1, len(paths) // each_gives)
        sampled |= dict.fromkeys(paths[::step][:each_gives])
        if len(found) <= CHECKED_ALL:
            found |= dict.fromkeys(paths)
    return list(found if len(found) <= CHECKED_ALL else sampled)[: max(CHECKED_ALL, CHECKED_SAMPLE)]


def _exists(storage: Storage, path: str) -> bool:
    try:
        storage.size(path)
    except MetadataError as error:
        if error.code != "file_missing":
            raise
        return False
    return True
