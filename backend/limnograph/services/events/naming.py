"""Resolves external names to our tables: an OpenLineage dataset, a REST catalog URL, a folder. Rules apply in the order
of their certainty; if none applies, the external name remains. Names are resolved by the configured catalogs and the
currently known tables.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from limnograph.domain.facts.events import RunTable
from limnograph.domain.ids import TableName, escape_level, normalise_location
from limnograph.domain.inbound.notices import folder_of
from limnograph.domain.inbound.selectors import WHOLE, TableSelector, selector_of, split_folder, split_name
from limnograph.services.lake.store import HotStore

LONGEST = 1_000
"""Characters of a name or location that are stored."""
_STORES = ("s3", "s3a", "s3n", "gs", "hdfs", "abfs", "abfss", "wasb", "wasbs", "oss", "cosn", "obs", "adl", "viewfs")


class KnownTable(NamedTuple):
    """A currently known table. `metadata_location`: that of its newest snapshot."""

    name: TableName
    metadata_location: str | None


def known_tables(store: HotStore) -> list[KnownTable]:
    """The currently known tables. O(tables)."""
    tables = store.reading.lake.listed
    return [KnownTable(table.name, table.seen.location) for table in tables if table.name is not None]


class TableIndex(NamedTuple):
    """Known tables by folder, and by namespace and name across catalogs; all `names` and namespaces."""

    by_folder: dict[str, TableName]
    by_suffix: dict[tuple[str, str], list[TableName]]
    names: frozenset[TableName] = frozenset()
    namespaces: frozenset[tuple[str, str]] = frozenset()


class SelectedTable(NamedTuple):
    """A table and the selected part of it."""

    name: TableName
    selector: TableSelector = WHOLE


class TableResolver:
    """`catalogs`: their properties by name. `known` returns the tables and is called again if `version` changed.
    Thread-safe: the index is replaced whole.
    """

    def __init__(
        self,
        catalogs: Mapping[str, Mapping[str, str]],
        known: Callable[[], Collection[KnownTable]] = tuple,
        version: Callable[[], object] = lambda: None,
    ) -> None:
        self._catalogs, self._known, self._version = catalogs, known, version
        self._indexed: tuple[object, TableIndex] | None = None

    def by_catalog(self, catalog: str | None, uri: str | None, levels: Sequence[str]) -> TableName | None:
        """A table in the catalog with this name or address."""
        found = catalog if catalog in self._catalogs else self._at(uri)
        if found is None:
            return None
        inside = levels[1:] if len(levels) > 2 and levels[0] == found else levels
        return _inside(found, inside)

    def by_place(self, place: str | None, levels: Sequence[str]) -> TableName | None:
        """A table in the catalog with this address or warehouse."""
        found = self._at(place)
        return _inside(found, levels) if found else None

    def by_levels(self, levels: Sequence[str]) -> TableName | None:
        """`catalog.namespace.table` with a configured catalog, or a namespace and name that only one table has. None
        for a metadata table: facts about it are not facts about the table.
        """
        found = self.selected_by_levels(levels)
        return None if found is None or found.selector.metadata_table else found.name

    def selected_by_levels(self, levels: Sequence[str]) -> SelectedTable | None:
        """As `by_levels`, including a selector after the table's name."""
        if len(levels) > 2 and levels[0] in self._catalogs:
            return self.settled(_inside(levels[0], levels[1:]))
        for inside in (levels, levels[1:]):
            if found := self._only(inside):
                return SelectedTable(found)
            if (split := _split(inside)) and (found := self._only(split[0])):
                return SelectedTable(found, split[1])
        return None

    def settled(self, name: TableName | None) -> SelectedTable | None:
        """A name as a table: a known one unchanged; else a selector after a table's name is split off, unless known
        tables are below that name.
        """
        if name is None:
            return None
        index = self._index()
        if name in index.names:
            return SelectedTable(name)
        split = _split([*name.namespace.split("."), name.table])
        if split is None:
            return SelectedTable(name)
        *above, table = split[0]
        base = TableName(name.catalog, ".".join(above), table)
        whole_level = base.namespace != name.namespace
        if whole_level and base not in index.names and (name.catalog, name.namespace) in index.namespaces:
            return SelectedTable(name)
        return SelectedTable(base, split[1])

    def _only(self, levels: Sequence[str]) -> TableName | None:
        name = _inside("", levels)
        found = self._index().by_suffix.get((name.namespace, name.table), []) if name else []
        return found[0] if len(found) == 1 else None

    def selected_by_folder(self, location: str | None) -> SelectedTable | None:
        """As `by_folder`, including a folder that is a table's folder followed by a selector."""
        if found := self.by_folder(location):
            return SelectedTable(found)
        split = split_folder(location) if location else None
        return SelectedTable(found, split[1]) if split and (found := self.by_folder(split[0])) else None

    def by_folder(self, location: str | None) -> TableName | None:
        """The table in a folder, or the table of a metadata file."""
        if not location:
            return None
        folder = normalise_location(folder_of(location))
        return self._index().by_folder.get(folder)

    def by_warehouse(self, location: str | None, levels: Sequence[str]) -> TableName | None:
        """A table whose folder is in the warehouse of a catalog: one that was not observed yet."""
        if not location:
            return None
        folder = normalise_location(location) + "/"
        for catalog, properties in self._catalogs.items():
            warehouse = properties.get("warehouse", "")
            if "/" in warehouse and folder.startswith(normalise_location(warehouse) + "/"):
                return _inside(catalog, levels[1:] if len(levels) > 2 and levels[0] == catalog else levels)
        return None

    def by_rest(self, prefix: str | None, levels: Sequence[str]) -> TableName | None:
        """The table in a REST catalog's URL. The catalog is the one with this name, prefix or warehouse, else the only
        REST catalog, else the only catalog.
        """
        if prefix and prefix in self._catalogs:
            return _inside(prefix, levels)
        rest = [name for name, properties in self._catalogs.items() if properties.get("type") == "rest"]
        own = [n for n in rest if prefix and prefix in {self._catalogs[n].get(k) for k in ("prefix", "warehouse")}]
        for names in (own, rest, list(self._catalogs)):
            if len(names) == 1:
                return _inside(names[0], levels)
        return self.by_levels(levels)

    def _at(self, place: str | None) -> str | None:
        if not place:
            return None
        wanted = normalise_location(place)
        for name, properties in self._catalogs.items():
            if wanted in {normalise_location(properties[key]) for key in ("uri", "warehouse") if properties.get(key)}:
                return name
        return None

    def _index(self) -> TableIndex:
        version, indexed = self._version(), self._indexed
        if indexed is None or indexed[0] is not version:
            indexed = self._indexed = (version, _indexed(self._known()))
        return indexed[1]


