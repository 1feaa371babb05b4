"""Where the files of a table are, if not below its location: those that it imported, or wrote elsewhere."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from limnograph.adapters.iceberg.held.listed import live_paths
from limnograph.adapters.iceberg.reader import IcebergReader
from limnograph.adapters.iceberg.sums.fetching import MAX_AVRO_BYTES
from limnograph.domain.errors import MetadataError
from limnograph.domain.metadata.manifests import ManifestFile
from limnograph.domain.metadata.table import TableMetadata
from limnograph.ports.storage import Storage

MOST_FOLDERS = 100_000
_THREADS = 4


def foreign_folders(storage: Storage, reader: IcebergReader, metadata: TableMetadata) -> list[str]:
    """Folders of the data and delete files, manifests and manifest lists of all snapshots. O(their entries). Raises
    MetadataError if a manifest list or manifest is missing or damaged, SourceError.
    """
    manifests = {each.path: each for snapshot in metadata.ordered for each in reader.manifests(snapshot)}
    lists = [each.manifest_list for each in metadata.ordered if each.manifest_list]
    root = metadata.location.rstrip("/") + "/"
    found = _folders([*manifests, *lists], root)

    def read(manifest: ManifestFile) -> set[str]:
        return _folders(live_paths(storage.read(manifest.path, MAX_AVRO_BYTES), manifest), root)

    with ThreadPoolExecutor(_THREADS) as pool:
        for own in pool.map(read, manifests.values()):
            found |= own
            if len(found) > MOST_FOLDERS:
                raise MetadataError("too_many_folders", f"{metadata.location} has files in too many other folders")
    return sorted(found)


def _folders(paths: list[str], root: str) -> set[str]:
    return {each.rpartition("/")[0] for each in paths if not each.startswith(root)}
