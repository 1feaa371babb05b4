"""Builds the observed lake from settings, for all programs: catalogs, patterns, paths, and the readers of tables."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import NamedTuple

from limnograph.adapters.iceberg.catalogs.catalog import observed_catalog
from limnograph.adapters.sandbox.messages import StorageAccess
from limnograph.adapters.sandbox.pool import shared_pool
from limnograph.adapters.sandbox.tables import SandboxTables
from limnograph.domain.ids import Patterns, TableName, matches
from limnograph.domain.watch import CatalogSeen
from limnograph.ports.catalog import Catalog, TablePointer
from limnograph.ports.lake import LakeListing
from limnograph.ports.tables import Tables
from limnograph.services.watcher.catalog_actions import WatchMode
from limnograph.services.watcher.catalog_state import CatalogSnapshot
from limnograph.services.watcher.catalog_watch import CatalogWatch
from limnograph.settings import FILES, PathSettings, Settings, WarehouseSettings, reread_catalogs
from limnograph.wiring.paths import PathCatalog

_log = logging.getLogger("limnograph.observe")
ALL = "**"
RENEW_S = 30.0
"""How often the settings file and secrets are read again, seconds: keys of a store may be rotated at any time."""


class _Part(NamedTuple):
    """The part of a listing for one catalog, kept until the catalog's version changes."""

    snapshot: CatalogSnapshot
    pointers: tuple[TablePointer, ...]
    listed: frozenset[str]


class SettingsLake:
    """Port ObservedLake over all `[catalogs.*]`, `[[observe.paths]]` and `[[observe.warehouses]]`.

    `mode`: when tables are probed for a listing; STANDING stays within the configured budget and uses threads until
        `close`.
    `progress`: called with a line now and then while a catalog is read for the first time.
    `starting`: called with the name of each part that takes long to start; default `progress`.
    `first`: returns the tables to probe first, because pages show them or a notification names them.
    `renew_s`: see RENEW_S.
    `patience_s`: in mode STANDING, how long to wait for a slow listing; see CatalogWatch.
    """

    def __init__(
        self,
        settings: Settings,
        mode: WatchMode = WatchMode.NOW,
        *,
        progress: Callable[[str], None] = lambda _line: None,
        starting: Callable[[str], None] | None = None,
        first: Callable[[], Iterable[TableName]] = tuple,
        renew_s: float = RENEW_S,
        patience_s: float = 0.0,
    ) -> None:
        self._settings, self._patience_s = settings, patience_s
        self._starting = starting or progress
        self._tables = self._sandbox()
        self._observed_names = ObservedNames(settings)
        self._watches = {name: self._watch(name, mode, progress) for name in settings.catalogs}
        if settings.observe.paths or settings.observe.warehouses:
            self._watches[FILES] = self._watch(FILES, mode, progress)
        self._renewing, self._renewed_at, self._renew_s = threading.Lock(), time.monotonic(), renew_s
        self._first = first
        self._parts: dict[str, _Part] = {}
        self._last = LakeListing((), frozenset(), frozenset())
        self._matched = False
        """The patterns were compared with a complete listing."""

    @property
    def tables(self) -> Tables:
        return self._tables

    @property
    def access(self) -> StorageAccess:
        """How tables are read, with the current credentials."""
        return access_of(self._settings)

    def listing(self) -> LakeListing:
        if time.monotonic() - self._renewed_at >= self._renew_s:
            self._renew()
        first = list(self._first())
        for catalog, watch in self._watches.items():
            watch.request([table for table in first if table.catalog == catalog])
        snapshots = {name: watch.snapshot() for name, watch in self._watches.items()}
        changed = [name for name, found in snapshots.items() if self._version(name) != found.version]
        self._parts |= {name: self._part(snapshots[name]) for name in changed}
        pointers, listed = self._last.pointers, self._last.listed
        if changed:
            pointers = tuple(pointer for part in self._parts.values() for pointer in part.pointers)
            listed = frozenset[str]().union(*(part.listed for part in self._parts.values()))
        empty = frozenset({FILES} - self._watches.keys())
        self._last = LakeListing(
            pointers,
            listed,
            empty | frozenset(name for name, found in snapshots.items() if found.fresh),
            tuple(sentence for found in snapshots.values() for sentence in found.failed),
            empty | frozenset(name for name, found in snapshots.items() if found.answers),
            tuple(_seen(name, found) for name, found in snapshots.items()),
            self._unmatched(listed, complete=all(found.fresh for found in snapshots.values())),
        )
        return self._last

    def _unmatched(self, listed: frozenset[str], *, complete: bool) -> tuple[str, ...]:
        """Settings that match no table, logged when they change. Known only once every table is listed."""
        last = self._last
        if not complete or (self._matched and listed == last.listed):
            return last.unmatched
        self._matched = True
        found = tuple(unmatched(observed_patterns(self._settings), listed))
        if found and found != last.unmatched:
            _log.warning("no listed table matches %s; limnograph doctor suggests a correction", ", ".join(found))
        return found

    def newest(self, pointer: TablePointer) -> TablePointer | None:
        return self._watches[pointer.name.catalog].newest(pointer.name)

    def _sandbox(self) -> SandboxTables:
        return SandboxTables(self.access, starting=self._starts)

    def _starts(self, what: str) -> None:
        """Report that a parser starts. Folders are scanned by a parser, so their deadline is extended while it makes
        progress.
        """
        self._starting(what)
        if watch := self._watches.get(FILES):
            watch.alive()

    def close(self) -> None:
        """Stop the threads of mode STANDING."""
        for watch in self._watches.values():
            watch.close()

    def _version(self, name: str) -> int:
        part = self._parts.get(name)
        return part.snapshot.version if part else -1

    def _part(self, snapshot: CatalogSnapshot) -> _Part:
        return _Part(
            snapshot, snapshot.pointers, frozenset(self._observed_names.about(name)[0] for name in snapshot.names)
        )

    def _watch(self, name: str, mode: WatchMode, progress: Callable[[str], None]) -> CatalogWatch:
        observe = self._settings.observe
        return CatalogWatch(
            name,
            lambda: self._open(name),
            lambda table: self._observed_names.about(table)[1],
            mode,
            rate=observe.probes_per_second,
            threads=observe.probes_at_once,
            deadline_s=observe.catalog_deadline_seconds,
            patience_s=self._patience_s,
            progress=progress,
        )

    def _open(self, name: str) -> Catalog:
        """Open a catalog with the current properties and secrets."""
        if name == FILES:
            return PathCatalog(self._settings.observe, self._tables)
        return observed_catalog(name, self._renew()[name])

    def _renew(self) -> dict[str, dict[str, str]]:
        """Read the properties of the catalogs again, and replace the readers of tables if they changed."""
        with self._renewing:
            self._renewed_at = time.monotonic()
            fresh = reread_catalogs(self._settings)
            if fresh != self._settings.catalogs:
                _log.info("catalog credentials changed and are now in use")
                self._settings = self._settings.with_catalogs(fresh)
                self._tables = self._sandbox()
            return fresh


