"""The pipeline on real Spark and Iceberg: rows equal Spark's own metadata tables, once, through races and deaths."""

from __future__ import annotations

import shutil
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from lakes import Lake, path_of, rows
from limnograph.domain.errors import InvalidInput
from limnograph.domain.failpoints import FailpointReached, Failpoints
from limnograph.domain.ids import TableName
from limnograph.jobs.supervising import supervise
from limnograph.services.pipeline.passes import Passes
from limnograph.settings import Settings
from limnograph.wiring import pipeline

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


class World:
    """A namespace of observed tables and one of meta tables in the shared lake."""

    def __init__(self, session: SparkSession, lake: Lake) -> None:
        mark = uuid4().hex[:8]
        self.session, self.lake = session, lake
        self.sales, self.meta = f"sales_{mark}", f"meta_{mark}"
        lake.catalog.create_namespace(self.sales)

    @property
    def settings(self) -> Settings:
        return self.lake.settings(meta={"namespace": self.meta}, observe={"include": [f"shared.{self.sales}.*"]})

    def passes(self, failpoint: str = "") -> Passes:
        return pipeline.passes(self.settings, self.session, failpoints=Failpoints(failpoint))

    def sql(self, text: str) -> list[Any]:
        return self.session.sql(text.format(t=f"shared.{self.sales}", m=f"shared.{self.meta}")).collect()

    def ids(self) -> list[int]:
        return sorted(row[0] for row in self.sql("select snapshot_id from {m}.snapshots"))

    def real_ids(self, *tables: str) -> list[int]:
        return sorted(
            row[0] for table in tables for row in self.sql(f"select snapshot_id from {{t}}.{table}.snapshots")
        )

    def meta_commits(self) -> tuple[int, int]:
        counts = [self.sql(f"select count(*) from {{m}}.{table}.snapshots")[0][0] for table in ("snapshots", "changes")]
        return counts[0], counts[1]

    def drain(self) -> int:
        passes, total = self.passes(), 0
        for _ in range(5):
            report = passes.run()
            total += report.snapshots_appended
            if not report.pending:
                break
        return total


@pytest.fixture
def world(spark: SparkSession, shared_lake: Lake) -> World:
    return World(spark, shared_lake)


def small(world: World, commits: int = 3) -> None:
    table = world.lake.table(f"{world.sales}.orders")
    for _ in range(commits):
        table.append(rows("eu", "us"))


def test_rows_equal_sparks_own_metadata_tables(world: World) -> None:
    world.sql(
        "create table {t}.mor (id bigint, r string) using iceberg partitioned by (r) tblproperties"
        "('format-version'='2','write.delete.mode'='merge-on-read','write.update.mode'='merge-on-read')"
    )
    world.sql("insert into {t}.mor select id, cast(id % 3 as string) from range(90)")
    world.sql("insert into {t}.mor select id, cast(id % 2 as string) from range(100, 140)")
    world.sql("delete from {t}.mor where id in (3, 5, 111)")
    world.sql("alter table {t}.mor add column extra int")
    world.sql("insert overwrite {t}.mor select id, cast(7 as string), 1 from range(5)")
    world.sql(
        "create table {t}.v3 (id bigint) using iceberg tblproperties"
        "('format-version'='3','write.delete.mode'='merge-on-read')"
    )
    world.sql("insert into {t}.v3 select id from range(50)")
    world.sql("delete from {t}.v3 where id = 7")
    small(world)
    assert world.drain() == len(world.ids())
    assert world.ids() == world.real_ids("mor", "v3", "orders")
    for table in ("mor", "v3", "orders"):
        theirs = world.sql(
            " union all ".join(_as_spark_counts(table, snapshot_id) for snapshot_id in world.real_ids(table))
        )
        mine = world.sql(
            "select snapshot_id, total_data_files, total_records, total_bytes, total_delete_files, "
            f"total_position_deletes from {{m}}.snapshots where table = '{table}'"
        )
        assert {row[0]: tuple(row[1:]) for row in mine} == {row[0]: tuple(row[1:]) for row in theirs}
        told = f"select snapshot_id, parent_id, operation from {{t}}.{table}.snapshots"
        kept = f"select snapshot_id, parent_id, operation from {{m}}.snapshots where table = '{table}'"
        assert sorted(world.sql(told)) == sorted(world.sql(kept))
    assert world.sql("select distinct status, size(summary_mismatch) from {m}.snapshots") == [("ok", 0)]
    assert world.sql("select max(total_dvs) from {m}.snapshots where table = 'v3'")[0][0] == 1
    apps = world.sql("select distinct app_id from {m}.snapshots where table = 'mor'")
    assert [row[0] for row in apps] == [world.session.sparkContext.applicationId]
    uuid = world.sql("select max(table_uuid) from {m}.snapshots where table = 'mor'")[0][0]
    stats = world.sql(
        "select c.name, c.values, c.nulls, c.lower, c.upper from (select explode(columns) c from {m}.column_stats "
        f"where table_uuid = '{uuid}' and committed_at = (select min(committed_at) from {{m}}.column_stats "
        f"where table_uuid = '{uuid}')) where c.name in ('id', 'r') order by c.name"
    )
    assert [tuple(row) for row in stats] == [("id", 90, 0, "0", "89"), ("r", 90, 0, None, None)]
    schemas = world.sql("select to_value from {m}.changes where table = 'mor' and kind = 'schema' order by at")
    assert [row[0] for row in schemas] == ["0", "1"]


