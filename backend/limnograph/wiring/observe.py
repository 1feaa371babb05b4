"""The observed lake out of the settings: catalogs, patterns, paths, and how tables are read. For all programs."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable
from typing import Literal, NamedTuple

from limnograph.adapters.iceberg.catalogs.catalog import observed_catalog
from limnograph.adapters.sandbox.messages import StorageAccess
from limnograph.adapters.sandbox.pool import shared_pool
from limnograph.adapters.sandbox.tables import SandboxTables
from limnograph.domain.ids import Patterns, TableName
from limnograph.ports.catalog import Catalog, TablePointer
from limnograph.ports.lake import LakeListing
from limnograph.ports.tables import Tables
from limnograph.services.watcher.catalog_state import CatalogSnapshot
from limnograph.services.watcher.catalog_watch import CatalogWatch
from limnograph.settings import FILES, PathSettings, Settings, WarehouseSettings, reread_catalogs
from limnograph.wiring.paths import PathCatalog

_log = logging.getLogger("limnograph.observe")
RENEW_S = 30.0
"""How often files of settings and secrets are checked, seconds: keys of a store may change while catalogs answer."""
Mode = Literal["now", "once", "standing"]


class _Part(NamedTuple):
    """What a listing holds of one catalog, kept until the catalog's version changes."""

    standing: CatalogSnapshot
    pointers: tuple[TablePointer, ...]
    listed: frozenset[str]


class SettingsLake:
    """Port Lake over all `[catalogs.*]`, `[[observe.paths]]` and `[[observe.warehouses]]`.

    `mode`: `now` probes every table for each listing; `once` every table for the first one, then what is due;
    `standing` never more than the budget of the settings, with threads of its own until `close`. `first`: tables that
    are viewed, or with notifications of changes. `renew_s`: see RENEW_S; `patience`: with slow listings, see
    CatalogWatch. `starting` is called with the phases of slow starts; default `progress`.
    """

    def __init__(
        self,
        settings: Settings,
        mode: Mode = "now",
        *,
        progress: Callable[[str], None] = lambda _line: None,
        starting: Callable[[str], None] | None = None,
        first: Callable[[], Iterable[TableName]] = tuple,
        renew_s: float = RENEW_S,
        patience: float = 0.0,
    ) -> None:
        self._settings, self._patience = settings, patience
        self._starting = starting or progress
        self._tables = self._sandbox()
        self._observes = Observes(settings)
        self._watches = {name: self._watch(name, mode, progress) for name in settings.catalogs}
        if settings.observe.paths or settings.observe.warehouses:
            self._watches[FILES] = self._watch(FILES, mode, progress)
        self._renewing, self._renewed_at, self._renew_s = threading.Lock(), time.monotonic(), renew_s
        self._first = first
        self._parts: dict[str, _Part] = {}
        self._last = LakeListing((), frozenset(), frozenset())

    @property
    def tables(self) -> Tables:
        return self._tables

    @property
    def access(self) -> StorageAccess:
        """How its tables are read now."""
        return access_of(self._settings)

    def listing(self) -> LakeListing:
        if time.monotonic() - self._renewed_at >= self._renew_s:
            self._renew()
        first = list(self._first())
        for catalog, watch in self._watches.items():
            watch.ask([table for table in first if table.catalog == catalog])
        standing = {name: watch.standing() for name, watch in self._watches.items()}
        changed = [name for name, found in standing.items() if self._version(name) != found.version]
        self._parts |= {name: self._part(standing[name]) for name in changed}
        pointers, listed = self._last.pointers, self._last.listed
        if changed:
            pointers = tuple(pointer for part in self._parts.values() for pointer in part.pointers)
            listed = frozenset[str]().union(*(part.listed for part in self._parts.values()))
        empty = frozenset({FILES} - self._watches.keys())
        self._last = LakeListing(
            pointers,
            listed,
            empty | frozenset(name for name, found in standing.items() if found.fresh),
            tuple(sentence for found in standing.values() for sentence in found.failed),
            empty | frozenset(name for name, found in standing.items() if found.answers),
        )
        return self._last

    def newest(self, pointer: TablePointer) -> TablePointer | None:
        return self._watches[pointer.name.catalog].newest(pointer.name)

    def _sandbox(self) -> SandboxTables:
        return SandboxTables(self.access, starting=self._starts)

    def _starts(self, what: str) -> None:
        """A parser starts. Folders are read by one, so they are not late while it makes progress."""
        self._starting(what)
        if watch := self._watches.get(FILES):
            watch.alive()

    def close(self) -> None:
        """End the threads of a standing lake."""
        for watch in self._watches.values():
            watch.close()

    def _version(self, name: str) -> int:
        part = self._parts.get(name)
        return part.standing.version if part else -1

    def _part(self, standing: CatalogSnapshot) -> _Part:
        return _Part(standing, standing.pointers, frozenset(self._observes.about(name)[0] for name in standing.names))

    def _watch(self, name: str, mode: Mode, progress: Callable[[str], None]) -> CatalogWatch:
        observe = self._settings.observe
        return CatalogWatch(
            name,
            lambda: self._open(name),
            lambda table: self._observes.about(table)[1],
            rate=observe.probes_per_second if mode == "standing" else None,
            eager=mode == "now",
            threads=observe.probes_at_once,
            deadline=observe.catalog_deadline_seconds,
            patience=self._patience,
            progress=progress,
        )

    def _open(self, name: str) -> Catalog:
        """Opened with what the settings file and the files of secrets say now."""
        if name == FILES:
            return PathCatalog(self._settings.observe, self._tables)
        return observed_catalog(name, self._renew()[name])

    def _renew(self) -> dict[str, dict[str, str]]:
        """Properties of the catalogs as they are said now."""
        with self._renewing:
            self._renewed_at = time.monotonic()
            fresh = reread_catalogs(self._settings)
            if fresh != self._settings.catalogs:
                _log.info("catalog credentials changed and are now in use")
                self._settings = self._settings.with_catalogs(fresh)
                self._tables = self._sandbox()
            return fresh


