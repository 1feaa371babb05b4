"""Listing of an SQL catalog: one query returns all names and pointers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pyiceberg.catalog.sql import SqlCatalog
from sqlalchemy import Row, text
from sqlalchemy.exc import SQLAlchemyError

from limnograph.adapters.iceberg.catalogs.errors import unavailable
from limnograph.adapters.iceberg.catalogs.read_only import ReadOnlySql
from limnograph.domain.errors import SourceUnavailable
from limnograph.domain.ids import TableName, escape_level, unescape_level
from limnograph.ports.catalog import CatalogNames, ProbeResult, TablePointer

_POINTERS = (
    "select table_namespace, table_name, metadata_location from iceberg_tables "
    "where catalog_name = :catalog and metadata_location is not null"
)
_TABLES_ONLY = " and (iceberg_type = 'TABLE' or iceberg_type is null)"
_ONE = " and table_namespace = :namespace and table_name = :table"


class SqlNames:
    """Port Catalog over PyIceberg's SqlCatalog."""

    at_once = True

    def __init__(self, catalog: SqlCatalog) -> None:
        self.name = str(catalog.name)
        self._catalog = catalog
        # A catalog is probed every second and rarely changes: an unchanged result costs only a comparison.
        self._rows: Sequence[Row[Any]] | None = None
        self._known: dict[tuple[Any, ...], TablePointer] = {}
        self._names = CatalogNames({})

    def names(self, alive: Callable[[], None] = lambda: None) -> CatalogNames:  # noqa: ARG002
        rows = self._query("", {})
        if rows != self._rows:
            # Most rows are unchanged since the last query, and so are their pointers.
            self._known = {row: self._known.get(row) or self._pointer(row) for row in map(tuple, rows)}
            self._rows, self._names = rows, CatalogNames({pointer.name: pointer for pointer in self._known.values()})
        return self._names

    def probe(self, name: TableName) -> ProbeResult:
        rows = self._query(_ONE, {"namespace": ".".join(name.levels), "table": unescape_level(name.table)})
        return ProbeResult(self._pointer(rows[0]) if rows else None)

    def _pointer(self, row: Sequence[Any]) -> TablePointer:
        namespace, table, location = row
        return TablePointer(TableName.of(self.name, namespace.split("."), escape_level(table)), "iceberg", location)

    def _query(self, more: str, values: dict[str, str]) -> Sequence[Row[Any]]:
        values = {"catalog": self.name, **values}
        try:
            with self._catalog.engine.connect() as connection:
                try:
                    return connection.execute(text(_POINTERS + _TABLES_ONLY + more), values).all()
                except SQLAlchemyError:
                    # A catalog of schema V0 has no column iceberg_type, and no views either.
                    connection.rollback()
                    return connection.execute(text(_POINTERS + more), values).all()
        except Exception as error:
            if missing := self._missing():
                raise SourceUnavailable(f"catalog {self.name}", missing) from error
            raise unavailable(self.name, error) from error

    def _missing(self) -> str | None:
        """What is missing for a query, if known."""
        try:
            return self._catalog.missing() if isinstance(self._catalog, ReadOnlySql) else None
        except SQLAlchemyError:
            return None
