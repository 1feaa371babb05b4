"""Scans, queries and commits of real PySpark jobs on a SQL catalog: as Spark itself shows them, and nothing of a
filter but its columns.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from py4j.protocol import Py4JJavaError

from lakes import Lake
from limnograph import spark_executions, spark_metrics
from limnograph.domain.facts.meta_tables import ChangeFact, SnapshotFact
from limnograph.domain.ids import TableName
from limnograph.domain.inbound.spark_reports import SparkReports
from limnograph.domain.time import Micros
from limnograph.services.events.naming import TableResolver
from limnograph.services.events.spark_reports import read_spark_reports
from limnograph.services.lake.history import History, history_of
from limnograph.services.reads.attempts import attempts_of
from limnograph.services.reads.log import COMMIT_TYPES
from limnograph.services.rollups.reads_fold import report_rows
from limnograph.spark_executions import FREE_SECONDS, SHARE, ExecutionWatch
from limnograph.spark_metrics import REPORTS, job_run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SERVER = "http://127.0.0.1:9"
SECRET = "x-secret', shipped = 'y"
pytestmark = pytest.mark.spark


class Sent:
    """What jobs pushed: `bodies` by path, and the rows that the server makes of the reports."""

    def __init__(self) -> None:
        self.runs: list[dict[str, Any]] = []
        self.reports: list[dict[str, Any]] = []

    def push(self, body: dict[str, Any], path: str = spark_metrics.RUNS) -> None:
        (self.reports if path == REPORTS else self.runs).append(json.loads(json.dumps(body)))

    def rows(self, kind: str) -> list[Any]:
        naming = TableResolver({"shared": {"type": "sql"}})
        sent = [msgspec.convert(body, SparkReports) for body in self.reports]
        rows = [row for each in sent for row in read_spark_reports(each, naming, 5).reports]
        return sorted((row for row in rows if row.kind == kind), key=lambda row: int(row.query_id))


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> Sent:
    found = Sent()
    monkeypatch.setattr(spark_metrics, "_pusher", lambda _: found)
    return found


@pytest.fixture
def table(spark: SparkSession, shared_lake: Lake, request: pytest.FixtureRequest) -> Iterator[str]:
    name = f"shared.scans.{request.node.name[:40].split('[')[0]}"
    spark.sql("create namespace if not exists shared.scans")
    spark.sql(f"create table {name} (id bigint, region string, shipped date, v double) using iceberg "
              "partitioned by (region) tblproperties ('commit.retry.num-retries' = '1')")  # fmt: skip
    for day in range(4):
        spark.sql(f"insert into {name} select (id * 7919) % 4000, concat('r', cast(id % 2 as string)), "
                  f"date'2026-01-0{day + 1}', id from range({day * 1000}, {day * 1000 + 1000})")  # fmt: skip
    yield name
    spark.sql(f"drop table {name} purge")


def shown(spark: SparkSession, first: int) -> list[dict[str, int]]:
    """Numbers of the scans of all executions from `first` on, as Spark's SQL pages show them, found by their labels."""
    store = spark._jsparkSession.sharedState().statusStore()
    found = []
    for number in range(first, newest(spark) + 1):
        nodes, values = store.planGraph(number).allNodes(), store.executionMetrics(number)
        for place in range(nodes.size()):
            node = nodes.apply(place)
            if node.name().startswith("BatchScan"):
                listed = [node.metrics().apply(each) for each in range(node.metrics().size())]
                texts = {metric.name(): values.get(metric.accumulatorId()) for metric in listed}
                numbers = {k: int(v.get().replace(",", "")) for k, v in texts.items() if v.isDefined()}
                found.append(numbers)
    return found


def newest(spark: SparkSession) -> int:
    jvm: Any = spark._jsparkSession
    jvm.sparkContext().listenerBus().waitUntilEmpty(5_000)
    store = jvm.sharedState().statusStore()
    return int(store.executionsList(store.executionsCount() - 1, 1).head().executionId())


def head(spark: SparkSession, table: str) -> int:
    return int(spark.sql(f"select snapshot_id from {table}.refs where name = 'main'").collect()[0][0])