def _as_spark_counts(table: str, snapshot_id: int) -> str:
    at = f"version as of {snapshot_id}"
    return (
        f"select {snapshot_id}L, d.n, d.r, d.b, x.n, x.r from (select count(*) n, coalesce(sum(record_count), 0) r, "
        f"coalesce(sum(file_size_in_bytes), 0) b from {{t}}.{table}.data_files {at}) d cross join "
        f"(select count(*) n, coalesce(sum(record_count), 0) r from {{t}}.{table}.delete_files {at}) x"
    )


def test_a_second_pass_makes_no_commit_and_one_pass_makes_one_append(world: World) -> None:
    small(world)
    assert world.passes().run().snapshots_appended == 3
    before = world.meta_commits()
    assert before[0] == 1
    assert world.passes().run().snapshots_appended == 0
    assert world.meta_commits() == before
    summary = world.sql("select summary, operation from {m}.snapshots.snapshots")[0]
    assert summary[1] == "append"
    assert summary[0]["limnograph-run-id"] == world.sql("select distinct run_id from {m}.snapshots")[0][0]


def test_two_pipelines_started_together_duplicate_nothing(world: World) -> None:
    small(world, 6)
    failures: list[BaseException] = []

    def run() -> None:
        try:
            world.drain()
        except BaseException as error:  # noqa: BLE001 - the test must see it
            failures.append(error)

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert world.ids() == world.real_ids("orders")
    counted = dict(world.sql("select kind, count(*) from {m}.changes group by kind"))
    assert (counted["first_seen"], counted["named"], counted["ref"]) == (1, 1, 6)


@pytest.mark.parametrize("name", ["after_append_first_seen", "before_append_snapshots", "after_append_snapshots"])
def test_a_pass_that_dies_is_completed_exactly_by_the_next(world: World, name: str) -> None:
    small(world)
    with pytest.raises(FailpointReached):
        world.passes(f"{name}:1:raise").run()
    world.drain()
    assert world.ids() == world.real_ids("orders")
    assert world.sql("select count(*) from {m}.changes where kind = 'first_seen'")[0][0] == 1


def test_a_deleted_meta_row_is_restored_and_compaction_changes_nothing(world: World) -> None:
    small(world)
    passes = world.passes()
    passes.run()
    passes.run()
    victim = world.ids()[1]
    world.sql(f"delete from {{m}}.snapshots where snapshot_id = {victim}")
    world.sql(
        "call shared.system.rewrite_data_files(table => '"
        + world.meta
        + ".snapshots', options => map('rewrite-all','true'))"
    )
    assert passes.run().snapshots_appended == 1
    assert world.ids() == world.real_ids("orders")
    assert passes.run().snapshots_appended == 0


