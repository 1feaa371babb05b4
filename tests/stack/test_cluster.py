"""The same job on a Spark standalone cluster: rows equal a local pass, and deaths in it cost time, not rows."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import psutil
import pyarrow as pa
import pytest
from deltalake import write_deltalake

from lakes import Lake, path_of, placeholders, rows
from limnograph.adapters.spark.java import java_home
from limnograph.adapters.spark.manifests import MOST_MANIFESTS
from limnograph.adapters.spark.session import find_jars
from limnograph.domain.facts.meta_tables import SNAPSHOTS
from limnograph.domain.failpoints import Failpoints
from limnograph.jobs.pipeline import until_settled
from limnograph.settings import MetaSettings, ObserveSettings, PathSettings, load
from limnograph.wiring import pipeline
from metadata_writer import MetadataTable
from object_store import ObjectStore, object_store
from spark_cluster import PATIENCE_S, SPARK_CLASS, Cluster, children, cluster, command, end, events, lives, wait_for

ROOT = Path(__file__).parents[2]
PROGRAM = "deploy/images/pipeline.py"
SPARK_SUBMIT = SPARK_CLASS.with_name("spark-submit")
LIMNOGRAPH = Path(sys.executable).with_name("limnograph")
PROVENANCE = ("observed_at", "run_id", "extractor_version")
TABLES = ("orders", "carts", "visits", "clicks")
MANIFEST = "-m0.avro"
PARSER = "limnograph.jobs.parser"
SECRET = "kept-out-of-every-log"


class World:
    """A lake with a table of another format, whose Iceberg tables are observed on an object store that can hold."""

    def __init__(self, folder: Path, store: ObjectStore) -> None:
        self.folder, self.store, self.lake = folder, store, Lake(folder)
        self.store.properties["s3.secret-access-key"] = SECRET
        for name in TABLES:
            self._fill(f"sales.{name}")
        self.delta = f"{folder}/landing/events"
        for start in (0, 10, 20):
            write_deltalake(self.delta, pa.table({"id": list(range(start, start + 10))}), mode="append")
        self.publish()

    def _fill(self, name: str) -> None:
        table = self.lake.table(name)
        table.append(rows("eu", "us", "asia"))
        placeholders(table, 7)
        table.append(rows("eu"))
        table.delete("region = 'asia'")
        with table.update_schema() as change:
            change.add_column("extra", change._schema.find_type("id"))
        table.append(pa.table({"id": [7], "region": ["us"], "extra": [1]}))

    def commit(self) -> None:
        """One more snapshot of every Iceberg table, with a manifest that no cache has."""
        for name in TABLES:
            self.lake.load(f"sales.{name}").append(pa.table({"id": [8], "region": ["eu"], "extra": [2]}))
        self.publish()

    def publish(self) -> None:
        for name in TABLES:
            home = path_of(self.lake.load(f"sales.{name}").location())
            for file in (home / "metadata").iterdir():
                self.store.objects[f"bucket/sales/{name}/metadata/{file.name}"] = file.read_bytes()

    def settings(self, namespace: str, master: str, **conf: str) -> Path:
        """A settings file of its own folder: state and caches of two pipelines stay apart."""
        folder = self.folder / namespace
        folder.mkdir(exist_ok=True)
        properties = {**self.lake.properties, **self.store.properties}
        conf = {"spark.driver.memory": "512m", "spark.executor.memory": "512m", **conf}
        text = "\n".join(
            (
                "[catalogs.lake]",
                *(f'"{key}" = "{value}"' for key, value in properties.items()),
                "[meta]",
                f'namespace = "{namespace}"',
                "[observe]",
                'include = ["lake.sales.*", "files.**"]',
                "[[observe.paths]]",
                'format = "delta"',
                'name = "landing.events"',
                f'location = "file://{self.delta}"',
                "[path_map]",
                f'"file://{self.lake.folder}/warehouse/sales/" = "s3://bucket/sales/"',
                "[spark]",
                *([f'master = "{master}"'] if master else []),
                "[spark.conf]",
                *(f'"{key}" = "{value}"' for key, value in conf.items()),
            )
        )
        (folder / "limnograph.toml").write_text(text)
        return folder / "limnograph.toml"

    def rows(self, namespace: str) -> list[dict[str, Any]]:
        """Rows of `snapshots` in one order, without what tells who saw them and when."""
        found = self.lake.catalog.load_table((namespace, SNAPSHOTS.name)).scan().to_arrow()
        kept = found.select([name for name in found.column_names if name not in PROVENANCE]).to_pylist()
        return sorted(kept, key=lambda row: (row["table"], row["snapshot_id"]))

    def keys(self, namespace: str) -> Counter[tuple[str, int]]:
        found = self.lake.catalog.load_table((namespace, SNAPSHOTS.name)).scan().to_arrow().to_pylist()
        return Counter((row["table"], row["snapshot_id"]) for row in found)

    def real(self) -> Counter[tuple[str, int]]:
        iceberg = [(name, one.snapshot_id) for name in TABLES for one in self.lake.load(f"sales.{name}").snapshots()]
        return Counter([*iceberg, *(("events", version) for version in range(3))])


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with object_store() as store:
        yield World(tmp_path_factory.mktemp("world"), store)


@pytest.fixture(scope="module")
def spark_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with cluster(tmp_path_factory.mktemp("cluster") / "spark") as made:
        yield made


class Driver:
    """A pipeline whose driver is this process, on some master, with an event log."""

    def __init__(self, world: World, namespace: str, master: str, log: Path) -> None:
        log.mkdir()
        on = {"enabled": "true", "dir": f"file://{log}", "compress": "false", "rolling.enabled": "false"}
        conf = {f"spark.eventLog.{key}": value for key, value in on.items()}
        self.log, self.settings = log, load(world.settings(namespace, master, **conf))
        self.session = pipeline.spark_session(self.settings)

    def settle(self) -> int:
        """Passes until nothing is due; rows that they appended."""
        made = pipeline.passes(self.settings, self.session, failpoints=Failpoints())
        return sum(report.snapshots_appended for report in until_settled(made, print))

    def ended(self) -> list[tuple[str, int, str]]:
        """Executor, attempt and reason of every task that has ended."""
        return [
            (event["Task Info"]["Executor ID"], event["Task Info"]["Attempt"], event["Task End Reason"]["Reason"])
            for event in events(self.log, "TaskEnd")
        ]


@pytest.fixture(scope="module")
def driver(world: World, spark_cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Driver]:
    made = Driver(world, "far", spark_cluster.url, tmp_path_factory.mktemp("far") / "events")
    yield made
    made.session.stop()


def held(world: World, spark_cluster: Cluster) -> list[psutil.Process]:
    """Wait until both executors have a task that waits for a manifest; the executors."""

    def both() -> list[psutil.Process]:
        parsing = [jvm for jvm in spark_cluster.executors() if PARSER in str([command(c) for c in children(jvm.pid)])]
        return parsing if len(parsing) == 2 and len(world.store.gate.held) >= 2 else []

    return wait_for(both, "a task on each executor")


def gone(family: list[psutil.Process], told: str) -> None:
    wait_for(lambda: not any(map(lives, family)), told)


def test_a_pass_on_the_cluster_shares_its_work_and_equals_a_local_pass_row_by_row(
    world: World, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    near = Driver(world, "near", "local[2]", tmp_path / "events")
    assert near.settle() == sum(world.real().values())
    near.session.stop()
    far: Driver = request.getfixturevalue("driver")
    assert far.settle() == sum(world.real().values())
    assert world.rows("far") == world.rows("near")
    wait_for(lambda: {executor for executor, _, _ in far.ended()} == {"0", "1"}, "tasks of both executors")
    assert {(attempt, reason) for _, attempt, reason in far.ended()} == {(0, "Success")}
    assert SECRET not in "".join(file.read_text() for file in far.log.iterdir())


def test_manifests_of_one_large_table_are_read_on_both_executors(world: World, driver: Driver) -> None:
    table = MetadataTable(world.folder / "large")
    for _ in range(MOST_MANIFESTS + 100):
        table.append(table.file("eu"))
    # Its one snapshot has all the manifests; of a longer history other tasks would have read some before.
    table.expire(*list(table.snapshots)[:-1])
    place = PathSettings(format="iceberg", name="large.table", location=f"file://{world.folder}/large")
    settings = msgspec.structs.replace(
        driver.settings,
        meta=MetaSettings(namespace="large"),
        observe=ObserveSettings(include=("files.large.*",), paths=(place,)),
    )
    until_settled(pipeline.passes(settings, driver.session, failpoints=Failpoints()), print)
    (head,) = world.rows("large")
    assert (head["tier"], head["total_data_files"], head["status"]) == ("entries", MOST_MANIFESTS + 100, "ok")

    def shared() -> set[str]:
        """Executors of the widest stage that read Python data: a task for each group of manifests."""
        stages = {
            e["Stage Info"]["Stage ID"]
            for e in events(driver.log, "StageCompleted")
            if e["Stage Info"]["Number of Tasks"] >= 5
        }
        return {e["Task Info"]["Executor ID"] for e in events(driver.log, "TaskEnd") if e["Stage ID"] in stages}

    wait_for(lambda: len(shared()) == 2, "groups of manifests on both executors")


def test_an_executor_killed_in_its_task_costs_an_attempt_and_no_row(
    world: World, spark_cluster: Cluster, driver: Driver
) -> None:
    world.commit()
    world.store.gate.close(MANIFEST)
    with ThreadPoolExecutor() as pool:
        appended = pool.submit(driver.settle)
        victim = held(world, spark_cluster)[0]
        family = [victim, *children(victim.pid)]
        end(victim)
        gone(family, "the end of the executor's Python workers and of their children")
        world.store.gate.open()
        assert appended.result() == len(TABLES)
    assert world.keys("far") == world.real()
    wait_for(lambda: any(attempt > 0 for _, attempt, _ in driver.ended()), "a second attempt")
    assert "ExecutorLostFailure" in {reason for _, _, reason in driver.ended()}


def test_a_killed_worker_ends_its_executor_and_costs_no_row(
    world: World, spark_cluster: Cluster, driver: Driver
) -> None:
    world.commit()
    world.store.gate.close(MANIFEST)
    with ThreadPoolExecutor() as pool:
        appended = pool.submit(driver.settle)
        held(world, spark_cluster)
        worker = spark_cluster.workers[0]
        family = children(worker.pid)
        worker.kill()
        gone(family, "the end of the worker's executor and of its children")
        world.store.gate.open()
        assert appended.result() == len(TABLES)
    spark_cluster.fill(2)
    assert world.keys("far") == world.real()


def environment() -> dict[str, str]:
    """What spark-submit needs to be told; our own program finds it by itself."""
    return {
        **os.environ,
        "JAVA_HOME": java_home(),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
    }


def submit(master: str) -> list[str | Path]:
    """The line of deploy/spark-submit.md."""
    jars = ",".join(map(str, find_jars()))
    return [SPARK_SUBMIT, "--master", master, "--jars", jars, "--conf", "spark.cores.max=2", ROOT / PROGRAM]


@contextmanager
def running(config: Path, *program: str | Path) -> Iterator[subprocess.Popen[str]]:
    """The program itself; it is ended when the test ends before it."""
    arguments = [*map(str, program), "pipeline", "--once", "--json", "--config", str(config)]
    log = config.with_name("pipeline.log")
    with log.open("w") as errors:
        started = subprocess.Popen(
            arguments, stdout=subprocess.PIPE, stderr=errors, text=True, cwd=config.parent, env=environment()
        )
    try:
        yield started
    finally:
        for process in children(started.pid):
            end(process)
        started.kill()
        started.wait(20)
        print(log.read_text()[-3000:])


def test_a_killed_driver_leaves_no_process_and_spark_submit_recovers_its_work(
    world: World, spark_cluster: Cluster, driver: Driver
) -> None:
    driver.session.stop()
    world.commit()
    world.store.gate.close(MANIFEST)
    with running(world.settings("far", spark_cluster.url), LIMNOGRAPH) as started:
        executors = held(world, spark_cluster)
        family = [*children(started.pid), *executors, *(child for jvm in executors for child in children(jvm.pid))]
        started.kill()
        gone(family, "the end of the driver's JVM, the executors and all of their children")
    world.store.gate.open()
    assert sum(world.keys("far").values()) == sum(world.real().values()) - len(TABLES)
    with running(world.settings("far", ""), *submit(spark_cluster.url)) as started:
        told, _ = started.communicate(timeout=PATIENCE_S)
        assert started.returncode == 0
    assert json.loads(told.splitlines()[-1])["snapshots_appended"] == len(TABLES)
    assert world.keys("far") == world.real()
    assert (spark_cluster.folder / "master.log").read_text().count("Registered app") == 3