def parsers_cpu_seconds() -> float:
    """Processor time of this process' parsers so far."""
    return shared_pool().cpu_seconds


class Observes:
    """Whether patterns let a table in. The meta namespace is out unless a pattern names it. Answers are kept: a lake
    is listed every second, and its names hardly change. A path is in because the settings name it.
    """

    def __init__(self, settings: Settings) -> None:
        observe = settings.observe
        own = own_prefix(settings)
        self._meta = (settings.meta_catalog, settings.meta.namespace)
        self._include, self._exclude = Patterns(observe.include), Patterns(observe.exclude)
        self._named = Patterns(pattern for pattern in observe.include if pattern.startswith(own))
        self._paths = frozenset(path.name for path in observe.paths)
        self._known: dict[TableName, tuple[str, bool]] = {}

    def about(self, name: TableName) -> tuple[str, bool]:
        """The name as text, and whether its table is observed."""
        known = self._known.get(name)
        if known is None:
            text = str(name)
            include = self._named if (name.catalog, name.namespace) == self._meta else self._include
            path = name.catalog == FILES and text.removeprefix(f"{FILES}.") in self._paths
            matched = include.match_table(text) and not self._exclude.match_table(text)
            known = self._known[name] = (text, path or matched)
        return known


def own_prefix(settings: Settings) -> str:
    """Beginning of the names of our own tables: `catalog.namespace.`"""
    return f"{settings.meta_catalog}.{settings.meta.namespace}."


def access_of(settings: Settings) -> StorageAccess:
    """How children and workers reach storage."""
    observe = settings.observe
    places: tuple[PathSettings | WarehouseSettings, ...] = (*observe.paths, *observe.warehouses)
    return StorageAccess(
        catalogs=dict(settings.catalogs),
        path_map=dict(settings.path_map),
        roots=(*observe.roots, *(place.location for place in places)),
        stores={place.location: place.properties for place in places if place.properties},
        cache_dir=str(settings.cache_dir.absolute()),
        deadline_seconds=observe.table_deadline_seconds,
        confining=observe.roots,
    )
