"""The same job on a Spark standalone cluster: rows equal a local pass, and deaths in it cost time, not rows."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pyarrow as pa
import pytest
from deltalake import write_deltalake

from lakes import Lake, path_of, placeholders, rows
from limnograph.domain.facts import CHANGES, SNAPSHOTS
from object_store import ObjectStore, object_store
from spark_cluster import Cluster, children, cluster, command, end, events, lives, wait_for

LIMNOGRAPH = Path(sys.executable).with_name("limnograph")
PROVENANCE = ("observed_at", "run_id", "extractor_version")
SEEN = ("first_seen", "named")
"""Kinds of changes whose `at` is when they were seen."""
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
                f'master = "{master}"',
                "[spark.conf]",
                *(f'"{key}" = "{value}"' for key, value in conf.items()),
            )
        )
        (folder / "limnograph.toml").write_text(text)
        return folder / "limnograph.toml"

    def rows(self, namespace: str, table: str, key: str) -> list[dict[str, Any]]:
        """Rows of a meta table in one order, without what tells who saw them and when."""
        found = self.lake.catalog.load_table((namespace, table)).scan().to_arrow()
        kept = found.select([name for name in found.column_names if name not in PROVENANCE]).to_pylist()
        same = ({**row, "at": None} if row.get("kind") in SEEN else row for row in kept)
        return sorted(same, key=lambda row: str((row["table"], row[key], row)))

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


@contextmanager
def running(config: Path) -> Iterator[subprocess.Popen[str]]:
    """A pipeline that makes passes until nothing is due; it is ended when the test ends before it."""
    arguments = [str(LIMNOGRAPH), "pipeline", "--once", "--json", "--config", str(config)]
    log = config.with_name("pipeline.log")
    with log.open("w") as errors:
        started = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=errors, text=True, cwd=config.parent)
    try:
        yield started
    finally:
        for process in children(started.pid):
            end(process)
        started.kill()
        started.wait(20)
        print(log.read_text()[-3000:])


def once(config: Path) -> dict[str, Any]:
    with running(config) as started:
        told, _ = started.communicate(timeout=400)
        assert started.returncode == 0
        return json.loads(told.splitlines()[-1])


def event_log(folder: Path) -> dict[str, str]:
    folder.mkdir()
    on = {"enabled": "true", "dir": f"file://{folder}", "compress": "false", "rolling.enabled": "false"}
    return {f"spark.eventLog.{key}": value for key, value in on.items()}


def attempts(log: Path) -> dict[tuple[int, int], int]:
    """Highest attempt of every task of an event log, by stage and partition."""
    found: Counter[tuple[int, int]] = Counter()
    for event in events(log, "TaskStart"):
        found[event["Stage ID"], event["Task Info"]["Index"]] += 1
    return dict(found)


def test_a_pass_on_the_cluster_equals_a_local_pass_row_by_row(
    world: World, spark_cluster: Cluster, tmp_path: Path
) -> None:
    log = tmp_path / "events"
    told = once(world.settings("far", spark_cluster.url, **event_log(log)))
    assert told["snapshots_appended"] == sum(world.real().values())
    assert told["unreadable"] == 0
    assert once(world.settings("near", "local[2]"))["snapshots_appended"] == told["snapshots_appended"]
    for table, key in ((SNAPSHOTS, "snapshot_id"), (CHANGES, "kind")):
        assert world.rows("far", table.name, key) == world.rows("near", table.name, key)
    hosts = {event["Task Info"]["Executor ID"] for event in events(log, "TaskEnd")}
    assert hosts == {"0", "1"}
    assert set(attempts(log).values()) == {1}
    assert SECRET not in "".join(file.read_text() for file in log.iterdir())


def held(world: World, spark_cluster: Cluster, started: subprocess.Popen[str]) -> list[psutil.Process]:
    """Wait until both executors have a task that waits for a manifest; the executors."""

    def both() -> list[psutil.Process]:
        assert started.poll() is None, "the pipeline ended early"
        parsing = [jvm for jvm in spark_cluster.executors() if PARSER in str([command(c) for c in children(jvm.pid)])]
        return parsing if len(parsing) == 2 and len(world.store.gate.held) >= 2 else []

    return wait_for(both, "a task on each executor")


def gone(family: list[psutil.Process], told: str) -> None:
    wait_for(lambda: not any(map(lives, family)), told)


def test_an_executor_killed_in_its_task_costs_an_attempt_and_no_row(
    world: World, spark_cluster: Cluster, tmp_path: Path
) -> None:
    log = tmp_path / "events"
    world.commit()
    world.store.gate.close(MANIFEST)
    with running(world.settings("far", spark_cluster.url, **event_log(log))) as started:
        victim = held(world, spark_cluster, started)[0]
        family = [victim, *children(victim.pid)]
        end(victim)
        gone(family, "the end of the executor's Python workers and of their children")
        world.store.gate.open()
        told, _ = started.communicate(timeout=400)
        assert started.returncode == 0
    assert json.loads(told.splitlines()[-1])["snapshots_appended"] == len(TABLES)
    assert world.keys("far") == world.real()
    assert max(attempts(log).values()) > 1
    reasons = {event["Task End Reason"]["Reason"] for event in events(log, "TaskEnd")}
    assert reasons == {"Success", "ExecutorLostFailure"}


def test_a_killed_driver_leaves_no_executor_and_no_child(world: World, spark_cluster: Cluster) -> None:
    world.commit()
    world.store.gate.close(MANIFEST)
    with running(world.settings("far", spark_cluster.url)) as started:
        executors = held(world, spark_cluster, started)
        family = [*children(started.pid), *executors, *(child for jvm in executors for child in children(jvm.pid))]
        started.kill()
        gone(family, "the end of the driver's JVM, the executors and all of their children")
    world.store.gate.open()
    assert sum(world.keys("far").values()) == sum(world.real().values()) - len(TABLES)


def test_a_killed_worker_costs_no_row_and_what_a_killed_driver_left_is_made_up_for(
    world: World, spark_cluster: Cluster
) -> None:
    world.store.gate.close(MANIFEST)
    with running(world.settings("far", spark_cluster.url)) as started:
        held(world, spark_cluster, started)
        worker = spark_cluster.workers[0]
        family = children(worker.pid)
        worker.kill()
        gone(family, "the end of the worker's executor and of its children")
        world.store.gate.open()
        told, _ = started.communicate(timeout=400)
        assert started.returncode == 0
    spark_cluster.fill(2)
    assert json.loads(told.splitlines()[-1])["snapshots_appended"] == len(TABLES)
    assert world.keys("far") == world.real()
