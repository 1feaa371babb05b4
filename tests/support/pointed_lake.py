"""A real SQLite catalog whose pointers a test moves by hand, at tables of `metadata_writer.py`."""

from __future__ import annotations

from typing import Any

from sqlalchemy import text

from lakes import Lake, fresh_reader
from limnograph.adapters.iceberg.catalogs.sql import SqlNames
from limnograph.ports.catalog import TablePointer
from limnograph.ports.lake import LakeListing
from limnograph.ports.table_reader import TableReader
from limnograph.ports.tables import Tables
from metadata_writer import MetadataTable
from near_tables import NearTables


class PointedLake(Lake):
    """Names are `namespace.table`."""

    def written(self, name: str = "sales.orders", *, list_it: bool = True, **how: Any) -> MetadataTable:
        """A new table of our own writer, listed under a name."""
        made = sum(1 for _ in (self.folder / "warehouse" / "written").glob("*"))
        how.setdefault("seed", made + 1)
        table = MetadataTable(self.folder / "warehouse" / "written" / f"{made:03d}-{name}", **how)
        if list_it:
            self.point(name, table)
        return table

    def point(self, name: str, table: MetadataTable | str) -> None:
        """List a table under a name, at its newest metadata or at the file that is given."""
        location = table if isinstance(table, str) else table.metadata_location
        namespace, short = name.split(".")
        self.drop(name)
        self._run(
            "insert into iceberg_tables (catalog_name, table_namespace, table_name, metadata_location, iceberg_type) "
            "values (:c, :n, :t, :l, 'TABLE')",
            c=self.name,
            n=namespace,
            t=short,
            l=location,
        )

    def drop(self, name: str) -> None:
        """Take a name off the list."""
        namespace, short = name.split(".")
        self._run("delete from iceberg_tables where table_namespace = :n and table_name = :t", n=namespace, t=short)

    def rename(self, old: str, new: str) -> None:
        """List what stands under one name under another one."""
        (space, short), (old_space, old_short) = new.split("."), old.split(".")
        self._run(
            "update iceberg_tables set table_namespace = :n, table_name = :t "
            "where table_namespace = :o and table_name = :p",
            n=space,
            t=short,
            o=old_space,
            p=old_short,
        )

    def _run(self, statement: str, **values: str) -> None:
        with self.catalog.engine.begin() as connection:
            connection.execute(text(statement), values)


class NearLake:
    """Port Lake over the catalog of a PointedLake whose tables are read in this process: fast, and its surprises are
    the test's.
    """

    def __init__(self, lake: Lake, reader: TableReader | None = None) -> None:
        self._catalog = SqlNames(lake.catalog)
        self.tables: Tables = NearTables(reader or fresh_reader())

    def listing(self) -> LakeListing:
        pointers = tuple(p for p in self._catalog.names().tables.values() if p)
        catalogs = frozenset([self._catalog.name])
        return LakeListing(pointers, frozenset(str(p.name) for p in pointers), catalogs, answered=catalogs)

    def newest(self, pointer: TablePointer) -> TablePointer | None:
        return self._catalog.probe(pointer.name).pointer
