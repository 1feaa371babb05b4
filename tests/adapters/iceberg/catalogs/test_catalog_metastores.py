"""Hive and Glue by small fakes of their clients: pointers from listings and parameters, never a metadata file."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, Self

import pytest

from limnograph.adapters.iceberg.catalogs.catalog import names_of
from limnograph.domain.errors import SourceRejected, SourceTimeout, SourceUnavailable
from limnograph.domain.ids import TableName
from limnograph.ports.catalog import TablePointer

TABLES: dict[str, dict[str, str]] = {
    "orders": {"table_type": "ICEBERG", "metadata_location": "s3://lake/orders/1.json"},
    "items": {"table_type": "iceberg", "metadata_location": "s3://lake/items/7.json"},
    "logs": {"EXTERNAL": "TRUE"},
    "odd": {"table_type": "ICEBERG"},
}


def name(catalog: str, table: str) -> TableName:
    return TableName(catalog, "sales", table)


class NoSuchObjectException(Exception):
    """As Thrift's client names it."""


class _Client:
    """What is asked of a Hive metastore."""

    def __init__(self, calls: list[str]) -> None:
        self._calls = calls

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def get_all_tables(self, db_name: str) -> list[str]:
        self._calls.append("names")
        return list(TABLES)

    def get_table_objects_by_name(self, dbname: str, tbl_names: list[str]) -> list[Any]:
        self._calls.append("objects")
        return [SimpleNamespace(dbName=dbname, tableName=table, parameters=TABLES[table]) for table in tbl_names]


class HiveCatalog:
    name = "hive"

    def __init__(self) -> None:
        self.properties: dict[str, str] = {"uri": "thrift://hms:9083"}
        self.calls: list[str] = []
        self.error: Exception | None = None

    def list_namespaces(self, parent: tuple[str, ...]) -> list[tuple[str, ...]]:
        if self.error:
            raise self.error
        return [("sales",)] if not parent else []

    def _create_hive_client(self, _properties: dict[str, str]) -> _Client:
        return _Client(self.calls)

    def _get_hive_table(self, _client: _Client, database: str, table: str) -> Any:
        self.calls.append("table")
        if table not in TABLES:
            raise NoSuchObjectException(table)
        return SimpleNamespace(dbName=database, tableName=table, parameters=TABLES[table])


class ClientError(Exception):
    """As boto3 makes it: the code stands in the response."""

    def __init__(self, code: str) -> None:
        super().__init__(f"An error occurred ({code})")
        self.response = {"Error": {"Code": code}}


class _Glue:
    def __init__(self) -> None:
        self.calls: list[str] = []
        self.error: Exception | None = None

    def get_tables(self, **asked: str) -> dict[str, Any]:
        self.calls.append("page")
        if self.error:
            raise self.error
        found = [{"Name": table, "Parameters": parameters} for table, parameters in TABLES.items()]
        return {"TableList": found[2:]} if "NextToken" in asked else {"TableList": found[:2], "NextToken": "more"}

    def get_table(self, **asked: str) -> dict[str, Any]:
        self.calls.append("table")
        if asked["Name"] not in TABLES:
            raise ClientError("EntityNotFoundException")
        return {"Table": {"Name": asked["Name"], "Parameters": TABLES[asked["Name"]]}}


class GlueCatalog:
    name = "glue"

    def __init__(self) -> None:
        self.glue = _Glue()

    def list_namespaces(self, parent: tuple[str, ...]) -> list[tuple[str, ...]]:
        return [("sales",)] if not parent else []


@pytest.fixture(params=["hive", "glue"])
def catalog(request: pytest.FixtureRequest) -> Any:
    return HiveCatalog() if request.param == "hive" else GlueCatalog()


def test_a_listing_returns_the_pointers_of_iceberg_tables_only(catalog: Any) -> None:
    found = names_of(catalog).names().tables
    kind = catalog.name
    assert found == {
        name(kind, "orders"): TablePointer(name(kind, "orders"), "iceberg", "s3://lake/orders/1.json"),
        name(kind, "items"): TablePointer(name(kind, "items"), "iceberg", "s3://lake/items/7.json"),
        name(kind, "odd"): None,
    }


def test_a_probe_is_one_call_that_reads_no_file(catalog: Any) -> None:
    observed, kind = names_of(catalog), catalog.name
    pointer = observed.probe(name(kind, "orders")).pointer
    assert pointer is not None
    assert pointer.location == "s3://lake/orders/1.json"
    assert observed.probe(name(kind, "logs")).pointer is None
    assert observed.probe(name(kind, "nobody")).pointer is None
    calls = catalog.calls if kind == "hive" else catalog.glue.calls
    assert calls == ["table"] * 3


def test_a_table_without_a_location_is_reported_by_name(catalog: Any) -> None:
    with pytest.raises(SourceRejected, match=r"sales\.odd.*metadata_location"):
        names_of(catalog).probe(name(catalog.name, "odd"))


def test_errors_of_the_clients_are_errors_of_the_catalog() -> None:
    hive, glue = HiveCatalog(), GlueCatalog()
    hive.error = TimeoutError("timed out")
    with pytest.raises(SourceTimeout, match="catalog hive"):
        names_of(hive).names()  # type: ignore[arg-type]
    glue.glue.error = ClientError("ExpiredTokenException")
    with pytest.raises(SourceUnavailable, match=r"renew the credentials.*ExpiredTokenException"):
        names_of(glue).names()  # type: ignore[arg-type]


def test_a_database_that_is_dropped_while_it_is_listed_has_no_tables() -> None:
    glue = GlueCatalog()
    glue.glue.error = ClientError("EntityNotFoundException")
    names = names_of(glue).names()  # type: ignore[arg-type]
    assert (names.tables, names.troubles) == ({}, ())
