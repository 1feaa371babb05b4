"""State that request threads share, one object at a time: no lost update, no torn read, no wait for another's I/O."""

from __future__ import annotations

import asyncio
import itertools
import threading
import time

import pytest

from limnograph.adapters.memory.metrics_source import MemoryMetrics
from limnograph.adapters.memory.query_engine import MemoryEngine
from limnograph.domain.errors import SourceUnavailable
from limnograph.domain.facts.events import RunFact, RunTable
from limnograph.domain.ids import TableName
from limnograph.domain.metrics.series import Matrix, RangeQuery
from limnograph.domain.queries import FleetQuery
from limnograph.ports.query_engine import MetaQuery
from limnograph.ports.stopping import STOP, Stop
from limnograph.services.lake.lake import Facts, Lake
from limnograph.services.lake.store import HotStore
from serving_kit import HOUR, MINUTE, NOW, SECOND, FixedClock, lake, parts, row
from thread_kit import at_once, running, switching_often

DAY = 24 * HOUR
TABLE = TableName("lake", "sales", "orders")


class SlowMetrics(MemoryMetrics):
    """Answers when it is let."""

    def __init__(self) -> None:
        super().__init__("slow", {})
        self.let = asyncio.Event()

    async def range(self, query: RangeQuery) -> Matrix:
        await self.let.wait()
        return await super().range(query)


@pytest.mark.parametrize("asked", ["page", "heat"])
def test_a_commit_between_two_queries_of_one_lake_does_not_break_the_second(asked: str) -> None:
    async def play() -> list[list[str]]:
        source = SlowMetrics()
        made = parts(lake([row(i, NOW - i * MINUTE, i, **one(i)) for i in range(1, 9)]), source)
        span, fleet = {"start": (NOW - HOUR) // 1000, "end": NOW // 1000}, made.backend.fleet
        source.let.set()
        first = await fleet.page(FleetQuery(**span, limit=2))
        source.let.clear()
        second = asyncio.ensure_future(getattr(fleet, asked)(FleetQuery(**span)))
        await asyncio.sleep(0)
        made.store.apply(Facts([row(99, NOW - SECOND, 99, **one(9))], []))
        source.let.set()
        return [[each.table for each in page.rows] for page in (first, await second)]

    def one(number: int) -> dict[str, str]:
        return {"table_uuid": f"uuid-{number}", "table": f"t{number}"}

    first, second = asyncio.run(play())
    assert (len(second), second[:2]) == (8, first)


def test_a_commit_from_the_watcher_survives_reads_that_find_nothing_new() -> None:
    engine = lake([row(1, NOW - HOUR)])
    store = HotStore(engine, FixedClock())
    store.refresh()
    ids, head = itertools.count(2), engine.head()
    engine.head = lambda: head  # at once, so that the rest of a read is most of it

    def watch() -> None:
        number = next(ids)
        store.apply(Facts([row(number, NOW - HOUR + number * SECOND, **one(number % 50))], []))

    def refresh() -> None:
        for _ in range(100):
            store.refresh()

    def one(number: int) -> dict[str, str]:
        return {"table_uuid": f"uuid-{number}", "table": f"t{number}"}

    with switching_often(), running(watch, refresh, seconds=1.0) as broken:
        pass
    assert broken == []
    held = (table.rows.column("snapshot_id").tolist() for table in store.reading.lake.tables.values())
    assert sorted(itertools.chain(*held)) == list(range(1, next(ids)))


def test_runs_of_a_table_are_read_while_more_events_arrive() -> None:
    runs, numbers = parts().runs, itertools.count()
    table = RunTable(catalog="lake", namespace="sales", table="orders", role="reads")
    told = {"job_name": "churn", "started_at": NOW - HOUR, "tables": [table], "observed_at": NOW}

    async def push() -> None:
        for number in itertools.islice(numbers, 50):
            await runs.accept([RunFact(run_id="nightly", status=f"state-{number}", **told)])

    async def read() -> None:
        for _ in range(20):
            await runs.of_table(TABLE, NOW - DAY, NOW)

    with switching_often(), running(lambda: asyncio.run(push()), lambda: asyncio.run(read()), seconds=1.0) as broken:
        pass
    assert broken == []


class Hanging(MemoryEngine):
    """An engine whose reads that begin at `stuck` hang until `let`."""

    def __init__(self) -> None:
        super().__init__()
        self.stuck, self.let, self.reads = 0, threading.Event(), 0

    def select(self, query: MetaQuery):
        self.reads += query.table == "snapshots" and query.start is not None
        if query.start == self.stuck:
            assert self.let.wait(30)
        return super().select(query)


def week() -> tuple[Hanging, HotStore]:
    engine = Hanging()
    engine.append([row(i, NOW - i * 4 * HOUR) for i in range(42)], [])
    store = HotStore(engine, FixedClock())
    store.refresh()
    return engine, store


def test_a_hanging_read_blocks_no_other_and_a_leaving_caller_stops_waiting() -> None:
    engine, store = week()
    engine.stuck, stop = NOW - 5 * DAY, Stop()
    hung = threading.Thread(target=store.since, args=(engine.stuck,))
    hung.start()
    assert store.since(NOW - 4 * DAY).lake.reaches(NOW - 4 * DAY)
    found = list[Exception | None]()

    def same_question() -> None:
        STOP.set(stop)
        found.append(store.since(engine.stuck).error)

    waiting = threading.Thread(target=same_question)
    waiting.start()
    time.sleep(0.1)
    stop.set()
    waiting.join(5)
    assert [type(error) for error in found] == [SourceUnavailable]
    engine.let.set()
    hung.join(30)


def test_equal_concurrent_queries_are_read_once_and_share_one_lake() -> None:
    engine, store = week()
    engine.stuck = NOW - 6 * DAY
    before, lakes = engine.reads, list[Lake]()
    with at_once(*[lambda: lakes.append(store.since(engine.stuck).lake)] * 4):
        time.sleep(0.2)
        engine.let.set()
    assert len({id(each) for each in lakes}) == 1
    reads = engine.reads - before
    store.since(NOW - 6 * DAY - HOUR)
    assert 0 < reads <= engine.reads - before - reads
