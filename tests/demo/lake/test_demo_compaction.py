"""`demo compact`: real files of bursts are merged by a commit of operation `replace`, and every row stays."""

from pathlib import Path

from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import DayTransform
from pyiceberg.types import LongType, NestedField, TimestamptzType

from limnograph.demo.burst import ROWS, append
from limnograph.demo.compaction import burst_files, replace
from limnograph.demo.folder import Folder

SCHEMA = Schema(NestedField(1, "id", LongType()), NestedField(2, "event_time", TimestamptzType()))
BY_DAY = PartitionSpec(PartitionField(2, 1000, DayTransform(), "day"))


def test_the_files_of_two_bursts_become_one_by_a_replace(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.make()
    catalog = SqlCatalog("lake", uri=folder.place.uri, warehouse=folder.place.warehouse)
    catalog.create_namespace("sales")
    append(catalog.create_table("sales.events", SCHEMA, partition_spec=BY_DAY), 5)
    append(catalog.load_table("sales.events"), 6)
    table = catalog.load_table("sales.events")
    assert len(burst_files(table)) == 11

    made = replace(table, burst_files(table))

    table = catalog.load_table("sales.events")
    newest = table.current_snapshot()
    assert newest is not None
    assert newest.summary is not None
    days = len({file.partition for file in burst_files(table)})
    assert (made.snapshot_id, made.removed, made.added) == (newest.snapshot_id, 11, days)
    assert newest.summary.operation.value == "replace"
    numbers = {name: newest.summary[name] for name in ("total-data-files", "deleted-data-files", "total-records")}
    assert numbers == {"total-data-files": str(days), "deleted-data-files": "11", "total-records": str(11 * ROWS)}
    assert table.scan().to_arrow().num_rows == 11 * ROWS