def history_of_table(spark: SparkSession, table: str) -> History:
    """The table as Limnograph reads it, as far as collisions need it."""
    name = {"table_uuid": "t", "catalog": "shared", "namespace": "scans", "table": table.rsplit(".", 1)[1]}
    facts, moves = [], []
    told = spark.sql(
        f"select snapshot_id, committed_at, operation, summary from {table}.snapshots order by 2"
    ).collect()
    for place, (snapshot_id, committed_at, operation, summary) in enumerate(told):
        at = Micros(round(committed_at.timestamp() * 1_000_000))
        added = int(summary.get("added-data-files", "0"))
        about = {"operation": operation, "app_id": summary["spark.app.id"], "app_name": "spark", "on_main": True}
        row = {"snapshot_id": snapshot_id, "committed_at": at, "sequence_number": place + 1, "added_data_files": added}
        facts.append(SnapshotFact(**name, **row, **about))
        moves.append(ChangeFact(kind="ref", at=at, to_value=str(snapshot_id), subject="main", **name))
    return history_of("t", TableName("shared", "scans", name["table"]), facts, moves)


def test_planning_and_skipped_files_are_sparks_own_before_sorting_after_it_and_with_a_filter_that_misses(
    spark: SparkSession, table: str, sent: Sent
) -> None:
    expected, heads = [], []
    sort = (
        f"call shared.system.rewrite_data_files(table => '{table.removeprefix('shared.')}', strategy => 'sort', "
        "sort_order => 'id', options => map('rewrite-all', 'true', 'max-file-size-bytes', '9000', "
        "'target-file-size-bytes', '6000'))"
    )
    misses = f"shipped = date'2026-01-02' and region <> \"{SECRET}\""
    for prepare, condition in ((None, "id between 100 and 140"), (sort, "id between 100 and 140"), (None, misses)):
        if prepare:
            spark.sql(prepare).collect()
        first = newest(spark) + 1
        with job_run("reader", reads=[table], server=SERVER, spark=spark):
            spark.sql(f"select sum(v) from {table} where {condition}").collect()
        expected += shown(spark, first)
        heads.append(head(spark, table))
    rows = sent.rows("scan")
    assert len(rows) == len(expected) == 3
    for row, spark_shows, snapshot in zip(rows, expected, heads, strict=True):
        assert row.duration_seconds == spark_shows["total planning duration (ms)"] / 1000 > 0
        assert row.skipped_data_files == spark_shows["number of skipped data files"]
        assert row.result_data_files == spark_shows["number of result data files"] > 0
        assert row.scanned_data_manifests == spark_shows["number of scanned data manifests"]
        assert row.total_file_bytes == spark_shows["total data file size (bytes)"] > 0
        assert row.rows == spark_shows["number of output rows"]
        assert (row.catalog, row.table, row.snapshot_id) == ("shared", table.rsplit(".", 1)[1], snapshot)
        assert (row.source, row.engine, row.job_name) == ("spark", "spark", "reader")
        assert row.application_id == spark.sparkContext.applicationId
    before, after, missing = rows
    assert before.skipped_data_files == 0 < after.skipped_data_files
    assert [row.filter_columns for row in rows] == [["id"], ["id"], ["region", "shipped"]]
    assert set(missing.projected_fields) == {"region", "shipped", "v"}
    assert "secret" not in json.dumps(sent.reports)
    assert heads[0] != heads[1]
    ended = [run for run in sent.runs if run["status"] == "ok"]
    assert [run["tables"][0]["read_snapshot_id"] for run in ended] == [str(each) for each in heads]
    queries = sent.rows("query")
    assert [(row.outcome, row.snapshot_id, row.rows) for row in queries] == [
        ("ok", scan.snapshot_id, scan.rows) for scan in rows
    ]
    assert all(0 < row.wall_seconds < 60 for row in queries)


def test_metadata_tables_and_executions_of_others_are_not_reported(spark: SparkSession, table: str, sent: Sent) -> None:
    with job_run("other", reads=[table], server=SERVER, spark=spark):
        spark.sql(f"select count(*) from {table}.files").collect()
        thread = threading.Thread(target=lambda: spark.sql(f"select sum(v) from {table}").collect())
        thread.start()
        thread.join()
    assert sent.reports == []
    assert "read_snapshot_id" in sent.runs[-1]["tables"][0]
    assert sent.runs[-1]["tables"][0]["read_snapshot_id"] is None


