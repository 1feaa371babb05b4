"""Listing and probes of catalogs that keep pointers in an external service: Hive, Glue, any other that PyIceberg has.

Hive and Glue return the pointers of a whole database with its listing, and the pointer of one table without its
metadata file. For any other catalog, PyIceberg loads the table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pyiceberg.catalog import Catalog as PyIceberg
from pyiceberg.exceptions import (
    NoSuchIcebergTableError,
    NoSuchNamespaceError,
    NoSuchPropertyException,
    NoSuchTableError,
)

from limnograph.adapters.iceberg.catalogs.errors import first_line, unavailable
from limnograph.domain.errors import SourceError, SourceRejected
from limnograph.domain.ids import TableName, escape_level, unescape_level
from limnograph.ports.catalog import CatalogNames, ProbeResult, TablePointer

_AT_ONCE = 100
"""Tables per call to a Hive metastore: each is returned with all its columns."""
_ICEBERG = "iceberg"
_NOT_THERE = (NoSuchTableError, NoSuchIcebergTableError, NoSuchPropertyException)
_GONE = {"EntityNotFoundException", "NoSuchObjectException"}


class AnyNames:
    """Port Catalog over any PyIceberg catalog, through its own listing and `load_table`."""

    at_once = False

    def __init__(self, catalog: PyIceberg) -> None:
        self.name = str(catalog.name)
        self._catalog = catalog

    def names(self, alive: Callable[[], None] = lambda: None) -> CatalogNames:
        tables: dict[TableName, TablePointer | None] = {}
        try:
            for levels in self._namespaces((), set()):
                alive()
                try:
                    tables.update(self._tables(levels))
                except Exception as error:
                    if not _gone(error):
                        raise
        except Exception as error:
            raise unavailable(self.name, error) from error
        return CatalogNames(tables)

    def probe(self, name: TableName) -> ProbeResult:
        try:
            return ProbeResult(self._pointer(name))
        except _NOT_THERE:
            return ProbeResult(None)
        except SourceError:
            raise
        except Exception as error:
            if _gone(error):
                return ProbeResult(None)
            raise unavailable(self.name, error) from error

    def _tables(self, levels: tuple[str, ...]) -> Mapping[TableName, TablePointer | None]:
        """Tables of one namespace, with their pointers if the listing includes them."""
        identifiers = self._catalog.list_tables(levels)
        return {TableName.of(self.name, i[:-1] or levels, escape_level(i[-1])): None for i in identifiers}

    def _pointer(self, name: TableName) -> TablePointer | None:
        table = self._catalog.load_table((*name.levels, unescape_level(name.table)))
        return TablePointer(name, _ICEBERG, table.metadata_location)

    def _namespaces(self, parent: tuple[str, ...], seen: set[tuple[str, ...]]) -> Iterator[tuple[str, ...]]:
        for listed in self._catalog.list_namespaces(parent):
            # Some catalogs return the full name, others only the last level.
            name = listed if listed[: len(parent)] == parent and len(listed) > len(parent) else (*parent, *listed)
            if name in seen or name == parent:
                continue
            seen.add(name)
            yield name
            if getattr(self._catalog, "supports_nested_namespaces", False):
                yield from self._namespaces(name, seen)

    def _of_parameters(self, name: TableName, parameters: Mapping[str, str] | None) -> TablePointer | None:
        """Pointer from the parameters of a Hive or Glue table; None for another format."""
        found = parameters or {}
        if (found.get("table_type") or "").lower() != _ICEBERG:
            return None
        location = found.get("metadata_location")
        if not location:
            raise SourceRejected(str(name), "has type ICEBERG, but its parameters have no metadata_location")
        return TablePointer(name, _ICEBERG, location)

    def _listed(
        self, tables: Iterator[tuple[TableName, Mapping[str, str] | None]]
    ) -> dict[TableName, TablePointer | None]:
        """Iceberg tables of a listing; one without a location is probed separately, and reported then."""
        found: dict[TableName, TablePointer | None] = {}
        for name, parameters in tables:
            try:
                pointer = self._of_parameters(name, parameters)
            except SourceRejected:
                found[name] = None
                continue
            if pointer:
                found[name] = pointer
        return found


class HiveNames(AnyNames):
    """A Hive metastore, through PyIceberg's Thrift client. Every call opens a new connection."""

    def _tables(self, levels: tuple[str, ...]) -> Mapping[TableName, TablePointer | None]:
        return self._listed(self._objects(levels))

    def _objects(self, levels: tuple[str, ...]) -> Iterator[tuple[TableName, Mapping[str, str] | None]]:
        with self._client() as client:
            names = client.get_all_tables(db_name=levels[0])
            for first in range(0, len(names), _AT_ONCE):
                for table in client.get_table_objects_by_name(
                    dbname=levels[0], tbl_names=names[first : first + _AT_ONCE]
                ):
                    yield TableName.of(self.name, levels, escape_level(table.tableName)), table.parameters

    def _pointer(self, name: TableName) -> TablePointer | None:
        with self._client() as client:
            hive = self._catalog._get_hive_table(client, name.levels[0], unescape_level(name.table))  # type: ignore[attr-defined]  # noqa: SLF001
        return self._of_parameters(name, hive.parameters)

    def _client(self) -> Any:
        """A new client: PyIceberg's shared one supports only one thread."""
        catalog: Any = self._catalog
        return catalog._create_hive_client(catalog.properties)  # noqa: SLF001


class GlueNames(AnyNames):
    """AWS Glue, through PyIceberg's boto3 client, which is thread-safe."""

    def _tables(self, levels: tuple[str, ...]) -> Mapping[TableName, TablePointer | None]:
        return self._listed(self._objects(levels))

    def _objects(self, levels: tuple[str, ...]) -> Iterator[tuple[TableName, Mapping[str, str] | None]]:
        token: dict[str, str] = {}
        while True:
            page = self._glue.get_tables(DatabaseName=levels[0], **token)
            for table in page["TableList"]:
                yield TableName.of(self.name, levels, escape_level(table["Name"])), table.get("Parameters")
            if not page.get("NextToken"):
                return
            token = {"NextToken": page["NextToken"]}

    def _pointer(self, name: TableName) -> TablePointer | None:
        answer = self._glue.get_table(DatabaseName=name.levels[0], Name=unescape_level(name.table))
        return self._of_parameters(name, answer["Table"].get("Parameters"))

    @property
    def _glue(self) -> Any:
        catalog: Any = self._catalog
        return catalog.glue


def _gone(error: Exception) -> bool:
    """Whether a client's error means that the object does not exist."""
    if isinstance(error, NoSuchNamespaceError) or type(error).__name__ in _GONE:
        return True
    response = getattr(error, "response", None)
    code = response.get("Error", {}).get("Code") if isinstance(response, dict) else None
    return code in _GONE or (code is None and first_line(error) in _GONE)
