"""The observed lake out of the settings: catalogs, patterns, paths. Shared by pipeline and server."""

from __future__ import annotations

from collections.abc import Iterable

from limnograph.adapters.iceberg.catalog import IcebergCatalog, open_catalog
from limnograph.adapters.iceberg.locate import newest_metadata
from limnograph.adapters.iceberg.reader import IcebergReader
from limnograph.adapters.storage.files import FileStorage
from limnograph.domain.errors import InvalidInput, SourceError
from limnograph.domain.ids import TableName, matches
from limnograph.ports.catalog import TablePointer
from limnograph.ports.lake import Listing
from limnograph.ports.table_reader import TableReader
from limnograph.settings import PathSettings, Settings

FILES = "files"
"""Catalog name of tables that have none."""


class SettingsLake:
    """Port Lake over all `[catalogs.*]` and `[[observe.paths]]`."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._catalogs: dict[str, IcebergCatalog] = {}
        self._readers: dict[str, TableReader] = {}

    def listing(self) -> Listing:
        found: list[TablePointer] = []
        complete: list[str] = [FILES]
        failed: list[str] = []
        for name in self._settings.catalogs:
            try:
                found += self._catalog(name).pointers()
                complete.append(name)
            except SourceError as error:
                failed.append(str(error))
        placed, unplaced = self._paths()
        listed = {str(pointer.name) for pointer in found} | {str(path_name(p)) for p in self._settings.observe.paths}
        observed = (*(p for p in found if observes(self._settings, p.name)), *placed)
        return Listing(observed, frozenset(listed), frozenset(complete), (*failed, *unplaced))

    def reader(self, catalog: str) -> TableReader:
        if catalog not in self._readers:
            properties = self._settings.catalogs.get(catalog, {})
            self._readers[catalog] = IcebergReader(FileStorage(properties, self._settings.path_map))
        return self._readers[catalog]

    def _catalog(self, name: str) -> IcebergCatalog:
        if name not in self._catalogs:
            self._catalogs[name] = IcebergCatalog(open_catalog(name, self._settings.catalogs[name]))
        return self._catalogs[name]

    def _paths(self) -> tuple[list[TablePointer], list[str]]:
        found: list[TablePointer] = []
        failed: list[str] = []
        storage = FileStorage({}, self._settings.path_map)
        for path in self._settings.observe.paths:
            try:
                found.append(TablePointer(path_name(path), path.format, newest_metadata(path.location, storage)))
            except (SourceError, InvalidInput) as error:
                failed.append(f"{path.name}: {error}")
        return found, failed


def path_name(path: PathSettings) -> TableName:
    """`landing.events` -> `files.landing.events`: the namespace is what stands before the last dot."""
    namespace, _, table = path.name.rpartition(".")
    return TableName(FILES, namespace, table)


def observes(settings: Settings, name: TableName) -> bool:
    """Whether patterns let a table in. The meta namespace is out unless a pattern names it."""
    text = str(name)
    observe = settings.observe
    if _any(observe.exclude, text):
        return False
    if name.catalog == settings.meta_catalog and name.namespace == settings.meta.namespace:
        prefix = f"{settings.meta_catalog}.{settings.meta.namespace}."
        return any(pattern.startswith(prefix) and matches(pattern, text) for pattern in observe.include)
    return _any(observe.include, text)


def _any(patterns: Iterable[str], text: str) -> bool:
    return any(matches(pattern, text) for pattern in patterns)
