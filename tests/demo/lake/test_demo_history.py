"""A history made by PyIceberg and moved in time: every commit at its planned instant, and the table lives on."""

from pathlib import Path

import pytest
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import DayTransform
from pyiceberg.types import LongType, NestedField, TimestamptzType

from lakes import Lake
from limnograph.demo.lake.commits import LakeLocation, Mark, make_appends, mark, open_table
from limnograph.demo.lake.timeshift import CatalogFile, Stage, local, moved, shift
from limnograph.demo.metrics.tables import COLUMNS, main_moves, table_families
from limnograph.demo.story.calendar import DAY, MINUTE, Calendar
from limnograph.demo.story.steps import Append, Files, Writer

WRITER = Writer("app-1", "ingest", "svc")
CALENDAR = Calendar.at(1_795_270_000_000)
STEPS = [Append(CALENDAR.start + n * 7 * MINUTE + n, Files(n + 1, rows=10), WRITER, late_days=n % 2) for n in range(7)]


@pytest.fixture
def place(lake: Lake) -> LakeLocation:
    lake.catalog.create_namespace("sales")
    schema = Schema(NestedField(1, "id", LongType()), NestedField(2, "event_time", TimestamptzType()))
    spec = PartitionSpec(PartitionField(2, 1000, DayTransform(), "event_time_day"))
    lake.catalog.create_table("sales.events", schema, partition_spec=spec)
    return LakeLocation(lake.properties["uri"], lake.properties["warehouse"])


@pytest.fixture
def marks(place: LakeLocation) -> list[Mark]:
    created = mark(open_table(place, "sales.events"), CALENDAR.start - 1_000, None)
    return [created, *make_appends(place, "sales.events", STEPS)]


def database(place: LakeLocation) -> Path:
    return Path(place.uri.removeprefix("sqlite:///"))


def test_each_append_is_one_snapshot_with_the_writer_in_its_summary(place: LakeLocation, marks: list[Mark]) -> None:
    snapshots = open_table(place, "sales.events").metadata.snapshots
    assert [one.snapshot_id for one in marks[1:]] == [one.snapshot_id for one in snapshots]
    assert [one.summary["added-data-files"] for one in snapshots] == [str(n + 1) for n in range(7)]
    assert {one.summary["app-id"] for one in snapshots} == {"app-1"}


def test_late_files_are_in_the_partition_of_the_day_before(place: LakeLocation, marks: list[Mark]) -> None:
    table = open_table(place, "sales.events")
    days = {row["partition"]["event_time_day"].toordinal() for row in table.inspect.partitions().to_pylist()}
    today = CALENDAR.start // DAY + 719_163
    assert days == {today, today - 1}


def test_after_the_shift_every_snapshot_has_its_planned_instant(place: LakeLocation, marks: list[Mark]) -> None:
    stages = shift(CatalogFile(database(place)), "sales.events", marks, 3)
    CatalogFile(database(place)).point("sales.events", stages[-1].location)
    metadata = open_table(place, "sales.events").metadata
    assert [one.timestamp_ms for one in metadata.snapshots] == [step.at for step in STEPS]
    assert [one.timestamp_ms for one in metadata.snapshot_log] == [step.at for step in STEPS]
    assert metadata.last_updated_ms == STEPS[-1].at
    logged = [entry.timestamp_ms for entry in metadata.metadata_log]
    assert logged == sorted(logged)
    assert logged[0] == CALENDAR.start - 1_000
    assert logged[-1] == STEPS[-1].at


def test_the_stages_lead_from_a_part_of_the_history_to_all_of_it(place: LakeLocation, marks: list[Mark]) -> None:
    stages = shift(CatalogFile(database(place)), "sales.events", marks, 3)
    assert [stage.snapshots for stage in stages] == [3, 6, 7]
    assert CatalogFile(database(place)).location("sales.events") == stages[0].location
    for stage in stages:
        CatalogFile(database(place)).point("sales.events", stage.location)
        known = open_table(place, "sales.events").metadata.snapshots
        assert [one.timestamp_ms for one in known] == [step.at for step in STEPS[: stage.snapshots]]


def test_no_metadata_file_with_the_time_of_the_build_is_left(place: LakeLocation, marks: list[Mark]) -> None:
    stages = shift(CatalogFile(database(place)), "sales.events", marks, 3)
    for file in local(stages[-1].location).parent.glob("*.metadata.json"):
        assert '"timestamp-ms":18' not in file.read_text().replace(" ", "")
        assert str(marks[-1].real) not in file.read_text()


def test_a_moved_table_accepts_new_commits(place: LakeLocation, marks: list[Mark]) -> None:
    stages = shift(CatalogFile(database(place)), "sales.events", marks, 3)
    CatalogFile(database(place)).point("sales.events", stages[-1].location)
    make_appends(place, "sales.events", [Append(0, Files(1), WRITER)])
    assert len(open_table(place, "sales.events").metadata.snapshots) == 8


def test_an_unplanned_snapshot_is_an_error() -> None:
    metadata = {"last-updated-ms": 5, "snapshots": [{"snapshot-id": 9, "timestamp-ms": 5}]}
    with pytest.raises(KeyError):
        moved(metadata, [Mark(1, None, 5, "x")])


def test_table_gauges_equal_the_summaries_at_each_instant(place: LakeLocation, marks: list[Mark]) -> None:
    stages: list[Stage] = shift(CatalogFile(database(place)), "sales.events", marks, 3)
    CatalogFile(database(place)).point("sales.events", stages[-1].location)
    metadata = open_table(place, "sales.events").metadata
    rows = {
        one.snapshot_id: {
            **dict.fromkeys(COLUMNS),
            "operation": one.summary.operation.value,
            "total_data_files": int(one.summary["total-data-files"]),
            "added_data_files": int(one.summary["added-data-files"]),
        }
        for one in metadata.snapshots
    }
    moves = main_moves(local(stages[-1].location), rows)
    families = {family.name: family for family in table_families(CALENDAR, {"sales.events": moves})}
    samples = dict(families["lakehouse_table_data_files"].series[0].samples)
    for at, value in samples.items():
        newest = [one for one in metadata.snapshot_log if one.timestamp_ms <= at * 1000][-1]
        assert value == rows[newest.snapshot_id]["total_data_files"]
    assert min(samples) * 1000 >= STEPS[0].at
    counted = [value for _, value in families["lakehouse_table_added_data_files_total"].series[0].samples]
    assert counted == sorted(counted)
    assert counted[-1] == sum(range(1, 8))
