"""Timelines of long ranges and of the period before: roll-ups, comparison, and a cold half that fails alone."""

import asyncio
import threading
from typing import Any

import msgspec
import pytest

from limnograph.adapters.embedded import frames
from limnograph.adapters.memory.metrics_source import MemoryMetrics
from limnograph.adapters.memory.query_engine import MemoryEngine
from limnograph.domain.answers.lane_specs import DEFAULT_LANES, LANES, SPEC_OF
from limnograph.domain.errors import InvalidInput, SourceUnavailable
from limnograph.domain.ids import TableName
from limnograph.domain.metrics.series import Series
from limnograph.domain.time import TimeRange
from limnograph.services.jobs.discovery import ConfiguredJob
from limnograph.services.rollups.fold import DAY, ROW_COLUMNS, Stamp, fold_days, roll_hours
from limnograph.services.rollups.marks import ROLLED_AT
from limnograph.services.rollups.step import moves_of
from limnograph.services.sources import page_metrics, templates
from limnograph.services.sources.cold_reads import ColdEngine
from limnograph.services.timeline.pending import selection
from serving_kit import HOUR, MINUTE, NOW, FixedClock, lake, moved, parts, row

NAME = TableName("lake", "sales", "orders")
COMMITS = {
    1: (NOW - 20 * DAY + 1, 10),
    2: (NOW - 9 * DAY + 1, 500),
    3: (NOW - 9 * DAY + 9, 20),
    4: (NOW - HOUR + 1, 30),
}


def engine(*, rolled: bool = True) -> MemoryEngine:
    rows = [row(i, at, files, observed_at=at, added_data_files=files) for i, (at, files) in COMMITS.items()]
    log = [moved(i, at, observed_at=at) for i, (at, _) in COMMITS.items()]
    made = lake(rows, log)
    if rolled:
        held = frames.frame("snapshots", rows).select(ROW_COLUMNS)
        moves = moves_of(frames.frame("changes", log).select("table_uuid", "from_value", "to_value", "at"))
        hours = roll_hours(held, moves, held, Stamp(1, 1, NOW))
        made.roll("snapshots_hourly", hours)
        made.roll("snapshots_daily", fold_days(hours, Stamp(1, 1, NOW)))
        made.describe("snapshots_hourly", {ROLLED_AT: str(NOW)})
    return made


