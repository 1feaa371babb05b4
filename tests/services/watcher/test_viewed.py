"""Who looks at a table has it probed first, at most once in a few seconds."""

from __future__ import annotations

import asyncio
from collections.abc import Collection

import pytest

from limnograph.domain.errors import NotFound
from limnograph.domain.ids import TableName
from limnograph.domain.time import TimeRange
from limnograph.services.jobs.discovery import Jobs
from limnograph.services.timeline.timeline import TimelineService
from limnograph.services.watcher.viewed import AGAIN_S, MOST, ViewedTables
from serving_kit import HOUR, NOW, SECOND, FixedClock, lake, moved, parts, row

ORDERS, CARTS = TableName("lake", "sales", "orders"), TableName("lake", "sales", "carts")


class Watcher:
    def __init__(self) -> None:
        self.hurried: list[TableName] = []

    def wake(self, tables: Collection[TableName]) -> None:
        self.hurried += tables


def test_a_table_is_probed_early_at_the_first_view_and_again_after_a_while() -> None:
    watcher, clock = Watcher(), FixedClock()
    viewed = ViewedTables(watcher.wake, clock)
    for name in (ORDERS, CARTS, ORDERS):
        viewed(name)
    assert watcher.hurried == [ORDERS, CARTS]
    clock.micros += AGAIN_S * SECOND
    viewed(ORDERS)
    assert watcher.hurried == [ORDERS, CARTS, ORDERS]


def test_a_clock_that_was_set_back_probes_early_rather_than_waits() -> None:
    watcher, clock = Watcher(), FixedClock()
    viewed = ViewedTables(watcher.wake, clock)
    viewed(ORDERS)
    clock.micros -= HOUR
    viewed(ORDERS)
    assert watcher.hurried == [ORDERS, ORDERS]


def test_any_number_of_tables_may_be_viewed_and_a_bounded_number_is_remembered() -> None:
    watcher, clock = Watcher(), FixedClock()
    viewed = ViewedTables(watcher.wake, clock)
    for number in range(MOST + 1):
        viewed(TableName("lake", "sales", f"t{number}"))
    viewed(TableName("lake", "sales", f"t{MOST}"))
    assert len(watcher.hurried) == MOST + 1
    viewed(TableName("lake", "sales", "t0"))
    assert watcher.hurried[-1].table == "t0"


def test_a_timeline_counts_as_a_view_and_one_of_an_unknown_table_does_not() -> None:
    watcher, clock = Watcher(), FixedClock()
    made = parts(lake([row(1, NOW - HOUR)], [moved(1, NOW - HOUR)]))
    service = TimelineService(made.store, Jobs((), made.runs, None), clock, viewed=ViewedTables(watcher.wake, clock))
    span = TimeRange.parse((NOW - HOUR) // 1000, NOW // 1000, 60)
    asyncio.run(service.answer(ORDERS, span, ("data_files",), None, None))
    assert watcher.hurried == [ORDERS]
    with pytest.raises(NotFound):
        asyncio.run(service.answer(CARTS, span, ("data_files",), None, None))
    assert watcher.hurried == [ORDERS]
