"""The forecast step: who is forecast, what is kept, when a warning begins and ends, and what comes of it."""

from __future__ import annotations

import pyarrow as pa
import pytest

from forecast_world import Compacts, LocalForecasting, forecasts, hours_of, roll, step
from limnograph.adapters.meta.schema import arrow_schema, arrow_table
from limnograph.domain.facts.events import RunFact, RunTable
from limnograph.domain.facts.forecasts import FORECAST_KEY
from limnograph.domain.facts.meta_tables import FORECASTS, HOURLY, RUNS, MetaTable
from limnograph.domain.failpoints import FailpointReached, Failpoints, around
from limnograph.domain.objectives import Objective, Objectives
from limnograph.services.rollups.fold import DAY, HOUR
from upkeep_world import NOW, World


def daily(ago: int) -> bool:
    return ago % 24 == 0


def world_of_two() -> World:
    """`growing` has 2,400 small files and 120 more a day; `compacted` gets ten times as many, and is compacted."""
    world = World()
    roll(world, hours_of("growing", NOW, 20, 5) + hours_of("compacted", NOW, 20, 50, daily))
    return world


def a_day(world: World, day: int, compacts: Compacts = lambda _ago: False, begin: int = 2_400) -> None:
    """Another day of both tables."""
    world.clock.micros += DAY
    roll(world, hours_of("growing", NOW + day * DAY, 1, 5, compacts, begin=begin))
    roll(world, hours_of("compacted", NOW + day * DAY, 1, 50, daily, begin=1_200))


