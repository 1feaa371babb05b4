"""Reads in memory: those of the meta table and of the inbox, each once, of the last two days."""

from __future__ import annotations

from typing import Any

import msgspec

from limnograph.adapters.memory.inbox import MemoryInbox
from limnograph.adapters.memory.query_engine import MemoryEngine
from limnograph.domain.errors import SourceUnavailable
from limnograph.domain.facts.events import ReportFact
from limnograph.domain.ids import TableName
from limnograph.ports.inbox import InboxItem
from limnograph.services.reads.log import KIND, ReadLog
from limnograph.services.rollups.fold import DAY, HOUR
from serving_kit import FixedClock

ORDERS = TableName("lake", "sales", "orders")
NOW = 20_000 * DAY


def scan(event_id: str, at: int, **columns: Any) -> ReportFact:
    name = {"catalog": "lake", "namespace": "sales", "table": "orders", "kind": "scan"}
    return ReportFact(event_id=event_id, at=at, **(name | columns))


def put(inbox: MemoryInbox, fact: ReportFact, at: int) -> None:
    inbox.put([InboxItem(KIND, fact.event_id, msgspec.json.encode(fact), at)])


def ids(log: ReadLog, start: int = 0, end: int = NOW + DAY) -> list[str]:
    return sorted(log.of_table({ORDERS: 2**62}, start, end)["event_id"])


def test_reads_of_the_meta_table_and_of_the_inbox_are_held_once() -> None:
    inbox, engine = MemoryInbox(), MemoryEngine()
    engine.append([], [], reports=[scan("a", NOW - HOUR), scan("b", NOW - 3 * DAY), scan("c", NOW, kind="commit")])
    put(inbox, scan("a", NOW - HOUR), NOW - HOUR)
    put(inbox, scan("d", NOW - 1), NOW)
    log = ReadLog(inbox, engine, FixedClock(NOW))
    assert log.floor is None
    log.catch_up()
    assert (log.floor, ids(log)) == (NOW - 2 * DAY, ["a", "d"])
    put(inbox, scan("e", NOW - 2, table="other"), NOW + 5)
    put(inbox, scan("f", NOW - 3), NOW + 5)
    log.catch_up()
    assert ids(log) == ["a", "d", "f"]
    assert ids(log, NOW - 3, NOW - 1) == ["f"]


def test_without_the_meta_table_nothing_is_complete_until_it_responds() -> None:
    engine = MemoryEngine()
    engine.append([], [], reports=[scan("a", NOW - HOUR)])
    engine.failure = SourceUnavailable("meta", "down")
    log = ReadLog(MemoryInbox(), engine, FixedClock(NOW))
    log.catch_up()
    assert (log.floor, ids(log)) == (None, [])
    engine.failure = None
    log.catch_up()
    assert (log.floor, ids(log)) == (NOW - 2 * DAY, ["a"])


def test_beyond_the_limit_the_oldest_are_evicted_and_the_floor_rises() -> None:
    engine = MemoryEngine()
    engine.append([], [], reports=[scan(f"e{hour}", NOW - hour * HOUR) for hour in range(5)])
    log = ReadLog(MemoryInbox(), engine, FixedClock(NOW), most=3)
    log.catch_up()
    assert (ids(log), log.floor) == (["e0", "e1", "e2"], NOW - 2 * HOUR)
