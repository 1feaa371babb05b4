"""`demo compact`: files of bursts or missed nights are merged by a commit of operation `replace`; every row stays."""

from pathlib import Path

from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import DayTransform
from pyiceberg.typedef import Record
from pyiceberg.types import LongType, NestedField, TimestamptzType

from limnograph.demo.burst import BURST_FILE, ROWS, append, data_file
from limnograph.demo.compaction import described, files_of, replace
from limnograph.demo.folder import Folder
from limnograph.demo.story.plan import NIGHTLY
from limnograph.demo.story.steps import MB

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
    assert len(files_of(table, BURST_FILE)) == 11

    made = replace(table, files_of(table, BURST_FILE))

    table = catalog.load_table("sales.events")
    newest = table.current_snapshot()
    assert newest is not None
    assert newest.summary is not None
    days = len({file.partition for file in files_of(table, BURST_FILE)})
    assert (made.snapshot_id, made.removed, made.added) == (newest.snapshot_id, 11, days)
    assert newest.summary.operation.value == "replace"
    numbers = {name: newest.summary[name] for name in ("total-data-files", "deleted-data-files", "total-records")}
    assert numbers == {"total-data-files": str(days), "deleted-data-files": "11", "total-records": str(11 * ROWS)}
    assert table.scan().to_arrow().num_rows == 11 * ROWS


def test_described_files_become_large_ones_with_as_many_rows(tmp_path: Path) -> None:
    catalog = SqlCatalog("lake", uri=f"sqlite:///{tmp_path}/lake.db", warehouse=f"file://{tmp_path}/lake")
    catalog.create_namespace("ops")
    table = catalog.create_table("ops.logs", SCHEMA)
    names = [f"small-20000-{number}.parquet" for number in range(20)] + ["base-0.parquet"]
    with table.transaction() as transaction, transaction.update_snapshot().fast_append() as added:
        for number, name in enumerate(names):
            added.append_data_file(data_file(table, name, Record(), 10 + number, 20 * MB))

    made = replace(table, files_of(table, NIGHTLY), described)

    assert (made.removed, made.added) == (20, 3)  # of 400 MB
    newest = catalog.load_table("ops.logs").current_snapshot()
    assert newest is not None
    assert newest.summary is not None
    assert newest.summary.operation.value == "replace"
    numbers = {name: newest.summary[f"total-{name}"] for name in ("data-files", "records")}
    assert numbers == {"data-files": "4", "records": str(sum(10 + number for number in range(21)))}
