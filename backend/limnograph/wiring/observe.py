"""The observed lake out of the settings: catalogs, patterns, paths, and how tables are read. For all programs."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from limnograph.adapters.iceberg.catalog import IcebergCatalog, open_catalog
from limnograph.adapters.sandbox.messages import Access
from limnograph.adapters.sandbox.tables import SandboxTables
from limnograph.domain.errors import LimnographError, SourceError
from limnograph.domain.ids import Patterns, TableName
from limnograph.ports.catalog import TablePointer
from limnograph.ports.lake import Listing
from limnograph.ports.tables import Tables
from limnograph.settings import PathSettings, Settings

FILES = "files"
"""Catalog name of tables that have none."""
PATHS_AT_ONCE = 4


class SettingsLake:
    """Port Lake over all `[catalogs.*]` and `[[observe.paths]]`."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._catalogs: dict[str, IcebergCatalog] = {}
        self._tables = SandboxTables(access_of(settings))
        self._observes = Observes(settings)

    @property
    def tables(self) -> Tables:
        return self._tables

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
        about = [self._observes.about(pointer.name) for pointer in found]
        paths = (str(path_name(path)) for path in self._settings.observe.paths)
        listed = frozenset((*(text for text, _ in about), *paths))
        observed = (*(pointer for pointer, (_, let_in) in zip(found, about, strict=True) if let_in), *placed)
        return Listing(observed, listed, frozenset(complete), (*failed, *unplaced))

    def _catalog(self, name: str) -> IcebergCatalog:
        if name not in self._catalogs:
            self._catalogs[name] = IcebergCatalog(open_catalog(name, self._settings.catalogs[name]))
        return self._catalogs[name]

    def _paths(self) -> tuple[list[TablePointer], list[str]]:
        """Pointers of tables without a catalog, and a sentence for each that has none now."""
        paths = self._settings.observe.paths
        if not paths:
            return [], []
        with ThreadPoolExecutor(PATHS_AT_ONCE) as pool:
            found = list(pool.map(self._placed, paths))
        return [f for f in found if isinstance(f, TablePointer)], [f for f in found if isinstance(f, str)]

    def _placed(self, path: PathSettings) -> TablePointer | str:
        try:
            return TablePointer(path_name(path), path.format, self._tables.newest(path.format, path.location))
        except LimnographError as error:
            return f"{path.name}: {error}"


class Observes:
    """Whether patterns let a table in. The meta namespace is out unless a pattern names it. Answers are kept: a lake
    is listed every second, and its names hardly change.
    """

    def __init__(self, settings: Settings) -> None:
        observe = settings.observe
        own = own_prefix(settings)
        self._meta = (settings.meta_catalog, settings.meta.namespace)
        self._include, self._exclude = Patterns(observe.include), Patterns(observe.exclude)
        self._named = Patterns(pattern for pattern in observe.include if pattern.startswith(own))
        self._known: dict[TableName, tuple[str, bool]] = {}

    def about(self, name: TableName) -> tuple[str, bool]:
        """The name as text, and whether its table is observed."""
        known = self._known.get(name)
        if known is None:
            text = str(name)
            include = self._named if (name.catalog, name.namespace) == self._meta else self._include
            known = self._known[name] = (text, include.match(text) and not self._exclude.match(text))
        return known


def own_prefix(settings: Settings) -> str:
    """Beginning of the names of our own tables: `catalog.namespace.`"""
    return f"{settings.meta_catalog}.{settings.meta.namespace}."


def access_of(settings: Settings) -> Access:
    """How children and workers reach storage."""
    observe = settings.observe
    return Access(
        catalogs=dict(settings.catalogs),
        path_map=dict(settings.path_map),
        meta_prefix=own_prefix(settings),
        roots=(*observe.roots, *(path.location for path in observe.paths)),
        stores={path.location: path.properties for path in observe.paths if path.properties},
        cache_dir=str(settings.cache_dir.absolute()),
        deadline_seconds=observe.table_deadline_seconds,
    )


def path_name(path: PathSettings) -> TableName:
    """`landing.events` -> `files.landing.events`: the namespace is what stands before the last dot."""
    namespace, _, table = path.name.rpartition(".")
    return TableName(FILES, namespace, table)
