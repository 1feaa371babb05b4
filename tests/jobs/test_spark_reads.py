"""The bytes that a run of a PySpark job read: Spark's own count, or unknown, never a part of it."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from lakes import Lake
from limnograph import spark_metrics
from limnograph.api.wire.views import RunIn
from limnograph.spark_metrics import job_run
from limnograph.spark_reads import ReadMeter

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MINE, OTHERS = "limnograph-r", "limnograph-other"


class ScalaSeq(list[Any]):
    """A sequence with the methods that are called through Py4J."""

    def isEmpty(self) -> bool:  # noqa: N802
        return not self

    def size(self) -> int:
        return len(self)

    def apply(self, place: int) -> Any:
        return self[place]

    def mkString(self, between: str) -> str:  # noqa: N802
        return between.join(map(str, self))


def named(name: str) -> Any:
    return SimpleNamespace(name=lambda: name)


class FakeSpark:
    """A SparkContext with the jobs that start after the meter: `jobs` of (tags, status, stages), and attempts by stage,
    each of (status, bytes, rows). Evicted: whatever is missing.
    """

    def __init__(self, jobs: dict[int, tuple[list[str], str, list[int]]], stages: dict[int, list[Any]]) -> None:
        self.jobs, self.stages, self.next_job = jobs, stages, 7
        self.tags: list[str] = []
        self._jsc = SimpleNamespace(sc=lambda: self)

    def addJobTag(self, tag: str) -> None:  # noqa: N802
        self.tags.append(tag)

    def removeJobTag(self, tag: str) -> None:  # noqa: N802
        self.tags.remove(tag)

    def dagScheduler(self) -> Any:  # noqa: N802
        return SimpleNamespace(numTotalJobs=lambda: self.next_job)

    def listenerBus(self) -> Any:  # noqa: N802
        return SimpleNamespace(waitUntilEmpty=lambda _: None)

    def statusStore(self) -> FakeSpark:  # noqa: N802
        return self

    def job(self, number: int) -> Any:
        tags, status, stages = self.jobs[number]
        return SimpleNamespace(
            jobTags=lambda: ScalaSeq(tags), status=lambda: named(status), stageIds=lambda: ScalaSeq(stages)
        )

    def stageData(self, stage: int, *_: Any) -> ScalaSeq:  # noqa: N802
        return ScalaSeq(
            SimpleNamespace(status=lambda s=s: named(s), inputBytes=lambda b=b: b, inputRecords=lambda r=r: r)
            for s, b, r in self.stages.get(stage, [])
        )

    def __getattr__(self, name: str) -> Any:
        if name.startswith("stageData$default$"):
            return list
        raise AttributeError(name)


def measured(jobs: dict[int, tuple[list[str], str, list[int]]], stages: dict[int, list[Any]]) -> int | None:
    spark = FakeSpark(jobs, stages)
    meter = ReadMeter(spark, "r")
    assert spark.tags == [MINE]
    spark.next_job += len(jobs)
    found = meter.finish()
    assert spark.tags == []
    return found


SCAN = ("COMPLETE", 3_000, 50)
SHUFFLE = ("COMPLETE", 0, 0)


@pytest.mark.parametrize(
    ("jobs", "stages", "read_bytes"),
    [
        ({7: ([MINE], "SUCCEEDED", [1, 2])}, {1: [SCAN], 2: [SHUFFLE]}, 3_000),
        ({7: ([MINE, "mine"], "FAILED", [1])}, {1: [("FAILED", 500, 9)]}, 500),
        # A stage of two jobs counts once, its second attempt too.
        ({7: ([MINE], "SUCCEEDED", [1]), 8: ([MINE], "SUCCEEDED", [1, 2])}, {1: [SCAN], 2: [SHUFFLE]}, 3_000),
        ({7: ([MINE], "SUCCEEDED", [1])}, {1: [("FAILED", 100, 2), SCAN]}, 3_100),
        # Another run in another thread.
        ({7: ([MINE], "SUCCEEDED", [1]), 8: ([OTHERS], "RUNNING", [2])}, {1: [SCAN]}, 3_000),
        # Nothing was read, or nothing counted it.
        ({}, {}, None),
        ({7: ([MINE], "SUCCEEDED", [2])}, {2: [SHUFFLE]}, None),
        ({7: ([MINE], "SUCCEEDED", [])}, {}, None),
        # A part is unknown: rows without bytes, a job without a tag, one that still runs, evicted jobs and stages.
        ({7: ([MINE], "SUCCEEDED", [1, 2])}, {1: [SCAN], 2: [("COMPLETE", 0, 9)]}, None),
        ({7: ([MINE], "SUCCEEDED", [1]), 8: ([""], "SUCCEEDED", [2])}, {1: [SCAN], 2: [SCAN]}, None),
        ({7: ([MINE], "RUNNING", [1])}, {1: [SCAN]}, None),
        ({7: ([MINE], "FAILED", [1])}, {1: [("ACTIVE", 5, 5)]}, None),
        ({8: ([MINE], "SUCCEEDED", [1])}, {1: [SCAN]}, None),
        ({7: ([MINE], "SUCCEEDED", [1, 2])}, {1: [SCAN]}, None),
    ],
)
def test_bytes_are_the_sum_over_the_stages_of_the_run_or_unknown(
    jobs: dict[int, tuple[list[str], str, list[int]]], stages: dict[int, list[Any]], read_bytes: int | None
) -> None:
    assert measured(jobs, stages) == read_bytes


@pytest.mark.parametrize("context", [object(), SimpleNamespace(_jsc=None), SimpleNamespace(applicationId="a")])
def test_a_context_without_a_status_store_is_no_error(context: Any) -> None:
    assert ReadMeter(context, "r").finish() is None


def body(run: spark_metrics.JobRun, *read_bytes: int | None) -> dict[str, Any]:
    sent = spark_metrics._body(run, "ok", run.started_at + 1, *read_bytes)
    msgspec.convert(sent, RunIn)
    return sent


def test_bytes_are_sent_if_they_are_known_and_omitted_otherwise() -> None:
    run = spark_metrics.JobRun("load", "", ())
    assert body(run, 5)["read_bytes"] == 5
    assert body(run, 0)["read_bytes"] == 0
    assert "read_bytes" not in body(run, None), "an older server knows no such field"
    assert "read_bytes" not in body(run)


@pytest.mark.parametrize("wrong", [-1, 1.5, "7", True, None, 2**63])
def test_a_job_may_report_its_own_number_of_bytes(wrong: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[dict[str, Any]] = []
    monkeypatch.setattr(
        spark_metrics, "_pusher", lambda _: SimpleNamespace(push=lambda each, _=None: sent.append(each))
    )
    with job_run("load", server="http://127.0.0.1:9") as run:
        run.read(4)
        run.read(2**63 - 1)
        with pytest.raises(ValueError, match="not a number of bytes"):
            run.read(wrong)
    assert [each.get("read_bytes") for each in sent] == [None, 2**63 - 1]


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Bodies of the runs that ended."""
    bodies: list[dict[str, Any]] = []
    keep = SimpleNamespace(push=lambda each, _=None: bodies.append(each) if each.get("ended_at") else None)
    monkeypatch.setattr(spark_metrics, "_pusher", lambda _: keep)
    return bodies


