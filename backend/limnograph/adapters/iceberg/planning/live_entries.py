"""All live files of a snapshot as columns, with the partition and the commit of each. O(entries of its manifests)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from limnograph.adapters.iceberg.manifests.entries import DELETED, Entries
from limnograph.adapters.iceberg.manifests.manifest import DELETE_FILE_PATH, decode_manifest
from limnograph.adapters.iceberg.sums.fetching import MAX_AVRO_BYTES, spec_id_of
from limnograph.domain.metadata.manifests import ManifestFile, PartitionKey
from limnograph.ports.storage import Storage

Longs = npt.NDArray[np.int64]
_THREADS = 2


class LiveEntries(NamedTuple):
    """One row per live file, data and deletes, in the order of the manifest list.

    place    index into `partitions`
    content  as in Entries
    path     hash of the file's path; `target`: of the data file that a delete file applies to, or 0
    writer   snapshot that added the file
    removed  `(place, snapshot)` of entries of removed files
    """

    partitions: list[PartitionKey]
    values: list[tuple[Any, ...]]
    place: Longs
    content: npt.NDArray[np.int8]
    is_dv: npt.NDArray[np.bool_]
    size: Longs
    records: Longs
    path: npt.NDArray[np.uint64]
    target: npt.NDArray[np.uint64]
    writer: Longs
    removed: tuple[Longs, Longs]


def live_entries(storage: Storage, manifests: Sequence[ManifestFile]) -> LiveEntries:
    """Read all manifests of a snapshot. Raises MetadataError if one is damaged, SourceError."""

    def read(manifest: ManifestFile) -> Entries:
        content = storage.read(manifest.path, MAX_AVRO_BYTES)
        bounds_of = DELETE_FILE_PATH if manifest.deletes else None
        return decode_manifest(content, manifest, bounds_of=bounds_of, paths=True, values=True)

    with ThreadPoolExecutor(_THREADS) as pool:
        parts = list(pool.map(read, manifests))
    return _joined(parts, [spec_id_of(manifest, part) for manifest, part in zip(manifests, parts, strict=True)])


def _joined(parts: Sequence[Entries], spec_ids: Sequence[int]) -> LiveEntries:
    numbers: dict[PartitionKey, int] = {}
    values: list[tuple[Any, ...]] = []
    places: list[Longs] = []
    for part, spec_id in zip(parts, spec_ids, strict=True):
        own = []
        for text, value in zip(part.partitions, part.partition_values or [], strict=True):
            number = numbers.setdefault((spec_id, text), len(numbers))
            if number == len(values):
                values.append(value)
            own.append(number)
        places.append(np.array(own, np.int64)[part.partition] if own else np.zeros(0, np.int64))
    gone = [part.status == DELETED for part in parts]
    live = [np.flatnonzero(~each) for each in gone]
    paths = [part.paths for part in parts]

    def column(dtype: Any, columns: Iterable[npt.NDArray[Any]]) -> npt.NDArray[Any]:
        return np.concatenate([np.zeros(0, dtype), *(each[rows] for each, rows in zip(columns, live, strict=True))])

    def removed(columns: Iterable[Longs]) -> Longs:
        return np.concatenate([np.zeros(0, np.int64), *(c[rows] for c, rows in zip(columns, gone, strict=True))])

    snapshots = [part.snapshot for part in parts]
    return LiveEntries(
        partitions=list(numbers),
        values=values,
        place=column(np.int64, places),
        content=column(np.int8, (part.content for part in parts)),
        is_dv=column(np.bool_, (part.is_dv for part in parts)),
        size=column(np.int64, (part.size for part in parts)),
        records=column(np.int64, (part.records for part in parts)),
        path=column(np.uint64, (each.file for each in paths if each is not None)),
        target=column(np.uint64, (each.target for each in paths if each is not None)),
        writer=column(np.int64, snapshots),
        removed=(removed(places), removed(snapshots)),
    )
