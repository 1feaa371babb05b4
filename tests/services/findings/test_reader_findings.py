"""Findings of readers on a running server: from reports and from pointers, recorded once, kept over restarts."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog

from finding_world import World
from limnograph.adapters.memory.query_engine import MemoryEngine
from limnograph.domain import watch
from limnograph.domain.facts.events import ReportFact
from limnograph.domain.facts.findings import FindingFact
from limnograph.domain.objectives import Objective, Objectives
from limnograph.domain.time import Micros
from limnograph.domain.watch import Sighted
from limnograph.services.findings.pointer_findings import PointerFindings
from limnograph.services.lake.lake import Facts
from limnograph.services.lake.store import WINDOW
from limnograph.services.watcher.rounds import Watcher
from limnograph.settings import parse
from limnograph.wiring.observe import SettingsLake
from limnograph.wiring.server import ServerServices
from serving_kit import HOUR, MINUTE, NOW, FixedClock, change, parts, schema

ROWS = pa.table({"id": [1, 2, 3]})


class ReadWorld(World):
    """A table with a commit each hour, partitioned by day and sorted by region; engines report its reads."""

    def __init__(self) -> None:
        super().__init__()
        spec = {"fields": [{"source-id": 1, "name": "day", "transform": "day"}]}
        order = {"fields": [{"source-id": 2, "transform": "identity"}]}
        columns = (1, "at", "timestamptz"), (2, "region", "string"), (3, "customer_id", "long")
        structure = [
            schema(0, NOW - 9 * HOUR, *columns),
            change("spec", NOW - 9 * HOUR, "0", detail=json.dumps(spec)),
            change("sort_order", NOW - 9 * HOUR, "1", detail=json.dumps(order)),
        ]
        self.engine.append([], structure)
        self.reported = 0

    def read(self, *at: int, **columns: Any) -> None:
        """Scans, as the pipeline records them."""
        facts = []
        for each in at:
            self.reported += 1
            name = {"catalog": "lake", "namespace": "sales", "table": "orders", "kind": "scan", "engine": "trino"}
            facts.append(ReportFact(event_id=f"e{self.reported}", at=Micros(each), **(name | columns)))
        self.engine.append([], [], reports=facts)

    def observed(self, micros: int, server: ServerServices | None = None) -> list[FindingFact]:
        """Time passes, a fresh server reads the reports, observes and evaluates."""
        made = server or self.server
        found = self.later(micros, server=made)
        made.read_log.catch_up()
        asyncio.run(made.observers.observe(made.evaluator))
        return [*found, *made.evaluator.evaluate()]


def test_an_engine_that_cached_an_old_pointer_is_a_stale_reader_until_it_reads_the_head() -> None:
    world = ReadWorld()
    stale = [NOW - step * MINUTE for step in (20, 15, 10)]
    world.read(*stale, snapshot_id=38, job_name="dashboard")
    world.read(*stale, snapshot_id=40, job_name="rollup")
    (opened,) = world.observed(MINUTE)
    assert (opened.code, opened.subject, opened.severity) == ("stale_reader", "dashboard", "warning")
    evidence = opened.evidence or {}
    assert (evidence["snapshot"], evidence["behind_commits"], evidence["engine"]) == ("38", "2", "trino")
    assert float(evidence["behind_seconds"]) == 110 * 60
    again = world.start()
    assert world.observed(MINUTE, again) == [], "a restarted server finds the same"
    assert world.open(again)["stale_reader"].finding_id == opened.finding_id
    world.later(24 * HOUR, server=again)
    closed = {fact.code: fact for fact in world.observed(2 * MINUTE, again)}["stale_reader"]
    assert (closed.finding_id, closed.state, closed.closed_at) == (
        opened.finding_id,
        "closed",
        NOW - 10 * MINUTE + 24 * HOUR,
    )


def test_a_snapshot_older_than_memory_is_stale_too() -> None:
    world = ReadWorld()
    world.clock.micros += 60 * HOUR
    world.commit()
    server = world.start()
    world.read(*(world.clock.micros - step * MINUTE for step in (3, 2, 1)), snapshot_id=1)
    found = {fact.code: fact for fact in world.observed(MINUTE, server)}["stale_reader"]
    assert (found.subject, (found.evidence or {})["behind_commits"]) == ("trino", "39")


def test_reports_that_were_not_read_freeze_the_findings_of_readers() -> None:
    world = ReadWorld()
    world.read(*(NOW - step * MINUTE for step in (20, 15, 10)), snapshot_id=38)
    world.observed(MINUTE)
    again = world.start()
    assert world.later(MINUTE, server=again) == [], "nothing is withdrawn before the reports were read"
    assert "stale_reader" in world.open(again)


def test_a_filter_that_no_partition_or_order_serves_is_found_with_its_share() -> None:
    world = ReadWorld()
    times = [NOW - number * 30 * MINUTE for number in range(100)]
    world.read(*times[:83], snapshot_id=40, filter_columns=["customer_id"], result_data_files=90)
    world.read(*times[83:], snapshot_id=40, filter_columns=["at", "REGION"], result_data_files=5)
    opened = {fact.code: fact for fact in world.observed(MINUTE)}["filter_not_pruned"]
    assert (opened.subject, opened.severity) == ("customer_id", "warning")
    assert {name: float((opened.evidence or {})[name]) for name in ("share", "scans", "opened_share")} == {
        "share": 0.83,
        "scans": 100,
        "opened_share": 0.9,
    }
    order = {"fields": [{"source-id": 3, "transform": "identity"}]}
    world.engine.append([], [change("sort_order", NOW, "2", detail=json.dumps(order))])
    closed = {fact.code: fact for fact in world.observed(MINUTE)}["filter_not_pruned"]
    assert (closed.finding_id, closed.state) == (opened.finding_id, "closed")


def test_scans_that_open_few_files_are_no_finding() -> None:
    world = ReadWorld()
    times = [NOW - number * MINUTE for number in range(100)]
    world.read(*times, snapshot_id=40, filter_columns=["customer_id"], result_data_files=40)
    assert world.observed(MINUTE) == []


class PromisedWorld(ReadWorld):
    """The same with an objective for the table's queries."""

    def start(self) -> ServerServices:
        promised = Objectives([Objective("lake.sales.*", query_p95_s=5.0)])
        return parts(self.engine, clock=self.clock, inbox=self.inbox, promised=promised)


