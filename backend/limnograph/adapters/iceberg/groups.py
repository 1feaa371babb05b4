"""Reading many new manifests of one table in parallel: which manifests to read, and one group of them as cache values.

A manifest's sums depend on the manifest alone, so any reader can compute them. The table's facts are then built from
the cache as if one reader had filled it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from limnograph.adapters.iceberg.reader import IcebergReader, keeps_files
from limnograph.adapters.iceberg.sums.cache import ManifestCache, sealed_rows
from limnograph.adapters.iceberg.sums.fetching import Work
from limnograph.adapters.iceberg.sums.shape import overlap_field
from limnograph.adapters.iceberg.sums.table_sums import Line, lines_of
from limnograph.domain.errors import MetadataError
from limnograph.domain.metadata.manifests import CacheRow, ManifestFile, ManifestWork
from limnograph.domain.metadata.table import Snapshot, TableMetadata
from limnograph.ports.storage import Storage


def unread(
    reader: IcebergReader, cache: ManifestCache, metadata: TableMetadata, snapshots: Sequence[Snapshot]
) -> ManifestWork:
    """Manifests of these snapshots that the cache lacks. A damaged list counts as empty. Raises SourceError."""
    wanted: dict[Line, ManifestFile] = {}
    keep = True
    for snapshot in snapshots:
        try:
            manifests = reader.manifests(snapshot)
        except MetadataError:
            continue
        keep = keep and keeps_files(manifests)
        wanted.update(zip(lines_of(manifests), manifests, strict=True))
    table = cache.table(metadata, overlap_field(metadata))
    with table.lock:
        table.recall(wanted, files=False)
        absent = table.unknown(wanted, files=False)
    return ManifestWork(table.key.name, table.small_below, table.bounds_of, keep, [wanted[line] for line in absent])


def read_group(storage: Storage, work: ManifestWork) -> Iterator[CacheRow]:
    """Values of these manifests; damaged ones are skipped. Raises SourceError."""
    reading = Work(storage, work.small_below, work.bounds_of, work.keep)
    for line, result in zip(lines_of(work.manifests), reading.results(work.manifests), strict=True):
        try:
            learnt = (line, *result())
        except MetadataError:
            continue
        for kind, values in sealed_rows([learnt], work.small_below, work.bounds_of).items():
            yield from (CacheRow(kind, key, value) for key, value in values.items())
