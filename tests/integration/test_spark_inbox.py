"""The inbox on real Spark and Iceberg: rows once, through rivals, deaths and kills; notifications wake the stream."""

from __future__ import annotations

import asyncio
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import msgspec
import pytest

from lakes import Lake
from limnograph.adapters.embedded.engine import EmbeddedEngine
from limnograph.adapters.inbox.store import SqlInbox
from limnograph.adapters.system_clock import SystemClock
from limnograph.domain.facts.effects import EffectFact
from limnograph.domain.facts.events import AlertFact, LabelFact, ReportFact, RunFact, RunTable
from limnograph.domain.failpoints import INBOX_STEPS, FailpointReached, Failpoints, around
from limnograph.domain.ids import TableName
from limnograph.ports.inbox import InboxItem, item_key
from limnograph.services.jobs.runs import RunRegistry
from limnograph.services.pipeline.drain import Drain
from limnograph.settings import Settings
from limnograph.wiring import pipeline

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
HOUR = 3_600_000_000


class World:
    """An inbox of its own and a namespace of meta tables in the shared lake."""

    def __init__(self, session: SparkSession, lake: Lake, folder: Path) -> None:
        self.session, self.lake = session, lake
        self.meta, self.url = f"meta_{uuid4().hex[:8]}", f"sqlite:///{folder}/inbox.db"
        self.inbox = SqlInbox(self.url)

    @property
    def settings(self) -> Settings:
        return self.lake.settings(
            meta={"namespace": self.meta}, observe={"include": ["shared.nothing.*"]}, inbox={"url": self.url}
        )

    def drain(self, failpoint: str = "") -> Drain:
        return pipeline.drain(self.settings, self.session, failpoints=Failpoints(failpoint))

    def keys(self, table: str, *columns: str) -> list[tuple[Any, ...]]:
        sql = f"select {', '.join(columns)} from shared.{self.meta}.{table}"
        return sorted(tuple(row) for row in self.session.sql(sql).collect())


@pytest.fixture
def world(spark: SparkSession, shared_lake: Lake, tmp_path: Path) -> World:
    return World(spark, shared_lake, tmp_path)


def run_item(name: str, status: str = "ok", **fields: Any) -> InboxItem:
    now = SystemClock().now()
    tables = [RunTable(catalog="lake", namespace="sales", table="orders", role="reads", read_snapshot_id=2**62)]
    fact = RunFact(run_id=name, status=status, started_at=now - HOUR, ended_at=now, tables=tables, **fields)
    return InboxItem("run", item_key(name, status), msgspec.json.encode(fact), now)


def told(kind: str, fact: msgspec.Struct) -> InboxItem:
    return InboxItem(kind, uuid4().hex, msgspec.json.encode(fact), SystemClock().now())


def test_every_kind_becomes_rows_that_the_server_reads(world: World) -> None:
    now = SystemClock().now()
    alert = AlertFact(fingerprint="f", starts_at=now - 40 * 24 * HOUR, status="firing", labels={"severity": "page"})
    effect = EffectFact(
        table_uuid="u",
        operation_id="1",
        job_name="churn",
        measure="duration",
        runs_after=8,
        committed_at=now,
        verdict="helped",
        others=["7"],
    )
    others = [
        told("alert", alert),
        told("report", ReportFact(event_id="e", kind="scan", at=now, metrics={"a": "1"}, projected_fields=["id"])),
        told("label", LabelFact(event_id="l", kind="confirmed", at=now)),
        told("effect", effect),
    ]
    world.inbox.put([run_item("r", "running"), run_item("r", job_name="churn"), *others])
    assert world.drain().run().appended == 6
    assert world.keys("runs", "run_id", "status") == [("r", "ok"), ("r", "running")]
    assert world.keys("alerts", "fingerprint", "labels['severity']") == [("f", "page")]
    assert world.keys("reports", "event_id", "metrics['a']") == [("e", "1")]
    assert world.keys("labels", "event_id", "kind") == [("l", "confirmed")]
    assert world.keys("effects", "operation_id", "verdict", "others[0]") == [("1", "helped", "7")]
    engine = EmbeddedEngine(lambda: world.lake.catalog, (world.meta,))
    runs = RunRegistry(SqlInbox("sqlite://"), engine, SystemClock())
    runs.restore()
    found = asyncio.run(runs.of_table(TableName("lake", "sales", "orders"), now - 2 * HOUR, now))
    assert [(run.job, run.status, run.read_snapshot_id) for run in found] == [("churn", "ok", 2**62)]


def test_rivals_and_crashes_at_every_step_leave_each_key_once(world: World) -> None:
    names = around(INBOX_STEPS)
    for place, name in enumerate(names):
        world.inbox.put([run_item(f"r{place}")])
        with pytest.raises(FailpointReached, match=name):
            world.drain(f"{name}:1:raise").run()
    world.inbox.put([run_item(f"more{i}") for i in range(50)])
    rivals = [threading.Thread(target=world.drain().run) for _ in range(3)]
    for rival in rivals:
        rival.start()
    for rival in rivals:
        rival.join()
    world.drain().run()
    expected = [f"r{i}" for i in range(len(names))] + [f"more{i}" for i in range(50)]
    assert [name for (name,) in world.keys("runs", "run_id")] == sorted(expected)
    assert world.inbox.waiting(("run",), 99) == []


def test_a_notification_makes_a_pass_due_long_before_its_time(world: World, tmp_path: Path) -> None:
    from limnograph.adapters.spark.stream import pass_stream

    passes: list[float] = []
    query = pass_stream(
        world.session,
        lambda: passes.append(time.monotonic()),
        checkpoint=tmp_path / "checkpoint",
        trigger="1 seconds",
        seconds=3_600,
        inbox_url=world.url,
    )
    try:
        for number in (1, 2):
            _until(lambda number=number: len(passes) >= number, query)  # type: ignore[misc]
            now = SystemClock().now()
            world.inbox.put([InboxItem("notification", f"n{number}", b"{}", now, now)])
        _until(lambda: len(passes) >= 3, query)
    finally:
        _until(lambda: not query.status["isTriggerActive"], query)
        query.stop()
    assert len(passes) == 3


def _until(done: Any, query: Any, seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not done():
        assert query.exception() is None
        assert time.monotonic() < end, "nothing happened in time"
        time.sleep(0.2)