@pytest.fixture
def table(spark: SparkSession, shared_lake: Lake, request: pytest.FixtureRequest) -> str:
    name = f"reads.{request.node.name[:40]}"
    shared_lake.table(name)
    spark.sql(f"insert into shared.{name} select id, cast(id % 3 as string) from range(20000)")
    return f"shared.{name}"


def counted(spark: SparkSession, after: int = -1) -> int:
    """Input bytes of all stages of the application after one of them, as Spark's REST API lists them. Spark forgets
    old stages of a long application, so that sums of all of them may fall.
    """
    return sum(size for stage, size in _stages(spark).items() if stage > after)


def newest_stage(spark: SparkSession) -> int:
    return max(_stages(spark), default=-1)


def _stages(spark: SparkSession) -> dict[int, int]:
    """Input bytes by stage."""
    jvm: Any = spark.sparkContext._jsc.sc()
    jvm.listenerBus().waitUntilEmpty(5_000)
    store = jvm.statusStore()
    rest = [getattr(store, f"stageList$default${place}")() for place in (2, 3, 4, 5)]
    stages = store.stageList(None, *rest)
    listed = [stages.apply(place) for place in range(stages.size())]
    return {int(stage.stageId()): int(stage.inputBytes()) for stage in listed}


SERVER = "http://127.0.0.1:9"


@pytest.mark.spark
def test_the_bytes_of_a_real_run_are_those_of_sparks_stages(
    spark: SparkSession, table: str, sent: list[dict[str, Any]]
) -> None:
    before = newest_stage(spark)
    with job_run("scan", reads=[table], server=SERVER, spark=spark):
        spark.sql(f"select region, sum(id) from {table} group by region").collect()
        spark.sql(f"select count(*) from {table} a join {table} b on a.id = b.id").collect()
    scanned = counted(spark, before)
    assert scanned > 0
    with pytest.raises(IndexError), job_run("fails", reads=[table], server=SERVER, spark=spark):
        spark.sql(f"select sum(id) from {table}").collect()[1]
    failed = counted(spark, before) - scanned
    assert 0 < failed < scanned
    assert [(each["status"], each["read_bytes"]) for each in sent] == [("ok", scanned), ("failed", failed)]


@pytest.mark.spark
def test_a_real_run_whose_bytes_spark_does_not_count_has_none(
    spark: SparkSession, table: str, sent: list[dict[str, Any]]
) -> None:
    scan = f"select sum(id) from {table}"
    bodies = [
        lambda: None,
        lambda: spark.sql("select sum(id) from range(5000)").collect(),
        lambda: (spark.sql(scan).collect(), spark.sql(f"select * from {table}.refs").collect()),
        lambda: alongside(lambda: spark.sql(scan).collect()),
    ]
    for each in bodies:
        with job_run("unknown", reads=[table], server=SERVER, spark=spark):
            each()
    assert ["read_bytes" in each for each in sent] == [False] * 4


@pytest.mark.spark
def test_real_runs_side_by_side_each_count_their_own(
    spark: SparkSession, table: str, sent: list[dict[str, Any]]
) -> None:
    before, begun, ended = newest_stage(spark), threading.Event(), threading.Event()

    def other() -> None:
        begun.wait(30)
        with job_run("twice", reads=[table], server=SERVER, spark=spark):
            for _ in range(2):
                spark.sql(f"select sum(id) from {table}").collect()
        ended.set()

    thread = threading.Thread(target=other)
    thread.start()
    with job_run("once", reads=[table], server=SERVER, spark=spark):
        begun.set()
        ended.wait(60)
        spark.sql(f"select sum(id) from {table}").collect()
    thread.join()
    found = {each["job_name"]: each["read_bytes"] for each in sent}
    assert sum(found.values()) == counted(spark, before)
    assert found["twice"] == 2 * found["once"] > 0


def alongside(act: Any) -> None:
    thread = threading.Thread(target=act)
    thread.start()
    thread.join()