def name_table(table: RunTable, naming: TableResolver) -> RunTable | None:
    """A reported table without a name, with the one that it has by now; None while it is not known. Snapshots that were
    reported for a selected part stay unknown: whether they are those of the part is not.
    """
    levels = (table.table or "").split(".")
    named = len(levels) > 1 and not any("/" in level for level in levels)
    found = naming.selected_by_folder(table.location) or (naming.selected_by_levels(levels) if named else None)
    if found is None:
        return None
    (catalog, namespace, name), selector = found
    more: dict[str, Any] = {"catalog": catalog, "namespace": namespace, "table": name}
    if selector != WHOLE:
        more |= {"read_snapshot_id": selector.snapshot_id, "written_snapshot_id": None}
    return msgspec.structs.replace(
        table, **more, ref=table.ref or selector.ref, metadata_table=table.metadata_table or selector.metadata_table
    )


def dataset_location(namespace: str, name: str) -> str | None:
    """Folder of a dataset by OpenLineage's naming rules: namespace and name as a URI; None if they form none."""
    scheme = namespace.split(":", 1)[0]
    if scheme == "file":
        return normalise_location("file:///" + name.lstrip("/"))[:LONGEST] if "/" in name else None
    if scheme in _STORES and "://" in namespace:
        return normalise_location(f"{namespace.rstrip('/')}/{name.lstrip('/')}")[:LONGEST]
    return None


def _inside(catalog: str, levels: Sequence[str]) -> TableName | None:
    """A table from namespace levels and a name; None without a namespace."""
    if len(levels) < 2 or not all(levels) or sum(map(len, levels)) > LONGEST:
        return None
    return TableName.of(catalog, levels[:-1], escape_level(levels[-1]))


def _split(levels: Sequence[str]) -> tuple[list[str], TableSelector] | None:
    """The levels of a table's name, at least two, and the selector in the remaining ones; None without a selector."""
    if not levels:
        return None
    if (split := split_name(levels[-1])) is not None:
        return ([*levels[:-1], split[0]], split[1]) if len(levels) > 1 else None
    selector = selector_of(levels[-1])
    return ([*levels[:-1]], selector) if selector is not None and len(levels) > 2 else None


def _indexed(known: Collection[KnownTable]) -> TableIndex:
    by_folder: dict[str, TableName] = {}
    by_suffix: dict[tuple[str, str], list[TableName]] = defaultdict(list)
    names: set[TableName] = set()
    for name, metadata_location in known:
        names.add(name)
        if metadata_location:
            by_folder[normalise_location(folder_of(metadata_location))] = name
        by_suffix[name.namespace, name.table].append(name)
    namespaces = frozenset((name.catalog, name.namespace) for name in names)
    return TableIndex(by_folder, by_suffix, frozenset(names), namespaces)