def span(days: int, step: int) -> TimeRange:
    return TimeRange.parse((NOW - days * DAY) // 1000, NOW // 1000, step)


def ask(timelines: Any, asked: TimeRange, lanes: tuple[str, ...] = DEFAULT_LANES, cmp: int | None = None) -> Any:
    answer = asyncio.run(timelines.answer(NAME, asked, lanes, None, cmp))
    return msgspec.json.decode(msgspec.json.encode(answer))


def lane(answer: Any, name: str) -> Any:
    return next(one for one in answer["lanes"] if one["id"] == name)


@pytest.mark.parametrize(("days", "step", "resolution"), [(10, 3_600, "hour"), (15, 86_400, "day"), (10, 900, "raw")])
def test_a_lane_names_its_tier_and_every_tier_shows_the_spike(days, step, resolution) -> None:
    found = lane(ask(parts(engine()).backend.timelines, span(days, step)), "data_files")
    assert found["resolution"] == resolution
    known = [value for value in found["v"] if value is not None]
    assert (known[0], known[-1]) == (10, 20)
    assert max(value for value in found["max"] if value is not None) == 500


@pytest.mark.parametrize(("days", "step"), [(10, 3_600), (15, 86_400)])
def test_a_lane_from_rollups_has_its_declared_kind_and_unit(days, step) -> None:
    for found in ask(parts(engine()).backend.timelines, span(days, step), LANES)["lanes"]:
        spec = SPEC_OF[found["id"]]
        assert (found["kind"], found["unit"], found["source"]) == (spec.kind, spec.unit, spec.source), spec.id


def test_without_rollups_raw_rows_serve_a_long_range() -> None:
    found = lane(ask(parts(engine(rolled=False)).backend.timelines, span(10, 3_600)), "data_files")
    assert found["resolution"] == "raw"
    assert max(value for value in found["max"] if value is not None) == 500


def test_a_mark_represents_several_commits_in_a_long_range_and_one_in_a_short_range() -> None:
    events = lane(ask(parts(engine()).backend.timelines, span(10, 3_600)), "commits")["events"]
    assert [(event["commits"], event["added_data_files"]) for event in events] == [(2, 520), (1, 30)]


def test_the_previous_period_has_the_same_lanes_on_the_same_axis() -> None:
    asked = TimeRange.parse((NOW - 6 * HOUR) // 1000, NOW // 1000, 60)
    times = list(range(asked.start - 9 * 86_400_000, asked.end, 60_000))
    reader = {**templates.table_matchers(NAME), "role": "reads", "job_name": "churn", "__name__": templates.DURATION}
    days = TimeRange(asked.start - 9 * 86_400_000, asked.end - 9 * 86_400_000, asked.step_s)
    labels, also = templates.table_matchers(NAME), (selection(NAME),)
    texts = [page_metrics.question(labels, one, one.end, 15, also).promql for one in (asked, days)]
    source = MemoryMetrics("main", {text: [Series(reader, times, [7.0] * len(times))] for text in texts})
    job = ConfiguredJob(name="churn", reads=("lake.sales.*",))
    timelines = parts(engine(), source, configured=(job,)).backend.timelines
    found = ask(timelines, asked, cmp=9 * 86_400 - 30)
    assert found["cmp"]["seconds"] == 9 * 86_400
    assert [one["id"] for one in found["cmp"]["lanes"]] == [one["id"] for one in found["lanes"]]
    before = lane(found["cmp"], "data_files")["v"]
    assert len(before) == len(found["t"])
    assert (before[0], before[-1], lane(found, "data_files")["v"][0]) == (10, 10, 20)
    assert set(lane(found["cmp"], "job_duration")["mid"]) == {7.0}
    later = ask(timelines, asked, cmp=9 * 86_400 - 3_600)
    assert [event["snapshot_id"] for event in lane(later["cmp"], "commits")["events"]] == ["2", "3"]


@pytest.mark.parametrize("seconds", [0, -5, 732 * 86_400])
def test_an_impossible_comparison_is_refused(seconds) -> None:
    with pytest.raises(InvalidInput, match="cmp"):
        ask(parts(engine()).backend.timelines, span(1, 60), cmp=seconds)


def test_without_a_comparison_there_is_none() -> None:
    assert ask(parts(engine()).backend.timelines, span(1, 60))["cmp"] is None


class Hanging(MemoryEngine):
    """Answers nothing until it is let go, once it is told to hang."""

    def __init__(self) -> None:
        super().__init__()
        self.hangs = False
        self.go = threading.Event()

    def properties(self, table: Any) -> Any:
        if self.hangs:
            self.go.wait(30)
        return super().properties(table)


def test_a_hanging_cold_read_leaves_hot_data_with_the_reason() -> None:
    held = Hanging()
    held.append([row(i, at, files, observed_at=at) for i, (at, files) in COMMITS.items()], [])
    made = parts(held, cold_within_s=0.2)
    held.hangs = True
    found = lane(ask(made.backend.timelines, span(10, 3_600)), "data_files")
    held.go.set()
    assert (found["status"], found["problem"]["type"]) == ("partial", "source-timeout")
    assert 20 in found["v"]


def test_old_rows_come_from_the_second_engine_while_the_first_fails() -> None:
    first, second = engine(), engine()
    first.failure = SourceUnavailable("trino", "away")
    cold = ColdEngine(first, second, FixedClock())
    made = parts(second, cold=cold)
    found = lane(ask(made.backend.timelines, span(10, 3_600)), "data_files")
    assert (found["status"], found["resolution"]) == ("ok", "hour")
    source = next(s for s in asyncio.run(made.backend.status.status()).sources if s.kind == "trino")
    assert (source.status, source.breaker) == ("error", "open")
    assert "away" in (source.detail or "")


def test_a_hot_page_does_not_query_the_cold_engine() -> None:
    first, second = engine(), engine()
    first.failure = SourceUnavailable("trino", "away")
    cold = ColdEngine(first, second, FixedClock())
    made = parts(second, cold=cold, evaluated=False)
    assert lane(ask(made.backend.timelines, span(1, 60)), "data_files")["status"] == "ok"
    assert cold.error is None
    assert lane(ask(made.backend.timelines, TimeRange.parse((NOW - 30 * MINUTE) // 1000, NOW // 1000, 15)), "commits")


class Endless(MemoryMetrics):
    """A source that never answers; counts the questions that ended before."""

    def __init__(self) -> None:
        super().__init__("main", {})
        self.asked, self.ended, self.begun = 0, 0, asyncio.Event()

    async def range(self, query: Any) -> Any:
        self.asked += 1
        self.begun.set()
        try:
            await asyncio.sleep(60)
        finally:
            self.ended += 1


def test_when_the_client_of_a_page_disconnects_its_queries_are_cancelled_upstream() -> None:
    async def run() -> None:
        source = Endless()
        made = parts(engine(), source)
        reading = asyncio.create_task(made.backend.timelines.answer(NAME, span(1, 60), DEFAULT_LANES, None, None))
        await source.begun.wait()
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        await asyncio.sleep(0.01)
        assert source.ended == source.asked >= 1

    asyncio.run(run())
