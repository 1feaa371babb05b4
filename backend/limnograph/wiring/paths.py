"""A catalog of the tables without one: configured paths, and tables found below configured folders."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

from limnograph.adapters.storage.scan import ScannedFolder
from limnograph.domain.errors import LimnographError, SourceRejected
from limnograph.domain.ids import TableName, escape_level
from limnograph.ports.catalog import CatalogNames, ProbeResult, TablePointer
from limnograph.settings import FILES, ObserveSettings, PathSettings, WarehouseSettings

SCAN_S = 300.0
"""Interval between scans of a folder, seconds; tables that were found are probed in between."""


class Finds(Protocol):
    """Reads storage for this catalog: `adapters.sandbox.tables.SandboxTables`."""

    def newest(self, table_format: str, location: str) -> str:
        """The newest metadata pointer in a table's folder."""
        ...

    def scan(self, location: str, formats: tuple[str, ...], alive: Callable[[], None]) -> ScannedFolder:
        """Tables below a folder."""
        ...


class PathCatalog:
    """Port Catalog over paths and warehouses. `again_s`: see SCAN_S."""

    name = FILES
    at_once = False

    def __init__(self, observe: ObserveSettings, tables: Finds, *, again_s: float = SCAN_S) -> None:
        self._observe, self._tables, self._again_s = observe, tables, again_s
        self._places: dict[TableName, tuple[str, str]] = {}
        self._scans: dict[str, tuple[float, dict[TableName, tuple[str, str]]]] = {}

    def names(self, alive: Callable[[], None] = lambda: None) -> CatalogNames:
        places = dict[TableName, tuple[str, str]]()
        troubles: list[str] = []
        for warehouse in self._observe.warehouses:
            found, trouble = self._scanned(warehouse, alive)
            places |= found
            troubles += [trouble] if trouble else []
        # A configured path takes precedence over a scanned table of the same name.
        self._places = places = places | {path_name(path): (path.format, path.location) for path in self._observe.paths}
        return CatalogNames(dict.fromkeys(places), tuple(troubles))

    def probe(self, name: TableName) -> ProbeResult:
        place = self._places.get(name)
        if place is None:
            return ProbeResult(None)
        try:
            return ProbeResult(TablePointer(name, place[0], self._tables.newest(*place)))
        except LimnographError as error:
            # Rejected, not unavailable: paths may be in different stores, so one failure says nothing about the others.
            raise SourceRejected(str(name), str(error)) from error

    def _scanned(
        self, warehouse: WarehouseSettings, alive: Callable[[], None]
    ) -> tuple[dict[TableName, tuple[str, str]], str | None]:
        """Tables of one warehouse, and a sentence if the scan was incomplete; then known tables remain."""
        at, known = self._scans.get(warehouse.location, (float("-inf"), {}))
        if time.monotonic() - at < self._again_s:
            return known, None
        try:
            found = self._tables.scan(warehouse.location, warehouse.formats, alive)
        except LimnographError as error:
            return known, f"warehouse {warehouse.name}: {error}"
        tables = {
            _below(warehouse.name, levels): (kind, _joined(warehouse.location, levels)) for levels, kind in found.tables
        }
        if found.troubles:
            self._scans[warehouse.location] = (float("-inf"), {**known, **tables})
            more = f" (and {len(found.troubles) - 1} more)" if len(found.troubles) > 1 else ""
            return {**known, **tables}, f"warehouse {warehouse.name}: {found.troubles[0]}{more}"
        self._scans[warehouse.location] = (time.monotonic(), tables)
        return tables, None


def path_name(path: PathSettings) -> TableName:
    """`landing.events` -> `files.landing.events`: the namespace is the part before the last dot."""
    namespace, _, table = path.name.rpartition(".")
    return TableName(FILES, namespace, table)


def _below(warehouse: str, levels: tuple[str, ...]) -> TableName:
    *namespace, table = (*warehouse.split("."), *map(escape_level, levels))
    return TableName(FILES, ".".join(namespace), table)


def _joined(location: str, levels: tuple[str, ...]) -> str:
    return "/".join((location.rstrip("/"), *levels))
