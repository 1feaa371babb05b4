"""Port TableReader for Iceberg: fetches through a Storage, decodes, and keeps what never changes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

from limnograph.adapters.iceberg.content import content_of
from limnograph.adapters.iceberg.manifest_list import parse_manifest_list
from limnograph.adapters.iceberg.manifests import sum_manifest
from limnograph.adapters.iceberg.metadata import MAX_METADATA_BYTES, parse_metadata
from limnograph.domain.content import Reading, Want
from limnograph.domain.errors import MetadataError
from limnograph.domain.manifests import ManifestFile, ManifestSum
from limnograph.domain.metadata import Snapshot, TableMetadata
from limnograph.ports.storage import Storage

MAX_AVRO_BYTES = 1 << 30
_V = TypeVar("_V")


class Kept(Generic[_V]):
    """Least recently used values within a budget of weight."""

    def __init__(self, budget: int, weigh: Callable[[_V], int]) -> None:
        self._budget, self._weigh, self._weight = budget, weigh, 0
        self._values: OrderedDict[object, _V] = OrderedDict()

    def get(self, key: object, make: Callable[[], _V]) -> _V:
        """The kept value, else a new one; errors are not kept."""
        if key in self._values:
            self._values.move_to_end(key)
            return self._values[key]
        value = self._values[key] = make()
        self._weight += self._weigh(value)
        while self._weight > self._budget and len(self._values) > 1:
            self._weight -= self._weigh(self._values.popitem(last=False)[1])
        return value


def _weight(total: ManifestSum) -> int:
    """Partitions and touched partitions dominate what a sum costs in memory."""
    return 10 + len(total.partitions) + sum(len(delta.touched) for delta in total.deltas.values())


MANIFESTS_KEPT: Kept[ManifestSum] = Kept(500_000, _weight)
"""Sums by path for the life of the process: Spark reuses its Python workers, so passes share it."""


_ENDINGS = {"file_missing": "missing", "storage_unavailable": "unavailable", "location_refused": "refused"}
"""Endings of problem codes by what went wrong with the file; anything else is `unreadable`."""


class IcebergReader:
    """Reads one storage. `kept` is shared between the tables of a process."""

    def __init__(self, storage: Storage, kept: Kept[ManifestSum] = MANIFESTS_KEPT) -> None:
        self._storage = storage
        self._kept = kept

    def metadata(self, location: str) -> TableMetadata:
        return parse_metadata(self._storage.read(location, MAX_METADATA_BYTES), location)

    def read(self, metadata: TableMetadata, snapshot: Snapshot, want: Want) -> Reading:
        try:
            manifests = self._manifests(snapshot)
        except MetadataError as error:
            return Reading(tier="summary", problems=(_code("manifest_list", error),))
        if not want.entries and all(m.added_files is not None for m in manifests):
            return Reading(tier="manifest_list", manifests=manifests)
        try:
            sums = [self._sum(manifest, metadata.target_file_bytes) for manifest in manifests]
        except MetadataError as error:
            return Reading(tier="manifest_list", manifests=manifests, problems=(_code("manifest", error),))
        return Reading(tier="entries", manifests=manifests, content=content_of(metadata, snapshot, sums, want))

    def _manifests(self, snapshot: Snapshot) -> list[ManifestFile]:
        if snapshot.manifest_list is not None:
            return parse_manifest_list(self._storage.read(snapshot.manifest_list, MAX_AVRO_BYTES))
        if snapshot.manifests is not None:
            # Format v1 may list manifests in the metadata itself; then nothing but their paths is known.
            return [ManifestFile(path=path) for path in snapshot.manifests]
        raise MetadataError("file_missing", f"snapshot {snapshot.snapshot_id} names no manifest list")

    def _sum(self, manifest: ManifestFile, target_bytes: int | None) -> ManifestSum:
        def make() -> ManifestSum:
            return sum_manifest(self._storage.read(manifest.path, MAX_AVRO_BYTES), manifest, target_bytes)

        return self._kept.get((manifest.path, manifest.spec_id, target_bytes), make)


def _code(what: str, error: MetadataError) -> str:
    return f"{what}_{_ENDINGS.get(error.code, 'unreadable')}"
