"""The maintainer on real Spark beyond its contract: names, two plans at once, cancellation, position deletes."""

from __future__ import annotations

import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from lakes import Lake
from limnograph.adapters.spark.maintenance.failures import action_error, opening_error
from limnograph.adapters.spark.maintenance.gate import ActionGate, watched
from limnograph.adapters.spark.maintenance.jvm import IcebergJvm
from limnograph.adapters.spark.maintenance.kept_list import KeptList
from limnograph.domain.errors import (
    ActionCancelled,
    ActionConflict,
    InvalidInput,
    MetadataError,
    SourceRejected,
    SourceUnavailable,
)
from limnograph.ports.table_maintainer import STAMP
from maintained_tables import SparkWorld, execute, ignore, local, never, now_ms, request, total

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def world(spark: SparkSession, shared_lake: Lake, tmp_path_factory: pytest.TempPathFactory) -> SparkWorld:
    return SparkWorld(spark, shared_lake, tmp_path_factory.mktemp("maintain-state"))


@pytest.mark.parametrize(
    ("level", "table"),
    [("o'h`a\"ra", 'it\'s `q` "d" ü'), ("日本", "a.b"), ("select", "files"), ("s p\\n", "100% ${x} -- ; */")],
)
def test_names_that_need_quotes(world: SparkWorld, level: str, table: str) -> None:
    name = world.table(levels=[f"{world.namespace}{level}"], table=table)
    done = execute(world, name, request("n", where=world.condition("a")))
    assert (done.files_in, done.files_out) == (2, 1)
    stray = world.stray(name)
    opened = world.maintainer.open(name)
    assert world.maintainer.rows(opened, done.snapshot_ids[0], world.condition("a")) == 2
    assert [file.location for file in world.maintainer.unreferenced(opened, now_ms() - 86_400_000)] == [stray]
    execute(world, name, request("e", "expire_snapshots", snapshots=world.snapshots(name)[:1]))
    assert total(world, name) == 4


def test_two_plans_at_once_stamp_only_their_own_commits(world: SparkWorld) -> None:
    names = [world.table(), world.table()]
    together = threading.Barrier(2, timeout=60)

    def act(place: int) -> None:
        def reached(point: str) -> None:
            if point.endswith("outputs-written"):
                together.wait()

        world.maintainer.run(world.maintainer.open(names[place]), request(f"plan-{place}"), reached, never)

    with ThreadPoolExecutor(2) as pool:
        assert [*pool.map(act, range(2))] == [None, None]
    for place, name in enumerate(names):
        found = Counter(each.summary.get(STAMP) for each in world.load(name).metadata.snapshots if each.summary)
        assert found == {None: 2, f"plan-{place}": 1}


def test_position_deletes_are_merged_and_stamped(world: SparkWorld) -> None:
    name = world.table(merge_on_read=True, **{"write.delete.granularity": "partition"})
    for _ in range(2):
        world.load(name).append(world.rows_of("a", "a"))
    for _ in range(2):
        world.delete_row(name, "a")
    assert total(world, name) == 6
    deletes = world.load(name).inspect.delete_files().num_rows
    done = execute(world, name, request("d", "rewrite_position_delete_files", where=world.condition("a")))
    assert done.files_in == deletes
    assert done.files_out is not None
    assert done.files_out < deletes
    assert world.maintainer.stamped(world.maintainer.open(name), "d") == [*done.snapshot_ids]
    assert total(world, name) == 6


@pytest.mark.parametrize("action", ["rewrite_data_files", "expire_snapshots", "remove_orphan_files"])
def test_a_table_that_was_replaced_since_it_was_opened_is_left_alone(world: SparkWorld, action: str) -> None:
    name = world.table()
    opened, first = world.maintainer.open(name), world.snapshots(name)[0]
    world.lake.catalog.drop_table(world.path(name))
    world.table(table=name.plain.table)
    stray, before = world.stray(name), world.snapshots(name)
    asked = request("s", action, snapshots=[first], files=[stray], older_than_ms=now_ms())
    with pytest.raises(ActionConflict):
        world.maintainer.run(opened, asked, ignore, never)
    assert world.snapshots(name) == before
    assert world.exists(stray)


def test_a_table_that_moved_since_it_was_opened_keeps_its_files(world: SparkWorld) -> None:
    name = world.table()
    stray, opened = world.stray(name), world.maintainer.open(name)
    IcebergJvm(world.spark).load(name).updateLocation().setLocation(f"{opened.location}/data").commit()
    asked = request("s", "remove_orphan_files", files=[stray], older_than_ms=now_ms())
    with pytest.raises(ActionConflict, match="location"):
        world.maintainer.run(opened, asked, ignore, never)
    assert world.exists(stray)


