"""Runs that were reported before Limnograph knew their tables: named once it does, once, and not looked up for ever."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import msgspec

from limnograph.adapters.memory.inbox import MemoryInbox
from limnograph.adapters.memory.query_engine import MemoryEngine
from limnograph.domain.facts.events import RunFact, RunTable
from limnograph.domain.ids import TableName
from limnograph.domain.time import Micros
from limnograph.services.events.naming import KnownTable, TableResolver, name_table
from limnograph.services.jobs.late_names import PATIENCE_US, LateNaming
from limnograph.services.jobs.runs import RunRegistry
from pushed_bodies import METADATA
from serving_kit import BIG, HOUR, NOW, FixedClock, change, client, moved, parts, row

ORDERS = TableName("lake", "sales", "orders")
FOLDER = "s3://bucket/wh/sales/orders"


class GrowingLake:
    """A resolver's tables, which may grow; counts how often it was asked."""

    def __init__(self) -> None:
        self.known: list[KnownTable] = []
        self.version: object = object()
        self.asked = 0
        self._resolver = TableResolver({"lake": {}}, lambda: self.known, lambda: self.version)

    def learn(self, *tables: KnownTable) -> None:
        self.known, self.version = [*self.known, *tables], object()

    @property
    def naming(self) -> LateNaming:
        return LateNaming(self._name, lambda: self.version)

    def _name(self, table: RunTable) -> RunTable | None:
        self.asked += 1
        return name_table(table, self._resolver)


def run(number: int = 0, location: str = FOLDER, **fields: Any) -> RunFact:
    output = RunTable(
        namespace="s3://bucket", table="wh/sales/orders", role="writes", location=location, written_snapshot_id=number
    )
    known = {"job_name": "load", "started_at": NOW - HOUR, "ended_at": NOW, "observed_at": NOW}
    return RunFact(run_id=f"r{number}", status="ok", tables=[output], **{**known, **fields})


def registry(lake: GrowingLake, clock: FixedClock | None = None, inbox: MemoryInbox | None = None) -> RunRegistry:
    return RunRegistry(inbox or MemoryInbox(), clock=clock or FixedClock(), naming=lake.naming)


def jobs_of(runs: RunRegistry) -> list[str]:
    return [each.job for each in asyncio.run(runs.of_table(ORDERS, Micros(NOW - HOUR), Micros(NOW)))]


def test_the_first_run_of_a_new_table_is_on_the_page_of_its_commit() -> None:
    """The event of the run that creates a table arrives before the watcher has seen the table."""
    engine = MemoryEngine()
    server = parts(engine, catalogs={"lake": {"type": "sql", "uri": "sqlite:////x.db", "warehouse": "s3://else"}})

    async def page() -> Any:
        async with client(server) as http:
            return (await http.get(f"/api/v1/tables/lake/sales/orders/commits/{BIG}")).json()

    async def report() -> int:
        output = {
            "namespace": "s3://bucket",
            "name": "wh/sales/orders",
            "facets": {"version": {"_producer": "x", "_schemaURL": "y", "datasetVersion": str(BIG)}},
        }
        event = {
            "eventType": "COMPLETE",
            "eventTime": "2026-11-23T05:59:00Z",
            "producer": "x",
            "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
            "run": {"runId": "first"},
            "job": {"namespace": "prod", "name": "create_orders"},
            "outputs": [output],
        }
        async with client(server) as http:
            return (await http.post("/api/v1/lineage", json=event)).status_code

    assert asyncio.run(report()) in {200, 201, 202, 204}
    engine.append(
        [row(BIG, NOW - HOUR, metadata_location=METADATA)],
        [change("named", NOW - HOUR, "lake.sales.orders", subject="lake.sales.orders"), moved(BIG, NOW - HOUR)],
    )
    server.store.refresh()
    assert asyncio.run(page())["written_by_job"] is None
    server.runs.catch_up()
    assert asyncio.run(page())["written_by_job"] == "create_orders"


def test_a_table_that_becomes_known_has_the_runs_reported_before() -> None:
    lake = GrowingLake()
    runs = registry(lake)
    asyncio.run(runs.accept([run(7)]))
    runs.catch_up()
    assert jobs_of(runs) == []
    before = runs.version(ORDERS)
    lake.learn(KnownTable(ORDERS, METADATA))
    runs.catch_up()
    assert jobs_of(runs) == ["load"]
    assert runs.version(ORDERS) == before + 1
    found = asyncio.run(runs.writer_of(ORDERS, 7, Micros(NOW)))
    assert found is not None
    assert found.job_name == "load"


def test_a_server_that_starts_later_names_them_too() -> None:
    lake, inbox = GrowingLake(), MemoryInbox()
    asyncio.run(registry(lake, inbox=inbox).accept([run(7)]))
    lake.learn(KnownTable(ORDERS, METADATA))
    runs = registry(lake, inbox=inbox)
    runs.restore()
    assert jobs_of(runs) == ["load"]


def test_a_branch_is_named_and_its_snapshot_stays_unknown() -> None:
    lake = GrowingLake()
    runs = registry(lake)
    asyncio.run(runs.accept([run(7, f"{FOLDER}#branch_audit")]))
    lake.learn(KnownTable(ORDERS, METADATA))
    runs.catch_up()
    (table,) = runs.writing(ORDERS)[0].tables or ()
    assert (table.ref, table.written_snapshot_id) == ("audit", None)


def test_what_is_no_table_is_looked_up_for_an_hour_and_only_when_the_lake_changed() -> None:
    lake, clock = GrowingLake(), FixedClock()
    runs = registry(lake, clock)
    asyncio.run(runs.accept([run(1, "kafka://broker/orders")]))
    for _ in range(3):
        runs.catch_up()
    assert lake.asked == 1
    lake.learn()
    runs.catch_up()
    assert lake.asked == 2
    clock.micros += PATIENCE_US
    for _ in range(3):
        lake.learn()
        runs.catch_up()
    assert lake.asked == 3


def test_runs_that_arrive_meanwhile_are_all_named() -> None:
    lake = GrowingLake()
    runs = registry(lake)
    asyncio.run(runs.accept([run(number) for number in range(200)]))
    more = [msgspec.structs.replace(run(number), run_id=f"late{number}") for number in range(200, 400)]
    thread = threading.Thread(target=lambda: [asyncio.run(runs.accept([each])) for each in more])
    thread.start()
    lake.learn(KnownTable(ORDERS, METADATA))
    while thread.is_alive():
        runs.catch_up()
    thread.join()
    runs.catch_up()
    assert len(jobs_of(runs)) == 400