def test_time_travel_is_known_and_reading_two_snapshots_is_not_one(spark: SparkSession, table: str, sent: Sent) -> None:
    old = spark.sql(f"select snapshot_id from {table}.snapshots order by committed_at").collect()[0][0]
    for travel in (f"version as of {old}", ""):
        with job_run("past", reads=[table], server=SERVER, spark=spark):
            spark.sql(f"select sum(v) from {table} version as of {old}").collect()
            spark.sql(f"select sum(v) from {table} {travel}").collect()
    ended = [run["tables"][0]["read_snapshot_id"] for run in sent.runs if run["status"] == "ok"]
    assert ended == [str(old), None]


def test_commits_have_their_operation_and_counts(spark: SparkSession, table: str, sent: Sent) -> None:
    spark.sql(f"alter table {table} set tblproperties ('write.delete.mode' = 'merge-on-read')")
    with job_run("writer", writes=[table], server=SERVER, spark=spark):
        spark.sql(f"insert into {table} select id, 'r9', date'2026-02-01', 1 from range(10)")
        spark.sql(f"delete from {table} where id = 5")
        spark.sql(f"update {table} set v = 0 where id = 6")
        spark.sql(f"delete from {table} where region = 'r9'")
    found = [(row.operation, row.outcome, row.table) for row in sent.rows("commit")]
    name = table.rsplit(".", 1)[1]
    assert found == [(operation, "ok", name) for operation in ("append", "row_delta", "overwrite", "delete")]
    append, delta, update, _ = sent.rows("commit")
    assert (append.added_data_files, append.attempts) == (1, None)
    assert int(delta.metrics["added-delete-files"]) > 0
    assert update.removed_data_files == update.added_data_files > 0


def test_a_conflict_of_two_writers_names_both(spark: SparkSession, table: str, sent: Sent, tmp_path: Path) -> None:
    began, ended = tmp_path / "began", tmp_path / "ended"

    def waits(value: int) -> bool:
        """Holds the first row of the update, whose snapshot is fixed by then, until the other writer has committed."""
        began.touch()
        while not ended.exists():
            time.sleep(0.01)
        return value >= 0

    def winner() -> None:
        while not began.exists():
            time.sleep(0.01)
        with job_run("winner", writes=[table], server=SERVER, spark=spark):
            spark.sql(f"insert into {table} select id, 'r0', date'2026-03-01', 1 from range(3)")
        ended.touch()

    spark.udf.register("waits", waits, "boolean")
    base = head(spark, table)
    thread = threading.Thread(target=winner)
    thread.start()
    with (
        pytest.raises(Py4JJavaError, match="conflicting files"),
        job_run("loser", reads=[table], writes=[table], server=SERVER, spark=spark),
    ):
        spark.sql(f"update {table} set v = 0 where region = 'r0' and waits(id)")
    thread.join()
    lost = next(row for row in sent.rows("commit") if row.outcome == "conflict")
    won = next(row for row in sent.rows("commit") if row.outcome == "ok")
    assert (lost.job_name, lost.conflict_kind, lost.operation) == ("loser", "files_added", "overwrite")
    assert (won.job_name, won.operation) == ("winner", "append")
    assert lost.table == won.table
    assert lost.application_id == won.application_id == spark.sparkContext.applicationId
    assert lost.snapshot_id == base
    assert lost.metrics is None
    assert (lost.streaming, won.streaming) == (False, False)
    assert lost.wall_seconds > 0
    assert lost.at >= won.at
    assert {row.outcome for row in sent.rows("query")} == {"conflict"}
    (met,) = attempts_of(report_rows([lost, won], COMMIT_TYPES), history_of_table(spark, table), 0, 2**62).collisions
    assert met.winner is not None
    assert (met.loser.writer, met.winner.writer, met.refused) == ("loser", "winner", True)
    assert (met.loser.kind, met.winner.kind, met.winner.snapshot) == ("overwrite", "append", head(spark, table))
    assert met.streams == (False, False)


