"""How often tables are read: by reported scans, else by the runs of jobs, and what pages say of it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from advised_lake import AdvisedLake, evaluate
from limnograph.adapters.memory.query_engine import MemoryEngine
from limnograph.analysis.advice.facts import ReadLoad
from limnograph.domain.facts.events import ReportFact, RunFact, RunTable
from limnograph.domain.ids import TableName
from limnograph.domain.queries import MaintenanceQuery
from limnograph.domain.time import Micros
from limnograph.services.advice.loads import BY_RUNS, load_of, weekly_loads
from limnograph.wiring.server import ServerServices
from serving_kit import HOUR, NOW

ORDERS = TableName("lake", "sales", "orders")


def run(number: int, at: int, role: str = "reads", **table: str) -> RunFact:
    given = {"catalog": "lake", "namespace": "sales", "table": "orders", "role": role} | table
    return RunFact(
        run_id=str(number),
        status="ok",
        job_name="churn",
        started_at=Micros(at),
        ended_at=Micros(at + 60_000_000),
        at=Micros(at),
        observed_at=Micros(at),
        tables=[RunTable(**given)],
    )


def of_day(end: int) -> list[RunFact]:
    """Three reads, and runs that are none: a write, a read of a metadata table, one of another table, one too old."""
    return [
        *(run(number, end - number * HOUR) for number in (1, 2, 3)),
        run(4, end - HOUR, "writes"),
        run(5, end - HOUR, metadata_table="files"),
        run(6, end - HOUR, table="clicks"),
        run(7, end - 25 * HOUR),
    ]


@pytest.mark.parametrize(
    ("scans", "runs", "expected"),
    [
        (None, None, None),
        (None, 0, None),
        (12.0, 3, ReadLoad(12.0)),
        (None, 3, ReadLoad(3, basis="runs")),
    ],
)
def test_scans_take_precedence_and_are_never_added_to_runs(
    scans: float | None, runs: float | None, expected: ReadLoad | None
) -> None:
    assert load_of(scans, runs) == expected


def test_runs_of_a_week_count_once_each() -> None:
    engine = MemoryEngine()
    repeated = run(1, NOW - HOUR)
    engine.append([], [], [*of_day(NOW), repeated, run(9, NOW - 8 * 24 * HOUR)])
    loads = weekly_loads(engine, Micros(NOW))
    assert loads.of_table("unknown", ORDERS) == ReadLoad(4 / 7, basis="runs")
    assert loads.of_table("unknown", ORDERS._replace(table="none")) is None


@pytest.fixture
def world(tmp_path: Path) -> AdvisedLake:
    found = AdvisedLake(tmp_path)
    found.add("orders", 40)
    return found


def evaluated(world: AdvisedLake) -> ServerServices:
    made = world.start()
    made.runs.restore()
    made.read_log.catch_up()
    made.observers.recent.refresh()
    evaluate(made)
    return made


def notes(made: ServerServices) -> tuple[list[str], list[str]]:
    assert made.backend.maintenance is not None
    page = made.backend.maintenance
    return page.table(ORDERS).notes, page.page(MaintenanceQuery()).notes


def test_without_reported_scans_job_runs_are_counted_and_pages_say_so(world: AdvisedLake) -> None:
    world.engine.append([], [], of_day(world.clock.micros))
    made = evaluated(world)
    assert made.advisor is not None
    (advice,) = made.advisor.board.tables.values()
    assert advice.reads == ReadLoad(3, basis="runs")
    (answer,) = advice.advised.not_worth
    assert "by the job runs that read it" in answer.text
    assert notes(made) == ([BY_RUNS], ["1 tables have no reported scans: their reads are job runs, one scan each."])


def test_reported_scans_are_counted_alone(world: AdvisedLake) -> None:
    now = world.clock.micros
    scans = [
        ReportFact(event_id=str(n), at=Micros(now - n * HOUR), kind="scan", **ORDERS._asdict()) for n in range(1, 6)
    ]
    world.engine.append([], [], of_day(now), reports=scans)
    made = evaluated(world)
    assert made.advisor is not None
    (advice,) = made.advisor.board.tables.values()
    assert advice.reads == ReadLoad(5)
    assert notes(made) == ([], [])


def test_reads_are_unknown_until_the_runs_of_the_day_are_in_memory(world: AdvisedLake) -> None:
    made = world.start()
    asyncio.run(made.runs.accept(of_day(world.clock.micros)))
    evaluate(made)
    assert made.advisor is not None
    (advice,) = made.advisor.board.tables.values()
    assert advice.reads is None