def _seen(name: str, found: CatalogSnapshot) -> CatalogSeen:
    trouble = found.failed[0].removeprefix(f"catalog {name}: ") if found.failed else ""
    return CatalogSeen(
        *(name, len(found.names), found.listing_s, found.answers, trouble, *found.requests), dict(found.fullest)
    )


def parsers_cpu_seconds() -> float:
    """CPU time of this process' parsers so far, seconds."""
    return shared_pool().cpu_seconds


class ObservedNames:
    """Decides which tables are observed. The meta namespace is excluded unless a pattern names it; configured paths are
    always included. Results are memoised, because a lake is listed every second and its names hardly change.
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
    """Prefix of the names of the meta tables: `catalog.namespace.`"""
    return f"{settings.meta_catalog}.{settings.meta.namespace}."


def access_of(settings: Settings) -> StorageAccess:
    """How child processes and Spark's workers access storage."""
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
        private=observe.columns.private,
    )


def observed_patterns(settings: Settings) -> Iterator[tuple[str, str]]:
    """Every pattern of `observe.include` after its key; that of a warehouse is of the tables below it."""
    yield from patterns_of("observe.include", settings.observe.include)
    for i, warehouse in enumerate(settings.observe.warehouses):
        yield f"observe.warehouses[{i}]", f"{FILES}.{warehouse.name}.{ALL}"


def patterns_of(key: str, patterns: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Each pattern but `**`, after its key."""
    return ((f"{key}[{i}]", pattern) for i, pattern in enumerate(patterns) if pattern != ALL)


def unmatched(patterns: Iterable[tuple[str, str]], names: Collection[str]) -> list[str]:
    """Those that match none of the names, as `observe.include[0] 'lake.slaes.**'`. O(patterns x names) at worst."""
    return [f"{key} {pattern!r}" for key, pattern in patterns if not any(matches(pattern, name) for name in names)]