def test_batches_of_a_stream_are_queries_without_planning(
    spark: SparkSession, table: str, sent: Sent, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spark_executions, "PERIOD_SECONDS", 600.0)  # the query begins and ends between two looks
    with job_run("stream", reads=[table], writes=[f"{table}_out"], server=SERVER, spark=spark):
        stream = spark.readStream.format("iceberg").load(table).writeStream.format("iceberg")
        stream = stream.option("checkpointLocation", f"file://{tmp_path}").trigger(availableNow=True)
        stream.toTable(f"{table}_out").awaitTermination()
    spark.sql(f"drop table {table}_out purge")
    (scan,), (query,), (commit,) = (sent.rows(kind) for kind in ("scan", "query", "commit"))
    assert (scan.rows, scan.duration_seconds, scan.snapshot_id, scan.result_data_files) == (4000, None, None, None)
    assert query.wall_seconds > 0
    assert (commit.operation, commit.outcome, commit.metrics) == ("append", "ok", None)
    assert commit.streaming is True


def test_batches_of_a_stream_name_the_snapshot_up_to_which_they_read(
    spark: SparkSession, table: str, sent: Sent, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spark_executions, "PERIOD_SECONDS", 0.2)
    heads = [head(spark, table)]
    with job_run("stream", reads=[table], writes=[f"{table}_out"], server=SERVER, spark=spark):
        stream = spark.readStream.format("iceberg").load(table).writeStream.format("iceberg")
        query = stream.option("checkpointLocation", f"file://{tmp_path}").toTable(f"{table}_out")
        query.processAllAvailable()
        spark.sql(f"insert into {table} select id, 'r0', date'2026-03-01', 1 from range(3)")
        heads.append(head(spark, table))
        query.processAllAvailable()
        time.sleep(1)
        query.stop()
    spark.sql(f"drop table {table}_out purge")
    scans = [row for row in sent.rows("scan") if row.rows]
    assert [(row.rows, row.snapshot_id) for row in scans] == [(4000, heads[0]), (3, heads[1])]
    assert [row.snapshot_id for row in sent.rows("query") if row.rows] == heads
    name = f"{table.rsplit('.', 1)[1]}_out"
    assert {row.streaming for row in sent.rows("commit") if row.table == name} == {True}
    assert sent.runs[-1]["tables"][0]["read_snapshot_id"] == str(heads[1])


@pytest.fixture
def watches(monkeypatch: pytest.MonkeyPatch) -> list[ExecutionWatch]:
    """The watches of the runs."""
    found: list[ExecutionWatch] = []

    class Kept(ExecutionWatch):
        longest = 0.1

        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            found.append(self)

        def _read(self, *, alone: bool) -> None:
            before = self.seconds
            super()._read(alone=alone)
            self.longest = max(self.longest, self.seconds - before)

    monkeypatch.setattr(spark_metrics, "ExecutionWatch", Kept)
    return found


def test_reading_takes_at_most_a_hundredth_of_a_jobs_time(
    spark: SparkSession, table: str, sent: Sent, watches: list[ExecutionWatch], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spark_executions, "PERIOD_SECONDS", 0.5)
    begin = time.perf_counter()
    with job_run("cost", reads=[table], server=SERVER, spark=spark):
        for number in range(40):
            spark.sql(f"select region, sum(v) from {table} where id > {number} group by region").collect()
    seconds, read = time.perf_counter() - begin, len(sent.rows("scan"))
    assert 0 < read <= 40
    # One round may begin just before its share is used up, and wait for a busy machine.
    assert watches[0].seconds <= SHARE * seconds + FREE_SECONDS + watches[0].longest  # type: ignore[attr-defined]


def test_what_has_no_share_of_the_time_is_given_up_at_the_end(
    spark: SparkSession, table: str, sent: Sent, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level("INFO")
    monkeypatch.setattr(spark_executions, "FREE_SECONDS", -60.0)
    with job_run("brief", reads=[table], server=SERVER, spark=spark):
        spark.sql(f"select sum(v) from {table}").collect()
    assert sent.reports == []
    assert "1 Spark SQL executions were not read" in caplog.text
    assert sent.runs[-1]["status"] == "ok"
