"""Which of our tables a stranger's name means: a dataset of OpenLineage, a URL of a REST catalog, a folder.

Rules in the order of their certainty; where none holds, the name stays the stranger's. Names are told apart by the
catalogs of the settings and by the tables that are known now.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

from limnograph.domain.ids import TableName, escape_level, normalise_location
from limnograph.domain.notices import folder_of

LONGEST = 1_000
"""Characters of a name or location that are kept."""
_STORES = ("s3", "s3a", "s3n", "gs", "hdfs", "abfs", "abfss", "wasb", "wasbs", "oss", "cosn", "obs", "adl", "viewfs")


class Known(NamedTuple):
    """A table that is known now; `metadata_location` of its newest snapshot."""

    name: TableName
    metadata_location: str | None


class Index(NamedTuple):
    """Known tables by folder, and by namespace and name over all catalogs."""

    by_folder: dict[str, TableName]
    by_suffix: dict[tuple[str, str], list[TableName]]


class Naming:
    """`catalogs`: their properties by name. `known` gives the tables, and is asked again when `version` changed."""

    def __init__(
        self,
        catalogs: Mapping[str, Mapping[str, str]],
        known: Callable[[], Collection[Known]] = tuple,
        version: Callable[[], object] = lambda: None,
    ) -> None:
        self._catalogs, self._known, self._version = catalogs, known, version
        self._indexed: tuple[object, Index] | None = None

    def by_catalog(self, catalog: str | None, uri: str | None, levels: Sequence[str]) -> TableName | None:
        """A name inside a catalog that is told by its name or its address."""
        found = catalog if catalog in self._catalogs else self._at(uri)
        if found is None:
            return None
        inside = levels[1:] if len(levels) > 2 and levels[0] == found else levels
        return _inside(found, inside)

    def by_place(self, place: str | None, levels: Sequence[str]) -> TableName | None:
        """A name inside the catalog that has this address or warehouse."""
        found = self._at(place)
        return _inside(found, levels) if found else None

    def by_levels(self, levels: Sequence[str]) -> TableName | None:
        """`catalog.namespace.table` with a catalog of ours, or a namespace and name that only one table has."""
        if len(levels) > 2 and levels[0] in self._catalogs:
            return _inside(levels[0], levels[1:])
        for inside in (levels, levels[1:]):
            name = _inside("", inside)
            found = self._index().by_suffix.get((name.namespace, name.table), []) if name else []
            if len(found) == 1:
                return found[0]
        return None

    def by_folder(self, location: str | None) -> TableName | None:
        """The table that lies in a folder, or that a metadata file belongs to."""
        if not location:
            return None
        folder = normalise_location(folder_of(location))
        return self._index().by_folder.get(folder)

    def by_warehouse(self, location: str | None, levels: Sequence[str]) -> TableName | None:
        """A name whose folder lies in the warehouse of a catalog: a table that nobody has seen yet."""
        if not location:
            return None
        folder = normalise_location(location) + "/"
        for catalog, properties in self._catalogs.items():
            warehouse = properties.get("warehouse", "")
            if "/" in warehouse and folder.startswith(normalise_location(warehouse) + "/"):
                return _inside(catalog, levels[1:] if len(levels) > 2 and levels[0] == catalog else levels)
        return None

    def by_rest(self, prefix: str | None, levels: Sequence[str]) -> TableName | None:
        """A table of a REST catalog's URL: of the catalog whose name, prefix or warehouse that is, else of the only
        REST catalog, else of the only catalog.
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

    def _index(self) -> Index:
        version = self._version()
        if self._indexed is None or self._indexed[0] is not version:
            self._indexed = (version, _indexed(self._known()))
        return self._indexed[1]


def dataset_location(namespace: str, name: str) -> str | None:
    """Folder of a dataset by OpenLineage's naming rules: namespace and name make a URI; None where they do not."""
    scheme = namespace.split(":", 1)[0]
    if scheme == "file":
        return normalise_location("file:///" + name.lstrip("/"))[:LONGEST] if "/" in name else None
    if scheme in _STORES and "://" in namespace:
        return normalise_location(f"{namespace.rstrip('/')}/{name.lstrip('/')}")[:LONGEST]
    return None


def _inside(catalog: str, levels: Sequence[str]) -> TableName | None:
    """Namespace levels and a table name; None when there is no namespace."""
    if len(levels) < 2 or not all(levels) or sum(map(len, levels)) > LONGEST:
        return None
    return TableName.of(catalog, levels[:-1], escape_level(levels[-1]))


def _indexed(known: Collection[Known]) -> Index:
    by_folder: dict[str, TableName] = {}
    by_suffix: dict[tuple[str, str], list[TableName]] = defaultdict(list)
    for name, metadata_location in known:
        if metadata_location:
            by_folder[normalise_location(folder_of(metadata_location))] = name
        by_suffix[name.namespace, name.table].append(name)
    return Index(by_folder, by_suffix)
