"""What jobs share: the session, the connection to the shop, the catalog as PyIceberg opens it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from lakehouse.parts import database
from lakehouse.parts.places import BUCKET, KEY, REGION, SECRET, Places

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog
    from pyiceberg.io import FileIO
    from pyspark.sql import SparkSession

SNAPSHOT_PROPERTY = "spark.sql.iceberg.snapshot-property."
MERGE_ON_READ = {f"write.{command}.mode": "merge-on-read" for command in ("delete", "update", "merge")}


class TableLayout(NamedTuple):
    """A table as the lakehouse creates it. `pii`: what personal data it holds."""

    name: str
    columns: str
    partitioned_by: str
    properties: Mapping[str, str]
    pii: str = "none"


class Lake:
    """Used by one thread at a time."""

    def __init__(self, places: Places, spark: SparkSession) -> None:
        self.places, self.spark = places, spark

    @cached_property
    def shop(self) -> Any:
        """The shop's database."""
        return database.connect(self.places)

    def close(self) -> None:
        """End the connection to the shop, for which its database would wait when it is to end."""
        if "shop" in vars(self):
            self.shop.close()

    @cached_property
    def catalog(self) -> Catalog:
        """The catalog, as PyIceberg opens it."""
        from pyiceberg.catalog import load_catalog

        return load_catalog("lake", **self.places.iceberg())

    @cached_property
    def files(self) -> FileIO:
        """The object store, without a table."""
        from pyiceberg.io import load_file_io

        properties = {"s3.access-key-id": KEY, "s3.secret-access-key": SECRET, "s3.region": REGION}
        return load_file_io({**properties, "s3.endpoint": self.places.store}, f"s3://{BUCKET}/")

    def sql(self, statement: str) -> list[Any]:
        """Run a statement and fetch its rows."""
        return list(self.spark.sql(statement).collect())

    def one(self, statement: str) -> Any:
        """The first value of the first row."""
        return self.sql(statement)[0][0]

    def create(self, layout: TableLayout, location: str = "") -> None:
        """Create a table, and its namespace, unless they exist. `location`: if not the catalog's choice."""
        namespace = layout.name.rpartition(".")[0]
        self.sql(f"create namespace if not exists {namespace}")
        given = {"format-version": "2", **layout.properties, "pii": layout.pii}
        properties = ", ".join(f"'{key}' = '{value}'" for key, value in given.items())
        by = f"partitioned by ({layout.partitioned_by})" if layout.partitioned_by else ""
        at = f" location '{location}'" if location else ""
        table = f"{layout.name} ({layout.columns}) using iceberg {by}{at}"
        self.sql(f"create table if not exists {table} tblproperties ({properties})")

    def snapshot(self, table: str, branch: str = "main") -> int | None:
        """The snapshot that a branch points at."""
        found = self.catalog.load_table(table.removeprefix("lake.")).metadata.refs.get(branch)
        return found.snapshot_id if found else None

    @contextmanager
    def stamped(self, **properties: Any) -> Iterator[None]:
        """Every commit of the block carries these properties in its summary, as `lake.<name>`."""
        names = {f"{SNAPSHOT_PROPERTY}lake.{name}": str(value) for name, value in properties.items()}
        for key, value in names.items():
            self.spark.conf.set(key, value)
        try:
            yield
        finally:
            for key in names:
                self.spark.conf.unset(key)