def test_nothing_to_do_is_no_commit_and_no_error(world: SparkWorld) -> None:
    name = world.table()
    before = world.snapshots(name)
    for asked in (
        request("0", options={}),
        request("0", where="`region` = 'z'"),
        request("0", "rewrite_position_delete_files"),
    ):
        done = execute(world, name, asked)
        assert (done.snapshot_ids, done.files_in) == ([], 0)
    assert world.snapshots(name) == before


@pytest.mark.parametrize("where", ["`absent` = 1", "region = ", "region = 'a'; drop table x"])
def test_a_condition_that_spark_cannot_resolve_is_refused(world: SparkWorld, where: str) -> None:
    name = world.table()
    with pytest.raises(InvalidInput, match="where"):
        execute(world, name, request("w", where=where))
    assert not world.spark.catalog.listTables()


@pytest.mark.parametrize(
    ("where", "expression"),
    [
        ("shared.system.bucket(16, `id`) = 3", "bucket"),
        ("shared.system.truncate(2, `region`) = 'ab' OR `region` IS NULL", "truncate"),
        ("`region` = '\\u0024{x}'", "${x}"),
        ("true", "true"),
        ("`id` = 1 AND `id` = 2", "false"),
    ],
)
def test_conditions_of_statements_become_expressions(world: SparkWorld, where: str, expression: str) -> None:
    jvm = IcebergJvm(world.spark)
    assert expression in jvm.expression(jvm.load(world.table()), where).toString()


def test_an_unknown_option_is_refused(world: SparkWorld) -> None:
    with pytest.raises(SourceRejected, match="no-such-option"):
        execute(world, world.table(), request("w", options={"no-such-option": "1"}))


def test_a_lost_metadata_file_is_damage(world: SparkWorld) -> None:
    name = world.table()
    local(world.load(name).metadata_location).unlink()
    with pytest.raises(MetadataError):
        world.maintainer.open(name)


def test_a_catalog_that_is_not_configured_cannot_be_asked(world: SparkWorld) -> None:
    with pytest.raises(SourceUnavailable):
        world.maintainer.open(world.table()._replace(catalog="elsewhere"))


def test_jobs_that_run_when_the_user_cancels_end(world: SparkWorld) -> None:
    cancelled = threading.Event()
    gate = ActionGate(ignore, cancelled.is_set, writes=True)
    started = time.monotonic()
    threading.Timer(0.5, cancelled.set).start()
    nap = "reflect('java.lang.Thread', 'sleep', 15000L)"
    with pytest.raises(Exception, match=r"(?i)cancel"), watched(world.spark, "nap", gate):
        world.spark.range(1).selectExpr(nap).collect()
    assert time.monotonic() - started < 12
    with pytest.raises(ActionCancelled):
        gate.check()
    assert world.spark.range(3).count() == 3, "later jobs are not cancelled"


def test_a_user_who_cannot_be_asked_counts_as_one_who_cancelled(world: SparkWorld) -> None:
    name, before = world.table(), 2

    def lost() -> bool:
        if len(asked) > 1:
            raise ConnectionError("no database")
        asked.append(1)
        return False

    asked: list[int] = [1]
    with pytest.raises(ConnectionError):
        world.maintainer.run(world.maintainer.open(name), request("c"), ignore, lost)
    assert len(world.snapshots(name)) == before


def test_failures_of_java_keep_their_meaning(world: SparkWorld) -> None:
    iceberg = IcebergJvm(world.spark).iceberg

    def thrown(make: Any) -> Exception:
        with pytest.raises(Exception) as caught:  # noqa: PT011 - whatever class PySpark gives it
            make()
        return caught.value

    check = iceberg.exceptions.ValidationException.check
    assert isinstance(action_error(thrown(lambda: check(False, "files moved", None))), ActionConflict)
    assert isinstance(opening_error(ValueError("odd"), "t"), SourceUnavailable)
    error = InvalidInput("f", "x")
    assert action_error(error) is error
    assert opening_error(error, "t") is error


def test_a_kept_list_is_replaced_as_a_whole_and_forgotten(tmp_path: Path) -> None:
    kept = KeptList(tmp_path / "new", "p1")
    assert kept.read() is None
    kept.write(["a", "b"])
    kept.write(["ü\n"])
    assert kept.read() == ["ü\n"]
    assert [file.name for file in (tmp_path / "new").iterdir()] == ["expired-p1.json"]
    kept.forget()
    kept.forget()
    assert kept.read() is None
    with pytest.raises(InvalidInput):
        KeptList(tmp_path, "../p")
