"""Catalogs through PyIceberg: which tables exist and where each one's newest metadata lies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pyiceberg.catalog import Catalog as PyIceberg
from pyiceberg.catalog import load_catalog
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.exceptions import NoSuchPropertyException, NoSuchTableError, NotInstalledError
from sqlalchemy import Row, text
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from limnograph.domain.errors import SettingsError, SourceError, SourceUnavailable
from limnograph.domain.ids import TableName, escape_level
from limnograph.ports.catalog import TablePointer

_POINTERS = (
    "select table_namespace, table_name, metadata_location from iceberg_tables "
    "where catalog_name = :catalog and metadata_location is not null"
)
_WRONG_SETTINGS = (
    *(ValueError, TypeError, KeyError, ImportError),
    *(NoSuchPropertyException, NotInstalledError, ArgumentError),
)
"""How PyIceberg and its drivers report properties of a wrong type, a malformed URI or a missing driver."""
_TABLES_ONLY = " and (iceberg_type = 'TABLE' or iceberg_type is null)"


def open_catalog(name: str, properties: Mapping[str, str]) -> PyIceberg:
    """PyIceberg catalog from its settings. Raises SettingsError, SourceUnavailable."""
    try:
        return load_catalog(name, **properties)
    except _WRONG_SETTINGS as error:
        raise SettingsError(f"catalogs.{name}", _first_line(error)) from error
    except Exception as error:
        # Databases, REST servers and transports raise what they like: all of it is a catalog that does not serve now.
        raise SourceUnavailable(f"catalog {name}", _first_line(error)) from error


class IcebergCatalog:
    """Port Catalog over one PyIceberg catalog."""

    def __init__(self, catalog: PyIceberg) -> None:
        self.name = str(catalog.name)
        self._catalog = catalog
        # A catalog is probed every second and hardly changes: the last answer again costs a comparison.
        self._rows: Sequence[Row[Any]] = ()
        self._pointers: list[TablePointer] = []

    def pointers(self) -> list[TablePointer]:
        try:
            if isinstance(self._catalog, SqlCatalog):
                return self._by_one_query(self._catalog)
            return list(self._by_listing())
        except SourceError:
            raise
        except Exception as error:
            # Catalog clients raise what their transports raise; for a probe all of it means "not now".
            raise SourceUnavailable(f"catalog {self.name}", _first_line(error)) from error

    def _by_one_query(self, catalog: SqlCatalog) -> list[TablePointer]:
        with catalog.engine.connect() as connection:
            try:
                rows = connection.execute(text(_POINTERS + _TABLES_ONLY), {"catalog": self.name}).all()
            except SQLAlchemyError:
                # A catalog of schema V0 has no column iceberg_type, and no views either.
                connection.rollback()
                rows = connection.execute(text(_POINTERS), {"catalog": self.name}).all()
        if rows != self._rows:
            self._rows = rows
            self._pointers = sorted(
                TablePointer(TableName.of(self.name, namespace.split("."), escape_level(table)), "iceberg", location)
                for namespace, table, location in rows
            )
        return self._pointers[:]

    def _by_listing(self) -> Iterator[TablePointer]:
        for namespace in self._namespaces(()):
            for identifier in self._catalog.list_tables(namespace):
                try:
                    table = self._catalog.load_table(identifier)
                except NoSuchTableError:
                    continue  # a view, another format, or dropped meanwhile
                *levels, name = identifier
                yield TablePointer(
                    TableName.of(self.name, levels, escape_level(name)), "iceberg", table.metadata_location
                )

    def _namespaces(self, parent: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        for listed in self._catalog.list_namespaces(parent):
            # Some catalogs answer with the full name, some with the last level only.
            name = listed if listed[: len(parent)] == parent and len(listed) > len(parent) else (*parent, *listed)
            yield name
            if name != parent and getattr(self._catalog, "supports_nested_namespaces", False):
                yield from self._namespaces(name)


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
