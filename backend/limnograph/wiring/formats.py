"""Table formats: detects the format of a folder, and provides its reader, which is imported on first use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from limnograph.adapters.sandbox.messages import StorageAccess
from limnograph.adapters.storage.allowed import table_folder
from limnograph.ports.storage import Storage
from limnograph.ports.table_planner import TablePlanner
from limnograph.ports.table_reader import TableReader

_POINTERS = (".json", ".json.gz")
_LOGS = (("delta", "_delta_log"), ("hudi", ".hoodie"), ("hudi", ".hoodie/timeline"), ("iceberg", "metadata"))


class Format(NamedTuple):
    """How to read tables of one format: `reader` builds a reader over a storage, `newest` finds the newest pointer in a
    table's folder; `planner` reads what plans need, None if the format has none.
    """

    reader: Callable[[Storage, StorageAccess], TableReader]
    newest: Callable[[str, Storage], str]
    planner: Callable[[Storage], TablePlanner] | None = None


def iceberg() -> Format:
    """Iceberg; caches the numbers of manifests in the cache folder."""
    from limnograph.adapters.iceberg.metadata.locate import newest_metadata
    from limnograph.adapters.iceberg.planning.planner import IcebergPlanner
    from limnograph.adapters.iceberg.reader import IcebergReader
    from limnograph.adapters.iceberg.sums.cache import shared_cache

    def reader(storage: Storage, access: StorageAccess) -> IcebergReader:
        return IcebergReader(storage, shared_cache(access.cache_dir), access.most_manifests)

    return Format(reader, newest_metadata, IcebergPlanner)


def delta() -> Format:
    """Delta Lake; keeps log files and the latest states in memory."""
    from limnograph.adapters.delta.log import newest_version
    from limnograph.adapters.delta.planning.planner import DeltaPlanner
    from limnograph.adapters.delta.reader import DeltaReader

    return Format(lambda storage, _access: DeltaReader(storage), newest_version, DeltaPlanner)


def hudi() -> Format:
    """Apache Hudi."""
    from limnograph.adapters.hudi.locate import newest_instant
    from limnograph.adapters.hudi.reader import HudiReader

    return Format(lambda storage, _access: HudiReader(storage), newest_instant)


FORMATS: Mapping[str, Callable[[], Format]] = {"iceberg": iceberg, "delta": delta, "hudi": hudi}


def table_of(location: str) -> str:
    """A table's folder, for a location that is this folder, the folder of its log, or a file in that."""
    if location.endswith(_POINTERS):
        return table_folder(location)
    from limnograph.adapters.delta.log import table_root as delta_root
    from limnograph.adapters.hudi.locate import table_root as hudi_root

    return hudi_root(delta_root(location))


def format_of(location: str, folder: str, storage: Storage) -> str | None:
    """Format of a table, by the folder of its log; a metadata file without such a folder is Iceberg's. None: there is
    no table.
    """
    for name, log in _LOGS:
        if storage.list(f"{folder.rstrip('/')}/{log}"):
            return name
    return "iceberg" if location.endswith(_POINTERS) else None
