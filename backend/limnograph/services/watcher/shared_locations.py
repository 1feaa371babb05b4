"""Where the names of one table location point: two catalogs, or two names, may have registered the same table."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping

from limnograph.domain.ids import TableName, normalise_location
from limnograph.domain.metadata.table import TableMetadata
from limnograph.domain.watch import PartedTable


class SharedLocations:
    """Used by one thread. A name that cannot be read keeps the head it had."""

    def __init__(self) -> None:
        self._heads: dict[TableName, tuple[str, int | None]] = {}

    def see(self, tables: Mapping[TableName, TableMetadata], listed: Collection[str]) -> None:
        """Take the metadata that was read; names that are no longer listed are forgotten. O(tables)."""
        self._heads.update(
            {name: (normalise_location(metadata.location), metadata.head_id) for name, metadata in tables.items()}
        )
        gone = [name for name in self._heads if str(name) not in listed]
        for name in gone:
            del self._heads[name]

    def parted(self) -> list[PartedTable]:
        """Locations whose names point at different snapshots. O(tables)."""
        names: dict[str, list[TableName]] = defaultdict(list)
        for name, (location, _) in self._heads.items():
            names[location].append(name)
        found = []
        for same in names.values():
            heads = [self._heads[name][1] for name in sorted(same)]
            if len(set(heads)) > 1:
                found.append(PartedTable(sorted(same), heads))
        return found
