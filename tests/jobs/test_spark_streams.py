"""Measuring a structured stream: its lag is told per table that it writes, and is gone when it ends."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from limnograph.domain.facts.meta_tables import SnapshotFact
from limnograph.services.table.stream_epochs import stream_epoch
from limnograph.spark_metrics import REGISTRY
from limnograph.spark_streams import StreamMeter, measure_streams

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from lakes import Lake

LAG, PROGRESS = "spark_stream_commit_lag_seconds", "spark_stream_last_progress_timestamp_seconds"
FAILED = "spark_stream_last_failure_timestamp_seconds"


def value(name: str, table: str, query: str) -> float | None:
    labels = {"catalog": "lake", "table_namespace": "a.b", "table": table, "query_name": query}
    return REGISTRY.get_sample_value(name, labels)


def test_a_batch_an_idle_trigger_and_the_end_are_reported_for_each_written_table() -> None:
    meter = StreamMeter({"q1": ["lake.a.b.one", "lake.a.b.two"]})
    meter.started("id-1", "q1")
    meter.batch("q1", 1_000.0, 42.0)
    meter.batch("another", 1_000.0, 7.0)
    for table in ("one", "two"):
        assert (value(LAG, table, "q1"), value(PROGRESS, table, "q1")) == (42.0, 1_042.0)
    meter.idle("id-1", 2_000.0)
    assert (value(LAG, "one", "q1"), value(PROGRESS, "one", "q1")) == (0.0, 2_000.0)
    meter.stopped("id-1")
    assert value(LAG, "one", "q1") is None
    meter.stopped("id-1")


def test_a_failure_is_exposed_until_a_batch_ends_again() -> None:
    meter = StreamMeter({"q2": ["lake.a.b.one"]})
    meter.started("id-1", "q2")
    meter.batch("q2", 1_000.0, 42.0)
    assert value(FAILED, "one", "q2") is None
    meter.stopped("id-1", 1_100.0)
    assert (value(LAG, "one", "q2"), value(FAILED, "one", "q2")) == (None, 1_100.0)
    meter.started("id-2", "q2")
    assert value(FAILED, "one", "q2") == 1_100.0, "it has not shown yet that it runs"
    meter.batch("q2", 1_200.0, 1.0)
    assert value(FAILED, "one", "q2") is None
    meter.stopped("id-2")
    assert (value(PROGRESS, "one", "q2"), value(FAILED, "one", "q2")) == (None, None)


def test_a_query_that_fails_before_its_first_batch_is_one_that_failed() -> None:
    meter = StreamMeter({"q3": ["lake.a.b.one"]})
    meter.started("id-1", "q3")
    meter.stopped("id-1", 5.0)
    assert value(FAILED, "one", "q3") == 5.0


def test_a_malformed_table_name_is_refused_and_named() -> None:
    with pytest.raises(ValueError, match=r"q: 'orders' is not a table"):
        StreamMeter({"q": ["orders"]})


def test_a_real_stream_into_an_iceberg_table_is_measured(
    spark: SparkSession, shared_lake: Lake, tmp_path: Path
) -> None:
    spark.sql("CREATE NAMESPACE IF NOT EXISTS shared.streamed")
    spark.sql("CREATE TABLE shared.streamed.ticks (timestamp TIMESTAMP, value BIGINT) USING iceberg")
    told = measure_streams(spark, {"ticks": ["lake.a.b.ticks"]})
    source = spark.readStream.format("rate").option("rowsPerSecond", 5).load()
    query = (
        source.writeStream.queryName("ticks")
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(processingTime="0 seconds")
        .toTable("shared.streamed.ticks")
    )
    try:
        deadline = time.monotonic() + 60
        while value(LAG, "ticks", "ticks") is None and time.monotonic() < deadline:
            time.sleep(0.1)
        lag, progress = value(LAG, "ticks", "ticks"), value(PROGRESS, "ticks", "ticks")
    finally:
        query.stop()
        spark.streams.removeListener(told)
    assert lag is not None
    assert 0 < lag < 60
    assert progress == pytest.approx(time.time(), abs=60)
    newest = spark.table("shared.streamed.ticks.snapshots").orderBy("committed_at").collect()[-1]
    commit = SnapshotFact(table_uuid="u", snapshot_id=newest.snapshot_id, summary=newest.summary)
    written = stream_epoch(commit, [])
    assert written is not None, "Iceberg's sink names the query and the epoch"
    assert (written.engine, written.query_id) == ("spark", query.id)
    assert written.number is not None


def test_a_real_stream_that_fails_says_so(spark: SparkSession, shared_lake: Lake, tmp_path: Path) -> None:
    spark.sql("CREATE NAMESPACE IF NOT EXISTS shared.streamed")
    spark.sql("CREATE TABLE shared.streamed.failing (value BIGINT) USING iceberg")
    told = measure_streams(spark, {"failing": ["lake.a.b.failing"]})
    source = spark.readStream.format("rate").option("rowsPerSecond", 5).load()
    query = (
        source.selectExpr("raise_error('no') AS value")
        .selectExpr("cast(value AS bigint) AS value")
        .writeStream.queryName("failing")
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .toTable("shared.streamed.failing")
    )
    try:
        with pytest.raises(Exception, match=r"terminated with exception|no"):
            query.awaitTermination(60)
        deadline = time.monotonic() + 20
        while value(FAILED, "failing", "failing") is None and time.monotonic() < deadline:
            time.sleep(0.1)
        assert value(FAILED, "failing", "failing") == pytest.approx(time.time(), abs=60)
        assert value(PROGRESS, "failing", "failing") is None
    finally:
        spark.streams.removeListener(told)
        spark.sql("DROP TABLE shared.streamed.failing PURGE")
