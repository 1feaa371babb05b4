"""Housekeeping on real Spark and Iceberg: a world through a virtual clock, and a reader that stays pinned."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import msgspec
import polars as pl
import pyarrow.parquet as pq
import pytest
from pyiceberg.transforms import MonthTransform
from pyiceberg.types import LongType

from lakes import FixedClock, Lake, path_of, rows
from limnograph.adapters.meta.schema import arrow_table
from limnograph.adapters.meta.tables import ensure_meta_tables
from limnograph.adapters.spark.housekeeping import SparkUpkeep
from limnograph.adapters.spark.store import SparkMetaStore
from limnograph.domain.facts.events import ReportFact
from limnograph.domain.facts.meta_tables import (
    DAILY,
    HOURLY,
    MAINTENANCE,
    META_TABLES,
    REPORTS,
    SNAPSHOTS,
    SnapshotFact,
)
from limnograph.domain.failpoints import Failpoints
from limnograph.jobs.housekeeping import run_due_steps
from limnograph.services.rollups.fold import DAY, HOUR
from limnograph.wiring import pipeline
from limnograph.wiring.housekeeping import housekeeping

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def test_three_idle_hours_roll_up_compact_and_expire_and_break_no_pinned_reader(
    spark: SparkSession, shared_lake: Lake
) -> None:
    mark = uuid4().hex[:8]
    settings = shared_lake.settings(meta={"namespace": f"meta_{mark}"}, observe={"include": [f"shared.sales_{mark}.*"]})
    table = shared_lake.table(f"sales_{mark}.orders")
    passes = pipeline.passes(settings, spark, failpoints=Failpoints())
    for _ in range(3):
        table.append(rows("eu", "us"))
    assert passes.run().snapshots_appended == 3
    clock = FixedClock(time.time_ns() // 1000)
    store = pipeline.meta_store(settings, spark)
    planned = shared_lake.load(f"meta_{mark}.snapshots")  # its head is none of the newest 10 when it is read
    for number in range(12):
        at = clock.now() - number  # against the order in which they lie
        fact = SnapshotFact(table_uuid="other", snapshot_id=number, committed_at=at, operation="append")
        store.append(SNAPSHOTS, arrow_table(SNAPSHOTS, [fact]), store.head(SNAPSHOTS), "run")
    said: list[str] = []
    made = housekeeping(settings, spark, failpoints=Failpoints(), clock=clock)
    first = run_due_steps(made, said.append)
    assert {(r.kind, r.problem) for r in first} == {
        ("rollup", None),
        ("compact", None),
        ("repair", None),
        ("deepen", None),
        ("train", None),  # looks whether there are enough tables
    }

    def read(name: str) -> list[dict[str, Any]]:
        return shared_lake.load(f"meta_{mark}.{name}").scan().to_arrow().to_pylist()

    clock.micros += HOUR * 5 // 6
    run_due_steps(made, said.append)
    assert planned.scan().to_arrow().num_rows == 3  # its file is rewritten and its hour is not over
    pinned = shared_lake.load(f"meta_{mark}.snapshots")
    clock.micros += 3 * HOUR
    done = run_due_steps(made, said.append)
    assert [r.problem for r in done if r.problem] == []
    assert ("expire", "snapshots") in {(r.kind, r.table) for r in done}
    snapshots = shared_lake.load(f"meta_{mark}.snapshots")
    assert len(snapshots.metadata.snapshots) <= 11
    (file,) = snapshots.scan().plan_files()
    written = pq.read_table(path_of(file.file.file_path), columns=["table_uuid", "committed_at"]).to_pylist()
    assert written == sorted(written, key=lambda row: (row["table_uuid"], row["committed_at"]))
    lists = list(Path(snapshots.location().removeprefix("file://")).glob("metadata/snap-*.avro"))
    assert len(lists) == len(snapshots.metadata.snapshots)  # what only expired snapshots had is gone
    assert pinned.scan().to_arrow().num_rows == 15  # the head of a reader that planned before the expiry
    assert len(read("snapshots")) == 15
    hours, days = read(HOURLY.name), read(DAILY.name)
    assert sum(row["commits"] for row in hours) == sum(row["commits"] for row in days) == 15
    newest = max((row for row in hours if row["table_uuid"] != "other"), key=lambda row: row["hour"])
    assert (newest["total_records_last"], newest["main_snapshot_id"]) == (6, table.current_snapshot().snapshot_id)
    assert sum(row["main_moves"] for row in hours) == 3
    runs = read(MAINTENANCE.name)
    assert {row["status"] for row in runs} == {"ok"}
    compacted = next(row for row in runs if row["kind"] == "compact" and row["table"] == SNAPSHOTS.name)
    assert (compacted["files_before"], compacted["files_after"]) == (13, 1)
    assert len({row["run_id"] for row in runs}) == len(runs)
    assert passes.run().snapshots_appended == 0
    assert {t.name for t in META_TABLES} >= {row["table"] for row in runs}
    table.append(rows("eu"))
    assert passes.run().snapshots_appended == 1
    assert any(line.startswith("housekeeping: expire snapshots: ") for line in said)


def test_older_commits_of_a_first_sight_are_read_to_their_entries_when_nothing_else_is_due(
    spark: SparkSession, shared_lake: Lake
) -> None:
    mark = uuid4().hex[:8]
    settings = shared_lake.settings(meta={"namespace": f"meta_{mark}"}, observe={"include": [f"shared.sales_{mark}.*"]})
    table = shared_lake.table(f"sales_{mark}.orders")
    for _ in range(52):
        table.append(rows("eu", "us"))
    passes = pipeline.passes(settings, spark, failpoints=Failpoints())
    assert passes.run().snapshots_appended == 52

    def read(name: str, *columns: str) -> list[dict[str, Any]]:
        return shared_lake.load(f"meta_{mark}.{name}").scan(selected_fields=columns or ("*",)).to_arrow().to_pylist()

    columns = "snapshot_id", "tier", "partitions_total", "file_size_p50"
    tiers = [row["tier"] for row in read("snapshots", *columns)]
    assert sorted(tiers) == ["entries"] + ["manifest_list"] * 51
    clock = FixedClock(time.time_ns() // 1000)
    run_due_steps(housekeeping(settings, spark, failpoints=Failpoints(), clock=clock), lambda _line: None)
    deep = read("snapshots", *columns)
    assert len(deep) == 52
    assert all(row["tier"] == "entries" and row["file_size_p50"] for row in deep)
    (step,) = [row for row in read(MAINTENANCE.name) if row["kind"] == "deepen"]
    assert (step["status"], step["rows"]) == ("ok", 51)
    assert passes.run().snapshots_appended == 0


def test_an_orphan_file_is_counted_and_deleted_once_it_is_three_days_old(
    spark: SparkSession, shared_lake: Lake
) -> None:
    namespace = f"meta_{uuid4().hex[:8]}"
    store = SparkMetaStore(spark, lambda: shared_lake.catalog, namespace)
    store.ensure()
    store.append(SNAPSHOTS, arrow_table(SNAPSHOTS, [SnapshotFact(table_uuid="u", snapshot_id=1)]), None, "run")
    kept = shared_lake.load(f"{namespace}.snapshots")
    old, fresh = (path_of(kept.location()) / "data" / f"{name}.parquet" for name in ("old", "fresh"))
    for stray in (old, fresh):
        stray.write_bytes(b"left by a writer that died")
    os.utime(old, (time.time() - 5 * 86_400,) * 2)
    upkeep = SparkUpkeep(spark, lambda: shared_lake.catalog, namespace)
    before = time.time_ns() // 1000 - 3 * DAY
    assert upkeep.orphans(SNAPSHOTS, before, remove=False) == 1
    assert old.exists()
    assert upkeep.orphans(SNAPSHOTS, before, remove=True) == 1
    assert (old.exists(), fresh.exists()) == (False, True)
    assert kept.scan().to_arrow().num_rows == 1


def test_an_older_pipeline_writes_into_tables_to_which_a_newer_one_added_columns(
    spark: SparkSession, shared_lake: Lake
) -> None:
    namespace = f"meta_{uuid4().hex[:8]}"
    store = SparkMetaStore(spark, lambda: shared_lake.catalog, namespace)
    store.ensure()
    for name in (SNAPSHOTS.name, DAILY.name):
        with shared_lake.load(f"{namespace}.{name}").update_schema() as update:
            update.add_column("of_tomorrow", LongType())
    fact = SnapshotFact(table_uuid="u", snapshot_id=1, committed_at=5, status="partial", tier="summary")
    store.append(SNAPSHOTS, arrow_table(SNAPSHOTS, [fact]), None, "run")
    better = msgspec.structs.replace(fact, status="ok", tier="entries")
    store.replace(arrow_table(SNAPSHOTS, [better]))
    days = pl.DataFrame({"table_uuid": ["u"], "day": [0], "source_sequence": [1], "changes_sequence": [1]})
    upkeep = SparkUpkeep(spark, lambda: shared_lake.catalog, namespace)
    upkeep.merge(DAILY, days)
    upkeep.merge(DAILY, days.with_columns(source_sequence=pl.lit(2)))
    rows = shared_lake.load(f"{namespace}.snapshots").scan().to_arrow().to_pylist()
    assert [(row["status"], row["of_tomorrow"]) for row in rows] == [("ok", None)]
    rows = shared_lake.load(f"{namespace}.snapshots_daily").scan().to_arrow().to_pylist()
    assert [(row["source_sequence"], row["of_tomorrow"]) for row in rows] == [(2, None)]


def test_reports_of_a_monthly_table_are_kept_while_new_ones_are_partitioned_by_day(
    spark: SparkSession, shared_lake: Lake
) -> None:
    namespace = f"meta_{uuid4().hex[:8]}"
    store = SparkMetaStore(spark, lambda: shared_lake.catalog, namespace)
    store.ensure()
    with shared_lake.load(f"{namespace}.{REPORTS.name}").update_spec() as update:
        update.remove_field("at_day").add_field("at", MonthTransform(), "at_month")
    upkeep = SparkUpkeep(spark, lambda: shared_lake.catalog, namespace)

    def put(*days: int) -> None:
        facts = [ReportFact(event_id=str(day), at=day * DAY, kind="scan", source="spark") for day in days]
        store.append(REPORTS, arrow_table(REPORTS, facts), store.head(REPORTS), "run")

    def left() -> list[str]:
        return sorted(shared_lake.load(f"{namespace}.{REPORTS.name}").scan().to_arrow()["event_id"].to_pylist())

    put(1, 20)
    ensure_meta_tables(shared_lake.catalog, namespace)
    put(21, 22)
    parts = [(part.start, part.end, part.files) for part in upkeep.standing(REPORTS).parts]
    assert parts == [(0, 31 * DAY, 1), (21 * DAY, 22 * DAY, 1), (22 * DAY, 23 * DAY, 1)]
    before = shared_lake.load(f"{namespace}.{REPORTS.name}").metadata_location
    ensure_meta_tables(shared_lake.catalog, namespace)
    assert shared_lake.load(f"{namespace}.{REPORTS.name}").metadata_location == before
    upkeep.delete_before(REPORTS, 20 * DAY)
    assert left() == ["20", "21", "22"]
    upkeep.delete_before(REPORTS, 22 * DAY)
    assert left() == ["22"]
    (part,) = upkeep.standing(REPORTS).parts
    upkeep.compact(REPORTS, part, whole=True)
    assert left() == ["22"]
