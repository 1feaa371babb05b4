"""Lanes of long ranges: what roll-ups say is what raw rows say at the same step, whatever came late."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from limnograph.adapters.embedded import frames
from limnograph.adapters.memory.query_engine import MemoryEngine
from limnograph.domain.answers.lane_specs import LANE_SPECS
from limnograph.domain.answers.timeline import CommitEvent
from limnograph.domain.facts.housekeeping import STATES
from limnograph.domain.time import MAX_POINTS, TimeRange
from limnograph.services.rollups.fold import DAY, HOUR, ROW_COLUMNS, Stamp, fold_days, roll_hours
from limnograph.services.rollups.marks import RAW_FLOOR, ROLLED_AT
from limnograph.services.rollups.step import moves_of
from limnograph.services.timeline import lanes
from limnograph.services.timeline import long_range as tier_lanes
from limnograph.services.timeline.lanes import MetaState
from limnograph.services.timeline.tier_reader import TierReader, unit_of
from serving_kit import MINUTE, NOW, UUID, lake, moved, parts, row

DAYS = 12
FLOOR = NOW - 48 * HOUR
ROLLED = NOW - 10 * MINUTE
STATE = MetaState("ok", 0.0, None, NOW)
ROLLED_LANES = tuple(spec.id for spec in LANE_SPECS if spec.column in STATES)
Fact = tuple[int, int | None, int | None, bool, bool]
"""Minute before NOW, files, which earlier commit main goes back to, whether it moves main, whether it came late."""


def facts() -> st.SearchStrategy[list[Fact]]:
    one = st.tuples(
        st.integers(1, DAYS * 1_440 - 1),
        st.none() | st.integers(0, 500),
        st.none() | st.integers(0, 5),
        st.booleans(),
        st.integers(0, 9).map(lambda n: n == 0),
    )
    return st.lists(one, max_size=40, unique_by=lambda fact: fact[0])


def written(chosen: list[Fact], *, gone: int | None = None) -> tuple[MemoryEngine, MemoryEngine]:
    """An engine with raw rows alone, and one with roll-ups of all that did not come late. `gone`: raw rows before that
    instant are gone from the second.
    """
    rows, log, timely = [], [], []
    for number, (minute, files, back, main, late) in enumerate(sorted(chosen, reverse=True), start=1):
        at = NOW - minute * MINUTE + 17
        observed = max(at, ROLLED + MINUTE) if late else at
        numbers = {"total_bytes": None if files is None else files * 7, "added_data_files": files, "manifests": number}
        numbers["skew_max_over_median"] = None if files is None else 1 + files / 7
        rows.append(row(number, at, files, on_main=main, observed_at=observed, **numbers))
        if main:
            log.append(moved(number, at, observed_at=observed))
        if back is not None and back < number - 1:
            log.append(moved(number - 1 - back, at + 5, observed_at=observed))
        timely += [] if late else [number]
    raw = lake(rows, log)
    engine = lake([r for r in rows if gone is None or (r.committed_at or 0) >= gone], log)
    kept = [r for r in rows if r.snapshot_id in timely and (r.observed_at or 0) <= ROLLED]
    moves = [m for m in log if (m.observed_at or 0) <= ROLLED]
    hours = rolled(kept, moves)
    engine.roll("snapshots_hourly", hours)
    engine.roll("snapshots_daily", fold_days(hours, Stamp(1, 1, ROLLED)))
    engine.describe("snapshots_hourly", {ROLLED_AT: str(ROLLED)})
    return raw, engine


def rolled(rows: list[Any], log: list[Any]) -> pl.DataFrame:
    held = frames.frame("snapshots", rows).select(ROW_COLUMNS)
    moves = moves_of(frames.frame("changes", log).select("table_uuid", "from_value", "to_value", "at"))
    return roll_hours(held, moves, held, Stamp(1, 1, ROLLED))


class Drawn:
    """Lanes of the same facts from raw rows alone, and as a long range has them."""

    def __init__(self, chosen: list[Fact], step: int) -> None:
        raw, engine = written(chosen)
        self.span = TimeRange.parse((NOW - 10 * DAY) // 1000, NOW // 1000, step)
        self.whole = parts(raw, evaluated=False).store.since(0, (UUID,)).lake.histories[UUID]
        hot = parts(engine, evaluated=False).store
        found = TierReader(engine, 400).read(UUID, self.span, FLOOR, NOW)
        assert found is not None
        self.found = found
        self.recent = hot.since(found.edge, (UUID,)).lake.histories[UUID]

    def lane(self, name: str) -> tuple[Any, Any]:
        long = tier_lanes.draw(name, self.found, self.recent, self.span, STATE)
        return lanes.draw(name, self.whole, self.span, STATE), long


def drawn(chosen: list[Fact], lane: str, step: int) -> tuple[Any, Any]:
    return Drawn(chosen, step).lane(lane)


def extremes(lane: Any) -> tuple[list[float | None], list[float | None]]:
    return (lane.min or lane.v), (lane.max or lane.v)


@given(facts(), st.sampled_from(ROLLED_LANES), st.sampled_from([3_600, 7_200, 14_400, 86_400]))
@settings(max_examples=60, deadline=None)
def test_a_lane_from_rollups_is_the_lane_from_raw_rows_at_the_same_step(chosen, lane, step) -> None:
    chosen = [*chosen, (DAYS * 1_440, 3, None, True, False)]
    raw, long = drawn(chosen, lane, step)
    assert long.resolution == ("day" if step == 86_400 else "hour")
    assert long.v == raw.v
    assert extremes(long) == extremes(raw)


@given(facts(), st.sampled_from([3_600, 14_400, 86_400]))
@settings(max_examples=60, deadline=None)
def test_commits_are_counted_once_and_the_age_is_within_its_bounds(chosen, step) -> None:
    chosen = [*chosen, (DAYS * 1_440, 3, None, True, False)]
    both = Drawn(chosen, step)
    raw, long = both.lane("commits")
    assert sum(event.commits for event in long.events) == len(raw.events)
    assert sum(e.added_data_files or 0 for e in long.events) == sum(e.added_data_files or 0 for e in raw.events)
    assert [event.t for event in long.events] == sorted(event.t for event in long.events)
    raw, long = both.lane("freshness")
    for exact, least, most in zip(raw.v, long.min, long.max, strict=True):
        assert (exact is None) == (least is None)
        assert exact is None or least <= exact <= most


def test_a_spike_of_a_minute_shows_in_a_step_of_a_day() -> None:
    chosen = [(9 * 1_440, 10, None, True, False), (5 * 1_440 + 700, 90_000, None, True, False)]
    chosen += [(5 * 1_440 + 699, 11, None, True, False)]
    _, long = drawn(chosen, "data_files", 86_400)
    assert 90_000 not in long.v
    assert max(value for value in long.max if value is not None) == 90_000


def test_without_raw_rows_rollups_serve_shorter_steps_too() -> None:
    chosen = [(DAYS * 1_440, 5, None, True, False), (5 * 1_440 + 90, 8, None, True, False), (5, 9, None, True, False)]
    raw, engine = written(chosen, gone=NOW - 3 * DAY)
    engine.describe("snapshots", {RAW_FLOOR: "2026-11-18"})
    span = TimeRange.parse((NOW - 6 * DAY) // 1000, (NOW - 4 * DAY) // 1000, 600)
    found = TierReader(engine, 400).read(UUID, span, FLOOR, NOW)
    assert found is not None
    recent = parts(engine).store.since(found.edge, (UUID,)).lake.histories[UUID]
    long = tier_lanes.draw("data_files", found, recent, span, STATE)
    assert (long.v[0], long.v[-1], max(long.max)) == (5, 8, 8)
    whole = parts(raw).store.since(0, (UUID,)).lake.histories[UUID]
    exact = lanes.draw("data_files", whole, span, STATE)
    assert all(low <= value <= high for low, value, high in zip(long.min, exact.v, long.max, strict=True))


def test_raw_rows_serve_short_steps_and_times_before_the_first_rollup() -> None:
    span = TimeRange.parse((NOW - 10 * DAY) // 1000, NOW // 1000, 3_600)
    assert TierReader(lake([row(1, NOW - 5 * DAY)]), 400).read(UUID, span, FLOOR, NOW) is None
    _, engine = written([(5 * 1_440, 1, None, True, False)])
    assert TierReader(engine, 400).read(UUID, span._replace(step_s=600), FLOOR, NOW) is None
    assert TierReader(engine, 400).read(UUID, span._replace(start=FLOOR // 1000), FLOOR, NOW) is None


@pytest.mark.parametrize(
    ("days", "step", "raw_from", "unit"),
    [
        (30, 3_600, None, "hour"),
        (30, 86_400, None, "day"),
        (10, 1_800, None, "raw"),
        (40, 1_800, 30, "hour"),
        (500, 43_200, 30, "day"),
    ],
)
def test_the_tier_follows_step_and_range(days, step, raw_from, unit) -> None:
    span = TimeRange((NOW - days * DAY) // 1000, NOW // 1000, step)
    floor = None if raw_from is None else NOW - raw_from * DAY
    assert unit_of(span, floor, NOW - 400 * DAY) == unit


def test_more_commits_than_points_are_one_mark_per_step() -> None:
    span = TimeRange.parse((NOW - 10 * HOUR) // 1000, NOW // 1000, 60)
    events = [
        CommitEvent(
            snapshot_id=str(i),
            t=span.start + i * 10_000,
            operation="append",
            added_data_files=i if i % 2 else None,
            removed_data_files=None,
            added_delete_files=0,
            added_bytes=1,
            on_main=True,
            app_id=None,
            engine=None,
            status="ok",
        )
        for i in range(3_600)
    ]
    marks = tier_lanes.thinned(events, span)
    assert len(marks) == 600 <= MAX_POINTS
    assert (sum(mark.commits for mark in marks), sum(mark.added_bytes or 0 for mark in marks)) == (3_600, 3_600)
    assert marks[0].snapshot_id == "5"
    assert {mark.removed_data_files for mark in marks} == {None}
    assert tier_lanes.thinned(events[:2_000], span) == events[:2_000]
