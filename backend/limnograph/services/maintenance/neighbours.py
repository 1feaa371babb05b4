"""What other tables own, from their own metadata: before files of a table are deleted.

Files of another table may be in the folder of this one: because its `write.data.path` or `write.metadata.path` leads
there, or because it imported them (hazard H7). And another table may be a copy that shares files (H18).

Cost: before snapshots expire, one metadata file for each table whose uuid is not recorded; before unreferenced files
are removed, the metadata and all manifests of each table that changed since the last removal.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from limnograph.analysis.maintenance.guards.facts import OtherTable
from limnograph.domain.errors import MetadataError, SourceError
from limnograph.domain.ids import TableName
from limnograph.domain.maintenance.actions import DELETING
from limnograph.domain.metadata.due import DueTable
from limnograph.domain.metadata.table import PLACES
from limnograph.ports.action_evidence import FileFolders
from limnograph.ports.tables import Tables

_METADATA = (".metadata.json", ".metadata.json.gz", ".gz.metadata.json")


class _KnownTable(NamedTuple):
    """What a metadata file says. `reached`: folders of its files; None: its manifests were not read."""

    location: str
    table_uuid: str
    folders: tuple[str, ...]
    reached: tuple[str, ...] | None = None


class NeighbourFolders:
    """Thread-safe: a value of `_known` says for which metadata file it holds, and is replaced as a whole."""

    def __init__(self, tables: Tables, files: FileFolders) -> None:
        self._tables, self._files = tables, files
        self._known: dict[TableName, _KnownTable] = {}

    def before(self, action: str, others: Sequence[OtherTable] | None) -> Sequence[OtherTable] | None:
        """The other tables with what guards of an action need of them. One whose metadata or manifests cannot be read
        has no place, so that guards do not hold. Tables without Iceberg metadata keep their files in their own folder.
        """
        if others is None or action not in DELETING:
            return others
        if action == "remove_orphan_files":
            return [self._placed(each) for each in others]
        return [each if each.table_uuid else self._identified(each) for each in others]

    def _identified(self, other: OtherTable) -> OtherTable:
        try:
            known = self._outlined(other)
        except (MetadataError, SourceError):
            return OtherTable(other.name)
        if known is None:
            return other
        return other._replace(table_uuid=known.table_uuid, folders=(*other.folders, *known.folders))

    def _placed(self, other: OtherTable) -> OtherTable:
        """With the folders of all files that its snapshots reach, wherever they are."""
        try:
            known = self._outlined(other)
            if known is None:
                return other
            if known.reached is None:
                reached = self._files.folders(_due_at(other, known))
                known = self._known[other.name] = known._replace(reached=tuple(reached))
        except (MetadataError, SourceError):
            return OtherTable(other.name)
        folders = (*other.folders, *known.folders, *(known.reached or ()))
        return other._replace(table_uuid=known.table_uuid, folders=folders)

    def _outlined(self, other: OtherTable) -> _KnownTable | None:
        """None: it has no Iceberg metadata. Raises MetadataError, SourceError."""
        location = other.metadata_location
        if location is None or not location.endswith(_METADATA):
            return None
        known = self._known.get(other.name)
        if known is None or known.location != location:
            found = self._tables.outline(other.name.catalog, "iceberg", location)
            paths = (found.properties.get(key) for key in PLACES)
            folders = (found.location, *(path for path in paths if path))
            known = self._known[other.name] = _KnownTable(location, found.table_uuid, folders)
        return known


def _due_at(other: OtherTable, known: _KnownTable) -> DueTable:
    return DueTable(
        catalog=other.name.catalog,
        namespace=other.name.namespace,
        table=other.name.table,
        table_uuid=known.table_uuid,
        metadata_location=known.location,
        snapshot_ids=[],
        format="iceberg",
    )