def test_the_table_that_only_grows_is_at_risk_and_its_look_alike_is_not() -> None:
    world = world_of_two()
    assert step(world).behind()
    done = step(world).run()
    assert (done.tables, done.failed, done.judged) == (2, 0, 0)
    found = forecasts(world)
    assert found["growing"]["p_cross"] >= 0.5 > 0.3 > found["compacted"]["p_cross"]
    assert (found["growing"]["alert"], found["compacted"]["alert"]) == (True, False)
    row = found["growing"]
    assert (row["catalog"], row["namespace"], row["table"]) == ("lake", "sales", "growing")
    assert (row["threshold"], row["as_of"], row["made_at"]) == (3_000.0, NOW // HOUR * HOUR, world.clock.micros)
    assert row["p10"] <= row["p50"] <= row["p90"]
    assert forecasts(world, "total_bytes")["growing"]["threshold"] is None


def test_a_pass_is_repeated_without_a_second_row_and_without_another_statement() -> None:
    world = world_of_two()
    step(world).run()
    before = world.read(FORECASTS)
    late = hours_of("growing", NOW, 1, 5, begin=90_000)[-3:]
    roll(world, [row | {"rolled_at": NOW + 1} for row in late])  # late facts change hours before the cut-off
    assert step(world).run().rows == 0
    assert world.read(FORECASTS) == before


@pytest.mark.parametrize("name", around(("append_forecasts",)))
def test_a_pass_that_dies_around_its_append_writes_each_row_once(name: str) -> None:
    world, other = world_of_two(), world_of_two()
    with pytest.raises(FailpointReached):
        step(world, failpoints=Failpoints(f"{name}:1:raise")).run()
    for each in (world, other):
        step(each).run()
    died, lived = ([row | {"made_at": None} for row in each.read(FORECASTS)] for each in (world, other))
    assert sorted(died, key=repr) == sorted(lived, key=repr)


def test_rows_after_the_cut_off_are_not_read() -> None:
    world, other = world_of_two(), world_of_two()
    future = hours_of("growing", NOW + 2 * DAY, 2, 5, begin=1_000_000)
    head = other.store.head(HOURLY)
    other.store.append(HOURLY, pa.Table.from_pylist(future, schema=arrow_schema(HOURLY)), head, "later")
    for each in (world, other):
        step(each).run()
    assert forecasts(world) == forecasts(other)


def test_only_tables_that_moved_are_forecast_again() -> None:
    world = world_of_two()
    step(world).run()
    world.clock.micros += DAY
    roll(world, hours_of("growing", NOW + DAY, 1, 5, begin=2_400))
    runner = LocalForecasting(world)
    step(world, runner).run()
    assert runner.seen[0].moved == {"growing"}
    assert runner.seen[0].pending.keys() == {"growing", "compacted"}  # their day has passed
    found = forecasts(world)
    assert found["growing"]["as_of"] - found["compacted"]["as_of"] == DAY


def test_a_table_with_a_warning_is_forecast_again_although_no_commit_came() -> None:
    world = world_of_two()
    step(world).run()
    world.clock.micros += HOUR
    runner = LocalForecasting(world)
    step(world, runner).run()
    assert runner.seen[0].moved == {"growing"}
    assert forecasts(world)["growing"]["as_of"] == world.clock.micros // HOUR * HOUR


def test_a_warning_goes_on_until_its_probability_has_fallen_well_below_its_begin() -> None:
    world = world_of_two()
    step(world).run()
    began = forecasts(world)["growing"]
    assert (began["alert"], began["warned_at"]) == (True, began["as_of"])
    a_day(world, 1, lambda ago: ago == 20)
    step(world).run()
    later = forecasts(world)["growing"]
    assert later["as_of"] == began["as_of"] + DAY
    assert later["warned_at"] == (began["as_of"] if later["p_cross"] >= 0.3 else None)
    assert later["alert"] is (later["p_cross"] >= 0.3)


def test_outcomes_are_filled_in_once_the_horizon_has_passed() -> None:
    world = world_of_two()
    step(world).run()
    level = forecasts(world)["growing"]["level"]
    for day in range(1, 8):
        a_day(world, day, begin=2_400 + (day - 1) * 120)
    done = step(world).run()
    assert done.judged > 0
    rows = {
        row["table_uuid"]: row
        for row in world.read(FORECASTS)
        if (row["metric"], row["hours"], row["as_of"]) == ("small_files", 168, NOW // HOUR * HOUR)
    }
    growing, compacted = rows["growing"], rows["compacted"]
    assert growing["crossed"] is True
    assert growing["as_of"] < growing["crossed_at"] <= growing["as_of"] + 7 * DAY
    assert growing["level_at_horizon"] > 3_000 > level
    assert growing["maintained"] is False
    assert (compacted["crossed"], compacted["crossed_at"]) == (False, None)
    assert growing["judged_at"] == world.clock.micros
    assert step(world).run().judged == 0


def test_maintenance_after_a_warning_is_seen_and_routine_is_not() -> None:
    world = world_of_two()
    step(world).run()
    for day in range(1, 8):
        a_day(world, day, lambda ago, day=day: day == 1 and ago == 12, begin=2_400 if day == 1 else 120 * day)
    step(world).run()
    rows = {
        row["table_uuid"]: row["maintained"]
        for row in world.read(FORECASTS)
        if (row["metric"], row["hours"], row["as_of"]) == ("small_files", 168, NOW // HOUR * HOUR)
    }
    assert rows == {"growing": True, "compacted": False}


def test_a_table_whose_rows_are_broken_stops_no_other() -> None:
    world = world_of_two()
    roll(world, hours_of("broken", NOW, 3, 5))

    class Fragile(LocalForecasting):
        def run(self, request, model):  # type: ignore[no-untyped-def]
            return super().run(request, _FailsFor(model, "broken"))

    done = step(world, Fragile(world)).run()
    assert done.failed == 1
    assert {"growing", "compacted"} == set(forecasts(world))


class _FailsFor:
    """A forecaster that cannot forecast one table."""

    def __init__(self, model: object, uuid: str) -> None:
        self.model, self.uuid, self.name = model, uuid, "fragile"

    def forecast(self, cases, load=None):  # type: ignore[no-untyped-def]
        if any(case.id == self.uuid for case in cases):
            raise ZeroDivisionError("a surprise")
        return self.model.forecast(cases, load)  # type: ignore[attr-defined]


class _Death(Exception):
    """The process is killed."""


@pytest.mark.parametrize("when", ["before_append", "after_append"])
def test_a_pass_that_was_killed_is_continued_without_a_second_row(when: str) -> None:
    world, whole = world_of_two(), world_of_two()
    step(whole).run()

    def kill(table: MetaTable) -> None:
        if table is FORECASTS:
            raise _Death

    setattr(world.store, when, kill)
    with pytest.raises(_Death):
        step(world, tables_at_once=1).run()
    setattr(world.store, when, lambda _table: None)
    runner = LocalForecasting(world)
    step(world, runner).run()
    assert runner.seen[0].moved == ({"growing", "compacted"} if when == "before_append" else {"growing"})
    keys, expected = (
        [tuple(row[name] for name in FORECAST_KEY) for row in each.read(FORECASTS)] for each in (world, whole)
    )
    assert sorted(keys) == sorted(expected)
    assert len(keys) == len(set(keys))


@pytest.mark.parametrize("at_once", [1, 100])
def test_tables_are_written_in_parts(at_once: int) -> None:
    world = world_of_two()
    runner = LocalForecasting(world, batch=7)
    step(world, runner, tables_at_once=at_once).run()
    assert len(runner.seen) == (2 if at_once == 1 else 1)
    assert set(forecasts(world)) == {"growing", "compacted"}


def test_forecasts_are_kept_for_ninety_days() -> None:
    world = world_of_two()
    step(world).run()
    world.clock.micros += 92 * DAY
    step(world).run()
    assert world.read(FORECASTS) == []


def test_a_reader_is_judged_per_byte_and_by_its_promised_duration() -> None:
    world = world_of_two()
    read = RunTable(catalog="lake", namespace="sales", table="growing", role="reads")
    runs = [
        RunFact(
            run_id=f"r{number}",
            status="ok",
            job_name="churn",
            at=NOW - number * 6 * HOUR,
            started_at=NOW - number * 6 * HOUR,
            ended_at=NOW - number * 6 * HOUR + 60_000_000,
            tables=[read],
            read_bytes=2**30,
        )
        for number in range(1, 60)
    ]
    world.store.append(RUNS, arrow_table(RUNS, runs), world.store.head(RUNS), "r")
    step(world, objectives=Objectives([Objective("lake.**", duration_s=90)])).run()
    per_gib, seconds = (forecasts(world, f"reader_seconds{end}")["growing"] for end in ("_per_gib", ""))
    assert (per_gib["job_name"], per_gib["level"], per_gib["threshold"]) == ("churn", 60.0, 90.0)
    assert (seconds["level"], seconds["threshold"]) == (60.0, 90.0)
    assert "reader_seconds" not in {row["metric"] for row in world.read(FORECASTS) if row["table_uuid"] == "compacted"}


def test_skew_is_forecast_where_it_can_matter() -> None:
    """A partition that outgrows the others by 0.4 a day, in tables of 12 and of 5 partitions and in a small one."""
    world = World()
    for name, partitions, size in (("many", 12, 2**40), ("few", 5, 2**40), ("small", 12, 2**20)):
        rows = hours_of(name, NOW, 20, 0)
        skew = ({"skew_max_over_median_last": 1 + hour / 60} for hour in range(len(rows)))
        state = {"partitions_total_last": partitions, "total_bytes_last": size}
        roll(world, [row | state | each for row, each in zip(rows, skew, strict=True)])
    step(world).run()
    found = forecasts(world, "skew_max_over_median")
    assert found.keys() == {"many"}
    assert found["many"]["p_cross"] >= 0.5
    assert (found["many"]["threshold"], found["many"]["alert"]) == (10.0, True)
    assert found["many"]["p_cross_if_maintained"] == found["many"]["p_cross"]  # no rewrite makes partitions equal
