"""A long history on real Spark: resumed to the same rows where it died, and a table's manifests read by many tasks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from lakes import FixedClock, fresh_reader
from limnograph.adapters.iceberg.sums.cache_file import iceberg_folder
from limnograph.adapters.sandbox.messages import StorageAccess
from limnograph.domain.failpoints import FailpointReached, Failpoints
from limnograph.domain.metadata.due import DueTable
from limnograph.services.extraction.extract import extract
from limnograph.services.pipeline.portions import BLOCK_DAYS
from limnograph.services.pipeline.report import PassReport
from limnograph.wiring import pipeline
from metadata_writer import MetadataTable
from pointed_lake import PointedLake

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
DAY_MS = 86_400_000
DAYS = 95


@pytest.fixture(scope="module")
def lake(spark: SparkSession, spark_home: Path) -> PointedLake:
    return PointedLake(spark_home, name="shared")


@pytest.fixture(scope="module")
def old(lake: PointedLake) -> MetadataTable:
    """A table with a commit a day."""
    table = lake.written("aged.orders", list_it=False)
    for _ in range(DAYS):
        table.now_ms += DAY_MS - 1_000
        table.append(table.file("eu"))
    lake.point("aged.orders", table)
    return table


@pytest.fixture
def passed(spark: SparkSession, lake: PointedLake) -> Callable[[str, str], PassReport]:
    """One pass into meta tables of a namespace, dying at a failpoint."""

    def run(namespace: str, failpoint: str = "") -> PassReport:
        settings = lake.settings(meta={"namespace": namespace}, observe={"include": ["shared.aged.orders"]})
        return pipeline.passes(settings, spark, failpoints=Failpoints(failpoint)).run()

    return run


def rows_in(spark: SparkSession, namespace: str) -> list[dict[str, Any]]:
    found = spark.sql(f"select * from shared.{namespace}.snapshots order by snapshot_id").toArrow()
    return found.drop_columns(["run_id", "observed_at"]).to_pylist()


def test_a_backfill_that_died_resumes_to_the_same_rows_in_one_file_per_day(
    spark: SparkSession, old: MetadataTable, passed: Callable[..., PassReport]
) -> None:
    whole, broken = (f"aged_meta_{uuid4().hex[:8]}" for _ in range(2))
    assert passed(whole).snapshots_appended == DAYS
    with pytest.raises(FailpointReached):
        passed(broken, "after_append_snapshots:1:raise")
    newest = [row["snapshot_id"] for row in rows_in(spark, broken)]
    assert sorted(newest) == sorted(list(old.snapshots)[-BLOCK_DAYS:])
    report = passed(broken)
    assert (report.snapshots_appended, report.gaps, report.pending) == (DAYS - BLOCK_DAYS, 0, False)
    assert rows_in(spark, broken) == rows_in(spark, whole)
    assert passed(broken).snapshots_appended == 0
    files = spark.sql(f"select max(file_count), count(*) from shared.{whole}.snapshots.partitions").collect()
    assert files == [(1, DAYS)]


def test_manifests_read_by_many_tasks_yield_the_rows_of_one_reader(
    spark: SparkSession, lake: PointedLake, old: MetadataTable, tmp_path: Path
) -> None:
    from limnograph.adapters.spark.extraction import SparkExtraction

    due = DueTable(
        catalog="shared",
        namespace="aged",
        table="orders",
        table_uuid="u",
        metadata_location=old.metadata_location,
        snapshot_ids=[next(reversed(old.snapshots))],
    )
    access = StorageAccess({"shared": lake.properties}, cache_dir=str(tmp_path))
    found = SparkExtraction(spark, lambda: access, most_manifests=20).run([due])
    (expected,) = extract(due, fresh_reader(), FixedClock())
    (row,) = found.rows.to_pylist()
    assert (found.missed, row["status"], row["tier"]) == ({}, "ok", "entries")
    assert (row["manifests"], row["total_data_files"], row["total_bytes"]) == (DAYS, DAYS, expected.total_bytes)
    assert row["debt_files"] == expected.debt_files
    assert len(row["partitions"]) == len(expected.partitions or [])
    assert list(iceberg_folder(str(tmp_path)).glob("*.sqlite"))
