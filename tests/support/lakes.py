"""Factories of small real Iceberg lakes: PyIceberg commits on an SQLite catalog, and ways to damage them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.transforms import IdentityTransform
from pyiceberg.typedef import Record
from pyiceberg.types import LongType, NestedField, StringType
from sqlalchemy import text

from limnograph.adapters.iceberg.reader import IcebergReader
from limnograph.adapters.iceberg.sums.cache import ManifestCache
from limnograph.adapters.storage.files import FileStorage
from limnograph.domain.facts.meta_tables import SnapshotFact
from limnograph.domain.metadata.due import DueTable
from limnograph.services.extraction.extract import extract
from limnograph.settings import Settings, parse

SCHEMA = Schema(NestedField(1, "id", LongType()), NestedField(2, "region", StringType()))
BY_REGION = PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "region"))


class FixedClock:
    """Port Clock that stands still until it is told."""

    def __init__(self, micros: int = 1_800_000_000_000_000) -> None:
        self.micros = micros

    def now(self) -> int:
        self.micros += 1
        return self.micros


class Lake:
    """A catalog in a folder. Tables have columns `id`, `region` and are partitioned by region."""

    def __init__(self, folder: Path, name: str = "lake") -> None:
        self.folder, self.name = folder, name
        self.properties = {
            "type": "sql",
            "uri": f"sqlite:///{folder}/catalog.db",
            "warehouse": f"file://{folder}/warehouse",
        }
        self.catalog = SqlCatalog(name, **{k: v for k, v in self.properties.items() if k != "type"})

    def settings(self, **sections: Any) -> Settings:
        """Settings that observe this lake and keep the meta tables in it."""
        return parse({"catalogs": {self.name: self.properties}, **sections}, self.folder)

    def table(self, name: str = "sales.orders", **properties: str) -> Table:
        """A new empty table."""
        self.catalog.create_namespace_if_not_exists(name.split(".", maxsplit=1)[0])
        return self.catalog.create_table(name, SCHEMA, partition_spec=BY_REGION, properties=properties)

    def load(self, name: str = "sales.orders") -> Table:
        return self.catalog.load_table(name)

    def move(self, name: str, location: str) -> None:
        """Point the catalog at another metadata file."""
        namespace, table = name.split(".")
        with self.catalog.engine.begin() as connection:
            connection.execute(
                text("update iceberg_tables set metadata_location = :l where table_namespace = :n and table_name = :t"),
                {"l": location, "n": namespace, "t": table},
            )


def rows(*regions: str) -> pa.Table:
    """One row a region."""
    return pa.table({"id": list(range(len(regions))), "region": list(regions)})


def placeholders(table: Table, count: int, *, region: str = "eu", size: int = 900_000, tag: str = "p") -> None:
    """Append `count` data files that exist only in metadata."""
    with table.transaction() as tx, tx.update_snapshot().fast_append() as update:
        for index in range(count):
            update.append_data_file(_data_file(f"{table.location()}/data/{tag}-{index}.parquet", region, size))


def _data_file(path: str, region: str, size: int) -> DataFile:
    return DataFile.from_args(
        content=DataFileContent.DATA,
        file_path=path,
        file_format=FileFormat.PARQUET,
        partition=Record(region),
        record_count=10,
        file_size_in_bytes=size,
        column_sizes={1: 5, 2: 5},
        value_counts={1: 10, 2: 10},
        null_value_counts={1: 0, 2: 0},
        nan_value_counts={},
        lower_bounds={1: b"\x00" * 8},
        upper_bounds={1: b"\x01" * 8},
        key_metadata=None,
        split_offsets=[4],
        equality_ids=None,
        sort_order_id=None,
        spec_id=0,
    )


def path_of(location: str) -> Path:
    """Local path of a `file:` location."""
    return Path("/" + location.removeprefix("file:").lstrip("/"))


def rewrite_metadata(table: Table, change: Any) -> str:
    """Write the table's metadata as `change(document)` left it, beside the old file; its location."""
    source = path_of(table.metadata_location)
    document = json.loads(source.read_text())
    change(document)
    target = source.with_name("99999-" + source.name.split("-", 1)[1])
    target.write_text(json.dumps(document))
    return f"file://{target}"


def strip_summaries(document: dict[str, Any]) -> None:
    """Leave nothing but the operation in every summary."""
    for snapshot in document["snapshots"]:
        snapshot["summary"] = {"operation": snapshot["summary"]["operation"]}


def due_of(lake: Lake, name: str) -> DueTable:
    """All snapshots of table `sales.<name>`, as they are now."""
    found = lake.load(f"sales.{name}")
    return DueTable(
        catalog="lake",
        namespace="sales",
        table=name,
        table_uuid=str(found.metadata.table_uuid),
        metadata_location=found.metadata_location,
        snapshot_ids=[snapshot.snapshot_id for snapshot in found.snapshots()],
    )


def fresh_reader(path_map: dict[str, str] | None = None) -> IcebergReader:
    """Reader that remembers no manifest of another test."""
    return IcebergReader(FileStorage({}, path_map), ManifestCache())


def facts(location: str, only: set[int] | None = None, **due: Any) -> list[SnapshotFact]:
    """All snapshots (or `only` some) of a metadata file as facts."""
    reader = fresh_reader()
    metadata = reader.metadata(location)
    wanted = [i for i in metadata.snapshots if only is None or i in only]
    asked = DueTable(
        catalog="lake",
        namespace="sales",
        table="orders",
        table_uuid=metadata.table_uuid,
        metadata_location=location,
        snapshot_ids=wanted,
        **due,
    )
    return extract(asked, reader, FixedClock())
