"""Lanes of attempts and of stream lag: what was reported, and gaps where nothing was."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest

from contended_table import client, refused, spark, table
from limnograph.adapters.memory.metrics_source import MemoryMetrics
from limnograph.adapters.memory.query_engine import MemoryEngine
from limnograph.domain.errors import SourceTimeout, SourceUnavailable
from limnograph.domain.ids import TableName
from limnograph.domain.metrics.series import Matrix, RangeQuery, Series
from limnograph.domain.time import TimeRange
from limnograph.services.rollups.fold import DAY
from limnograph.services.sources import templates
from serving_kit import HOUR, NOW, lake, moved, parts, row

NAME = TableName("lake", "sales", "orders")
START = NOW - NOW % HOUR - 4 * HOUR
SPAN = TimeRange(START // 1000, (START + 4 * HOUR) // 1000, 3600)


def lane(engine: MemoryEngine, name: str, source: Any = None, span: TimeRange = SPAN, *, broken: bool = False) -> Any:
    made = parts(engine, source)
    made.read_log.catch_up()
    if broken:
        engine.failure = SourceUnavailable("meta", "down")
    answer = asyncio.run(made.backend.timelines.answer(NAME, span, ("data_files", name), None, None))
    return msgspec.json.decode(msgspec.json.encode(answer.lanes[1]))


def test_retries_and_refused_commits_of_an_hour_are_added_up() -> None:
    facts = [client("a", START + 5, 4, 3, 2.0), refused("b", START + 6), client("c", START + HOUR, 3, 1, 2.0)]
    found = lane(table(*facts), "attempts")
    assert (found["status"], found["unit"], found["resolution"]) == ("ok", "attempts", "raw")
    assert found["v"] == [3, 0, None, None]


def test_commits_whose_attempts_are_not_known_are_a_gap_and_not_zero() -> None:
    found = lane(table(spark("a", START + 5, "etl", operation="append")), "attempts")
    assert (found["status"], found["v"]) == ("absent", [None] * 4)


def test_a_range_that_the_meta_tables_cannot_answer_is_an_error_of_the_lane() -> None:
    span = TimeRange((NOW - 5 * DAY) // 1000, NOW // 1000, 3600)
    made = lane(table(), "attempts", span=span, broken=True)
    assert (made["status"], set(made["v"])) == ("error", {None})


def streams(*series: tuple[str, str, float]) -> MemoryMetrics:
    times = list(range(SPAN.start, SPAN.end, 3_600_000))
    found = [
        Series({templates.STAT: stat, "query_name": query}, times, [value] * len(times))
        for stat, query, value in series
    ]
    return MemoryMetrics("main", {templates.stream_lag(NAME, 3600): found})


def bare() -> MemoryEngine:
    return lake([row(1, NOW - 9 * HOUR)], [moved(1, NOW - 9 * HOUR)])


def test_the_lag_is_that_of_the_slowest_stream() -> None:
    second = SPAN.start / 1000
    source = streams(("lag", "orders", 4.0), ("lag", "events", 9.0), ("progress", "orders", second - 2))
    found = lane(bare(), "stream_lag", source)
    assert (found["status"], found["unit"], found["source"]) == ("ok", "seconds", "prometheus")
    assert found["v"][0] == 9.0
    assert found["v"][1] == pytest.approx(3_602.0), "no progress for an hour"
    assert 'table="orders"' in found["query"]["promql"]


def test_without_a_measured_stream_the_lane_is_absent() -> None:
    for source in (None, MemoryMetrics("main", {})):
        found = lane(bare(), "stream_lag", source)
        assert (found["status"], found["v"]) == ("absent", [None] * 4)


def test_a_failed_query_is_an_error_of_the_lane_alone() -> None:
    class Broken(MemoryMetrics):
        async def range(self, query: RangeQuery) -> Matrix:
            raise SourceTimeout(self.name, "no complete response within 5 s")

    found = lane(bare(), "stream_lag", Broken("main", {}))
    assert (found["status"], found["problem"]["type"], found["v"]) == ("error", "source-timeout", [None] * 4)
