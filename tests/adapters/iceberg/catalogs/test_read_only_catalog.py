"""An observed SQL catalog is only read: no file, no table and no column comes of looking at it."""

import sqlite3
from pathlib import Path

import pytest
from pyiceberg.exceptions import NoSuchTableError
from sqlalchemy.exc import OperationalError

from lakes import Lake
from limnograph.adapters.embedded.engine import EmbeddedEngine
from limnograph.adapters.iceberg.catalogs.catalog import observed_catalog, open_catalog
from limnograph.domain.errors import SourceUnavailable


def properties(folder: Path, file: str, prefix: str = "sqlite:///") -> dict[str, str]:
    return {"type": "sql", "uri": f"{prefix}{folder}/{file}", "warehouse": f"file://{folder}"}


@pytest.mark.parametrize("prefix", ["sqlite:///", "sqlite+pysqlite:///", "sqlite:///file:"])
def test_a_mistyped_path_creates_nothing_and_is_named(prefix, tmp_path) -> None:
    given = properties(tmp_path, "ctalog.db", prefix)
    given["uri"] += "?uri=true" if "file:" in prefix else "?timeout=3"
    with pytest.raises(SourceUnavailable, match=r"database .*ctalog\.db does not exist; check catalogs\.lake\.uri"):
        observed_catalog("lake", given).names()
    assert EmbeddedEngine(lambda: open_catalog("lake", given), ("limnograph",)).head().snapshots is None
    assert list(tmp_path.iterdir()) == []


def test_no_catalog_tables_are_created_in_another_database(tmp_path) -> None:
    with sqlite3.connect(tmp_path / "shop.db") as shop:
        shop.execute("create table orders (id integer)")
    with pytest.raises(SourceUnavailable, match="has no table iceberg_tables"):
        observed_catalog("lake", properties(tmp_path, "shop.db")).names()
    assert sqlite3.connect(tmp_path / "shop.db").execute("select name from sqlite_master").fetchall() == [("orders",)]


def test_an_old_catalog_keeps_its_columns_although_a_newer_schema_is_requested(tmp_path) -> None:
    lake = Lake(tmp_path)
    lake.table("sales.orders")
    with sqlite3.connect(tmp_path / "catalog.db") as old:
        old.execute("alter table iceberg_tables drop column iceberg_type")
    given = lake.properties | {"schema_version": "v1"}
    assert [str(name) for name in observed_catalog("lake", given).names().tables] == ["lake.sales.orders"]
    assert open_catalog("lake", given).load_table("sales.orders").name() == ("sales", "orders")
    columns = sqlite3.connect(tmp_path / "catalog.db").execute("pragma table_info(iceberg_tables)").fetchall()
    assert "iceberg_type" not in {name for _, name, *_ in columns}


@pytest.mark.parametrize("name", ["with space.db", "h#sh.db", "grün.db"])
def test_a_file_of_any_name_is_read_and_none_is_written(name, tmp_path) -> None:
    lake = Lake(tmp_path)
    lake.table("sales.orders")
    (tmp_path / "catalog.db").rename(tmp_path / name)
    given = properties(tmp_path, name)
    catalog = open_catalog("lake", given)
    assert len(observed_catalog("lake", given).names().tables) == 1
    with pytest.raises(OperationalError, match="readonly"):
        catalog.create_namespace("more")


def test_a_catalog_created_later_is_found_by_the_same_reader(tmp_path) -> None:
    given = properties(tmp_path, "catalog.db")
    observed, opened = observed_catalog("lake", given), open_catalog("lake", given)
    with pytest.raises(NoSuchTableError):
        opened.load_table("sales.orders")
    Lake(tmp_path).table("sales.orders")
    assert [str(name) for name in observed.names().tables] == ["lake.sales.orders"]
    assert opened.load_table("sales.orders").name() == ("sales", "orders")


def test_writing_is_an_explicit_option(tmp_path) -> None:
    open_catalog("lake", properties(tmp_path, "catalog.db"), write=True).create_namespace("sales")
    assert (tmp_path / "catalog.db").exists()
