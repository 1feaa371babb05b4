"""Where other tables keep their files, from their own metadata: before unreferenced files of a table are removed.

A table's `write.data.path` or `write.metadata.path` may lead into the folder of another one (hazard H7). Cost: one
metadata file for each table that changed since the last removal.
"""

from __future__ import annotations

from collections.abc import Sequence

from limnograph.analysis.maintenance.guards.facts import OtherTable
from limnograph.domain.errors import MetadataError, SourceError
from limnograph.ports.tables import Tables

_PATHS = ("write.data.path", "write.metadata.path", "write.object-storage.path", "write.folder-storage.path")
_METADATA = (".metadata.json", ".metadata.json.gz", ".gz.metadata.json")


class NeighbourFolders:
    """Thread-safe: `_known` maps a metadata file, which never changes, to a value that never changes."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._known: dict[str, tuple[str, ...]] = {}

    def placed(self, others: Sequence[OtherTable] | None) -> list[OtherTable] | None:
        """The tables with all folders that their metadata names. One whose metadata cannot be read has no place, so
        that guards do not hold. Tables without Iceberg metadata keep their files in their own folder.
        """
        return None if others is None else [self._placed(each) for each in others]

    def _placed(self, other: OtherTable) -> OtherTable:
        location = other.metadata_location
        if location is None or not location.endswith(_METADATA):
            return other
        if location not in self._known:
            try:
                found = self._tables.outline(other.name.catalog, "iceberg", location)
            except (MetadataError, SourceError):
                return OtherTable(other.name, table_uuid=other.table_uuid)
            paths = (found.properties.get(key) for key in _PATHS)
            self._known[location] = (found.location, *(path for path in paths if path))
        return other._replace(folders=(*other.folders, *self._known[location]))