def test_slow_queries_miss_the_objective_until_they_are_fast_for_its_window() -> None:
    world = PromisedWorld()
    slow = [NOW - step * MINUTE for step in range(30, 0, -1)]
    world.read(*slow, kind="query", wall_seconds=8.0, snapshot_id=40)
    (opened,) = world.observed(MINUTE)
    assert (opened.code, opened.subject, opened.severity) == ("objective_missed", "queries", "critical")
    assert opened.evidence == {"threshold_seconds": "5.0", "seconds": "8.0", "queries": "30"}
    assert world.server.evaluator.board.by_job == {}
    again = world.start()
    assert world.later(MINUTE, server=again) == [], "nothing is withdrawn before the reports were read"
    assert world.observed(MINUTE, again) == [], "a restarted server finds the same"
    assert world.open(again)["objective_missed"].finding_id == opened.finding_id
    (closed,) = world.observed(90 * MINUTE, again)
    assert (closed.finding_id, closed.state, closed.closed_by) == (opened.finding_id, "closed", None)


def test_without_an_objective_slow_queries_are_no_finding() -> None:
    world = ReadWorld()
    world.read(*(NOW - step * MINUTE for step in range(30)), kind="query", wall_seconds=800.0, snapshot_id=40)
    assert world.observed(MINUTE) == []


class TwoCatalogs:
    """A real table that two catalogs register, and a server that the watcher's rounds reach."""

    def __init__(self, folder: Path) -> None:
        self.catalogs = {}
        for name in ("lake", "old"):
            properties = {"uri": f"sqlite:///{folder}/{name}.db", "warehouse": f"file://{folder}/wh"}
            self.catalogs[name] = SqlCatalog(name, **properties)
            self.catalogs[name].create_namespace("sales")
        self.table = self.catalogs["lake"].create_table("sales.orders", ROWS.schema)
        self.table.append(ROWS)
        self.catalogs["old"].register_table("sales.orders", self.table.metadata_location)
        given = {
            name: {"type": "sql", "uri": f"sqlite:///{folder}/{name}.db", "warehouse": f"file://{folder}/wh"}
            for name in self.catalogs
        }
        # The clock of the server follows the commits, which have real times.
        self.clock = FixedClock(self.table.metadata.last_updated_ms * 1_000)
        self.watcher = Watcher(
            SettingsLake(parse({"catalogs": given, "meta": {"catalog": "lake"}}, folder, {})),
            MemoryEngine(),
            self.clock,
            WINDOW,
        )
        self.server = parts(MemoryEngine(), clock=self.clock)
        self.server.store.refresh()
        self.sighted: Sighted | None = None
        self.pointers = PointerFindings(self.server.store, lambda: self.sighted, self.clock)

    def later(self, micros: int) -> dict[str, FindingFact]:
        """A round of the watcher, then an evaluation; findings by code."""
        self.clock.micros += micros
        messages = [watch.decode(watch.encode(message)) for message in self.watcher.round()]
        for message in messages:
            assert isinstance(message, watch.ProbeRound)
            self.server.store.apply(Facts(message.snapshots, message.changes))
        last = messages[-1]
        self.server.store.probed(Micros(last.at), last.read, last.failed)
        self.sighted = Sighted(2, 2, tuple(last.read), whole=True, troubles=(), parted=tuple(last.parted))
        evaluator = self.server.evaluator
        evaluator.evaluate()
        self.pointers.observe(evaluator)
        return {fact.code or "": fact for fact in evaluator.evaluate()}


def test_a_table_in_two_catalogs_with_different_heads_has_two_pointers(tmp_path: Path) -> None:
    world = TwoCatalogs(tmp_path)
    assert "two_pointers" not in world.later(MINUTE)
    assert "two_pointers" not in world.later(HOUR), "both point at the same snapshot"
    first = world.table.metadata.current_snapshot_id
    world.table.append(ROWS)
    assert "two_pointers" not in world.later(MINUTE), "the second probe may be late"
    found = world.later(11 * MINUTE)["two_pointers"]
    assert (found.state, found.severity) == ("open", "warning")
    said = (found.evidence or {})["pointers"]
    assert f"lake.sales.orders at snapshot {world.table.metadata.current_snapshot_id}" in said
    assert f"old.sales.orders at snapshot {first}" in said
    assert found.subject in {"lake.sales.orders", "old.sales.orders"}
    world.catalogs["old"].drop_table("sales.orders")
    world.catalogs["old"].register_table("sales.orders", world.table.metadata_location)
    closed = world.later(MINUTE)["two_pointers"]
    assert (closed.finding_id, closed.state) == (found.finding_id, "closed")


def test_without_a_round_of_the_watcher_nothing_is_withdrawn(tmp_path: Path) -> None:
    world = TwoCatalogs(tmp_path)
    world.table.append(ROWS)
    world.later(MINUTE)
    assert "two_pointers" in world.later(11 * MINUTE)
    again = PointerFindings(world.server.store, lambda: None, world.clock)
    again.observe(world.server.evaluator)
    assert world.server.evaluator.evaluate() == []
    assert "two_pointers" in {fact.code for fact in world.server.evaluator.board.open}