def test_a_wide_backfill_writes_one_file_per_day(world: World) -> None:
    from limnograph.adapters.meta.schema import arrow_table
    from limnograph.adapters.spark.store import SparkMetaStore
    from limnograph.domain.facts.meta_tables import SNAPSHOTS, SnapshotFact

    store = SparkMetaStore(world.session, lambda: world.lake.catalog, world.meta)
    store.ensure()
    facts = [SnapshotFact(table_uuid="u", snapshot_id=i, committed_at=(i % 20) * 86_400_000_000) for i in range(200)]
    store.append(SNAPSHOTS, arrow_table(SNAPSHOTS, facts), None, "run")
    assert world.sql("select count(*), count(distinct partition) from {m}.snapshots.files")[0] == (20, 20)


def test_the_stream_picks_up_a_commit_and_a_lost_checkpoint_duplicates_nothing(world: World, tmp_path: Path) -> None:
    small(world)
    _one_life_of_a_stream(world, tmp_path / "checkpoint", known=3)
    shutil.rmtree(tmp_path / "checkpoint")
    _one_life_of_a_stream(world, tmp_path / "checkpoint", known=4)
    assert world.ids() == world.real_ids("orders")


def _one_life_of_a_stream(world: World, checkpoint: Path, known: int) -> None:
    """As the program runs it: a query that ends by an accident of Spark's own, as on a starved machine, has a next."""
    from limnograph.adapters.spark.stream import pass_stream

    run, stop = world.passes().run, threading.Event()

    def start() -> Any:
        return pass_stream(world.session, run, checkpoint=checkpoint, trigger="1 seconds", seconds=5)

    def end(query: Any) -> None:
        wait_until(lambda: not query.status["isTriggerActive"])
        query.stop()

    life = threading.Thread(target=supervise, args=(start, end, stop, print))
    life.start()
    try:
        wait_until(lambda: len(_ids_or_none(world)) == known)
        world.lake.load(f"{world.sales}.orders").append(rows("eu"))
        wait_until(lambda: len(_ids_or_none(world)) == known + 1)
    finally:
        stop.set()
        life.join()


def _ids_or_none(world: World) -> list[int]:
    try:
        return world.ids()
    except Exception:  # noqa: BLE001 - the tables do not exist yet
        return []


def wait_until(done: Any, seconds: float = 180) -> None:
    end = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < end, "nothing happened in time"
        time.sleep(0.3)


def test_damaged_rows_are_repaired_and_a_table_is_read_again(world: World) -> None:
    small(world)
    table = world.lake.load(f"{world.sales}.orders")
    lost = path_of(table.current_snapshot().manifests(table.io)[0].manifest_path)
    aside = lost.rename(lost.with_suffix(".aside"))
    world.drain()
    damaged = "select count(*) from {m}.snapshots where status = 'partial'"
    assert world.sql(damaged)[0][0] == 1
    repairs = pipeline.repairs(world.settings, world.session)
    assert repairs.retry_damaged().snapshots_replaced == 0
    aside.rename(lost)
    report = repairs.retry_damaged()
    assert (report.snapshots_replaced, report.tables_changed, report.failed) == (1, 1, ())
    assert world.sql(damaged)[0][0] == 0
    assert world.sql("select distinct run_id from {m}.snapshots where source = 'backfill'")[0][0] == report.run_id
    again = repairs.reextract(TableName("shared", world.sales, "orders"), None)
    assert again.snapshots_replaced == 3
    assert world.ids() == world.real_ids("orders")
    counts = "select count(*), count(distinct snapshot_id) from {{m}}.snapshots version as of {0}"
    versions = [counts.format(row[0]) for row in world.sql("select snapshot_id from {m}.snapshots.snapshots")]
    assert len(versions) == 3
    assert set(world.sql(" union all ".join(versions))) == {(3, 3)}
    with pytest.raises(InvalidInput, match="--reextract"):
        repairs.reextract(TableName("shared", world.sales, "nowhere"), None, "--reextract")
