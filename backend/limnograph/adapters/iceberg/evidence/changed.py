"""Files that single commits added and removed, by partition: from the manifests that these commits wrote.

Cost law: O(manifest lists + entries of the manifests) of the commits, not of the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from limnograph.adapters.iceberg.manifests.entries import ADDED, DATA, DELETED, POSITION_DELETES, Entries
from limnograph.adapters.iceberg.manifests.manifest import DELETE_FILE_PATH, decode_manifest
from limnograph.adapters.iceberg.reader import IcebergReader
from limnograph.adapters.iceberg.sums.fetching import MAX_AVRO_BYTES, spec_id_of
from limnograph.analysis.advice.files_digest import files_digest
from limnograph.domain.maintenance.evidence import ChangedFiles
from limnograph.domain.metadata.manifests import ManifestFile, PartitionKey
from limnograph.domain.metadata.table import Snapshot
from limnograph.ports.storage import Storage

_Flags = npt.NDArray[np.bool_]


class FileRows(NamedTuple):
    """One row per file. `place`: index into `partitions`; `content`, `size`, `records`: as in Entries; `path`: hash.

    A deletion vector has the path of its Puffin file.
    """

    partitions: list[PartitionKey]
    place: npt.NDArray[np.int64]
    content: npt.NDArray[np.int8]
    size: npt.NDArray[np.int64]
    records: npt.NDArray[np.int64]
    path: npt.NDArray[np.uint64]

    def only(self, rows: _Flags) -> FileRows:
        """Some of the files."""
        columns: list[Any] = [column[rows] for column in self[1:]]
        return FileRows(self.partitions, *columns)

    @property
    def data(self) -> FileRows:
        """Data files."""
        return self.only(self.content == DATA)

    @property
    def deletes(self) -> FileRows:
        """Delete files."""
        return self.only(self.content != DATA)

    @property
    def position_deletes(self) -> FileRows:
        """Position delete files and deletion vectors."""
        return self.only(self.content == POSITION_DELETES)

    def of(self, partitions: Sequence[PartitionKey]) -> _Flags:
        """Which files belong to one of the partitions."""
        wanted = set(partitions)
        chosen = np.array([key in wanted for key in self.partitions], np.bool_)
        return chosen[self.place] if self.place.size else np.zeros(0, np.bool_)

    def changed(self) -> ChangedFiles:
        """Sums over distinct files."""
        _, first = np.unique(np.stack([self.path, self.size.astype(np.uint64)], axis=1), axis=0, return_index=True)
        return ChangedFiles(
            files=int(first.size),
            bytes=int(self.size[first].sum()),
            rows=int(self.records[first].sum()),
            sha256=files_digest(self.path[first], self.size[first]),
        )


class CommitFiles(NamedTuple):
    """Files of some commits."""

    added: FileRows
    removed: FileRows


def files_of_commits(storage: Storage, reader: IcebergReader, commits: Sequence[Snapshot]) -> CommitFiles:
    """What the commits added and removed. Raises MetadataError, SourceError."""
    read: list[tuple[Entries, int, int]] = []
    for commit in commits:
        own = [each for each in reader.manifests(commit) if each.added_snapshot_id == commit.snapshot_id]
        read += [(entries, spec_id_of(each, entries), commit.snapshot_id) for each, entries in _decoded(storage, own)]
    added = [(e, spec, (e.status == ADDED) & (e.snapshot == own)) for e, spec, own in read]
    removed = [(e, spec, (e.status == DELETED) & (e.snapshot == own)) for e, spec, own in read]
    return CommitFiles(_columns(added), _columns(removed))


def live_files_of(storage: Storage, reader: IcebergReader, snapshot: Snapshot) -> FileRows:
    """All live files of a snapshot. O(entries of its manifests). Raises MetadataError, SourceError."""
    read = _decoded(storage, reader.manifests(snapshot))
    return _columns([(entries, spec_id_of(each, entries), entries.status != DELETED) for each, entries in read])


def _decoded(storage: Storage, manifests: Sequence[ManifestFile]) -> list[tuple[ManifestFile, Entries]]:
    found = []
    for each in manifests:
        content = storage.read(each.path, MAX_AVRO_BYTES)
        bounds_of = DELETE_FILE_PATH if each.deletes else None
        found.append((each, decode_manifest(content, each, bounds_of=bounds_of, paths=True)))
    return found


def _columns(parts: Sequence[tuple[Entries, int, _Flags]]) -> FileRows:
    numbers: dict[PartitionKey, int] = {}
    places = [np.zeros(0, np.int64)]
    for entries, spec_id, rows in parts:
        own = [numbers.setdefault((spec_id, text), len(numbers)) for text in entries.partitions]
        places.append(np.array(own, np.int64)[entries.partition[rows]] if own else np.zeros(0, np.int64))

    def column(dtype: Any, name: str) -> npt.NDArray[Any]:
        return np.concatenate([np.zeros(0, dtype), *(getattr(e, name)[rows] for e, _, rows in parts)])

    paths = [e.paths.file[rows] for e, _, rows in parts if e.paths is not None]
    return FileRows(
        partitions=list(numbers),
        place=np.concatenate(places),
        content=column(np.int8, "content"),
        size=column(np.int64, "size"),
        records=column(np.int64, "records"),
        path=np.concatenate([np.zeros(0, np.uint64), *paths]),
    )
