"""Readers of tables by the queries that engines reported: which count, and what is known of them; runs are better."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from forecast_world import forecasts, hours_of, roll, step
from limnograph.adapters.meta.schema import arrow_table
from limnograph.domain.facts.events import ReportFact, RunFact, RunTable
from limnograph.domain.facts.meta_tables import RUNS
from limnograph.domain.objectives import Objectives
from limnograph.domain.time import to_millis
from limnograph.services.housekeeping.forecast_readers import ForecastReaders
from limnograph.services.rollups.fold import DAY, HOUR
from upkeep_world import NOW, World

SECOND = 1_000_000
GIB = 2**30
QUERIES = 40


@pytest.fixture
def world() -> World:
    world = World()
    roll(world, hours_of("growing", NOW, 20, 5) + hours_of("other", NOW, 20, 5))
    return world


def query(number: int, table: str = "growing", **changes: Any) -> ReportFact:
    """One of a dashboard's queries, which runs every four hours and ends at the tenth second."""
    given: dict[str, Any] = {
        "event_id": f"{table}-{number}-{changes.get('job_name')}",
        "kind": "query",
        "at": NOW - number * 4 * HOUR - HOUR + 10 * SECOND,
        "catalog": "lake",
        "namespace": "sales",
        "table": table,
        "job_name": "dashboard",
        "query_id": f"q{number}",
        "outcome": "ok",
        "wall_seconds": 10.0,
        "read_bytes": GIB,
    }
    return ReportFact(**(given | changes))


def known(world: World) -> Any:
    return ForecastReaders(world.upkeep, Objectives()).known(NOW).readers


def test_queries_without_a_run_are_runs_of_their_source(world: World) -> None:
    world.reports(*(query(number) for number in range(QUERIES)))
    runs = known(world)["growing"].runs
    assert (runs.job, len(runs.times)) == ("dashboard", QUERIES)
    assert runs.times == sorted(runs.times)
    assert runs.times[-1] == to_millis(NOW - HOUR)  # its start
    assert set(runs.duration_seconds) == {10.0}
    step(world).run()
    row = forecasts(world, "reader_seconds_per_gib")["growing"]
    assert (row["job_name"], row["level"], row["threshold"]) == ("dashboard", 10.0, 15.0)


def test_a_query_read_the_bytes_of_all_its_tables_and_unknown_ones_stay_unknown(world: World) -> None:
    world.reports(*(query(number) for number in range(QUERIES)))
    world.reports(*(query(number, "other", read_bytes=None if number % 2 else GIB) for number in range(QUERIES)))
    runs = known(world)["growing"].runs
    assert set(runs.read_bytes) == {None, 2.0 * GIB}
    assert list(runs.read_bytes).count(None) == QUERIES // 2


def test_what_failed_or_has_no_source_duration_or_table_is_no_run_of_a_reader(world: World) -> None:
    wrong: list[dict[str, Any]] = [
        {"outcome": "failed"},
        {"job_name": None},
        {"job_name": ""},
        {"wall_seconds": None},
        {"catalog": None},
        {"run_id": "r"},
        {"kind": "scan"},
        {"at": NOW - 9 * DAY},
        {"at": NOW + HOUR},
    ]
    for place, changes in enumerate(wrong):
        world.reports(*(query(number, event_id=f"{place}-{number}", **changes) for number in range(QUERIES)))
    assert known(world) == {}


def test_a_job_that_reports_its_runs_is_preferred_however_many_queries_there_are(world: World) -> None:
    world.reports(*(query(number) for number in range(QUERIES)))
    read = [RunTable(catalog="lake", namespace="sales", table="growing", role="reads")]
    runs = [
        RunFact(
            run_id=f"r{number}",
            status="ok",
            job_name="churn",
            started_at=NOW - number * DAY - HOUR,
            ended_at=NOW - number * DAY,
            at=NOW - number * DAY,
            tables=read,
        )
        for number in range(9)
    ]
    world.store.append(RUNS, arrow_table(RUNS, runs), world.store.head(RUNS), "run")
    found = known(world)["growing"].runs
    assert (found.job, len(found.times)) == ("churn", 9)


def test_of_a_source_with_very_many_queries_an_even_part_is_looked_at(world: World) -> None:
    world.reports(*(query(number) for number in range(QUERIES)))
    readers = ForecastReaders(world.upkeep, Objectives(), most_queries=15)
    times = readers.known(NOW).readers["growing"].runs.times
    gaps = {second - first for first, second in pairwise(times)}
    assert (len(times), gaps) == (14, {3 * 4 * 3_600_000})
