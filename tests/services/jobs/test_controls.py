"""Other jobs as controls of an explanation: pushed runs and metrics, bounded, and none that touches the tables."""

from __future__ import annotations

import asyncio
from typing import Any

from limnograph.adapters.memory.metrics_source import MemoryMetrics
from limnograph.domain.errors import SourceUnavailable
from limnograph.domain.facts.events import RunFact, RunTable
from limnograph.domain.ids import TableName
from limnograph.domain.metrics.series import Matrix, RangeQuery, Series
from limnograph.services.jobs.controls import MOST_CONTROLS, Controls, controls, told_of
from limnograph.services.sources import page_metrics, templates
from limnograph.services.sources.metrics import Metrics
from serving_kit import HOUR, MINUTE, NOW, FixedClock

END = NOW // 1000
START = END - 6 * HOUR // 1000
STEP = page_metrics.runs_step(START, END)
ORDERS, CARTS = TableName("lake", "sales", "orders"), TableName("lake", "sales", "carts")
READ = frozenset({ORDERS})


def use(job: str, table: TableName = CARTS, runs: float = 70.0) -> Series:
    return Series({"job_name": job, **templates.table_matchers(table)}, [END], [runs])


def measured(job: str, count: int = 70) -> list[Series]:
    """A run of a minute every five."""
    times = [START + n * 5 * MINUTE // 1000 for n in range(count)]
    label = {"job_name": job}
    finished = Series({**label, templates.STAT: "finished"}, times, [at / 1000 for at in times])
    return [finished, Series({**label, templates.STAT: "duration"}, times, [60.0] * count)]


def asked(uses: list[Series], names: list[str], told: list[RunFact] | None = None, **given: Any) -> Controls:
    series = [each for name in names for each in measured(name)]
    step = STEP
    answers = {
        templates.uses((END - START) // 1000): uses,
        templates.runs_of_jobs(names, step): series,
    }
    source = MemoryMetrics("main", answers, **given)
    known = told_of(told or [], "churn", READ)
    return asyncio.run(controls(known, Metrics(source, FixedClock()), READ, START, END))


def pushed(job: str, count: int, table: TableName = CARTS, seconds: int = 30) -> list[RunFact]:
    on = RunTable(catalog=table.catalog, namespace=table.namespace, table=table.table, role="reads")
    starts = [NOW - 6 * HOUR + n * 5 * MINUTE for n in range(count)]
    return [
        RunFact(
            run_id=f"{job}{at}", status="ok", job_name=job, started_at=at, ended_at=at + seconds * 10**6, tables=[on]
        )
        for at in starts
    ]


def test_jobs_known_from_metrics_are_controls_unless_they_touch_a_table_or_did_not_run() -> None:
    uses = [use("other"), use("idle", runs=0.0), use("reader", ORDERS), use("reader", CARTS), use("churn")]
    found = asked(uses, ["other"])
    assert [each.id for each in found.series] == ["other"]
    assert found.series[0].duration_seconds[0] == 60
    assert found.problem is None


def test_a_job_with_few_runs_in_the_range_is_no_control() -> None:
    answers = {
        templates.uses((END - START) // 1000): [use("often", runs=9.0), use("rare", runs=2.0)],
        templates.runs_of_jobs(["often", "rare"], STEP): [*measured("often"), *measured("rare", count=8)],
    }
    source = Metrics(MemoryMetrics("main", answers), FixedClock())
    found = asyncio.run(controls(told_of([], "churn", READ), source, READ, START, END))
    assert [each.id for each in found.series] == ["often"]


def test_the_last_day_of_a_long_range_decides_which_jobs_ran() -> None:
    start = END - 30 * 24 * HOUR // 1000
    answers = {templates.uses(86_400): [use("other")]}
    source = MemoryMetrics("main", answers)
    names: list[str] = []
    answer = source.range

    async def noted(query: RangeQuery) -> Matrix:
        names.append(query.promql)
        return await answer(query)

    source.range = noted  # type: ignore[method-assign]
    asyncio.run(controls(told_of([], "churn", READ), Metrics(source, FixedClock()), READ, start, END))
    assert names == [templates.uses(86_400), templates.runs_of_jobs(["other"], page_metrics.runs_step(start, END))]


def test_pushed_runs_take_precedence_over_metrics_and_show_which_jobs_touch_the_tables() -> None:
    told = [*pushed("other", 40), *pushed("loader", 40, ORDERS), *pushed("thin", 5)]
    found = asked([use("other"), use("loader"), use("thin")], ["thin"], told)
    seconds = {each.id: (len(each.times), each.duration_seconds[0]) for each in found.series}
    assert seconds == {"thin": (70, 60), "other": (40, 30)}


def test_the_number_of_controls_is_capped_to_the_jobs_with_most_runs() -> None:
    uses = [use(f"job-{n:03}", runs=30.0 + n) for n in range(60)]
    most = [f"job-{n:03}" for n in reversed(range(60))][:MOST_CONTROLS]
    assert {each.id for each in asked(uses, most).series} == set(most)


def test_a_truncated_response_yields_no_controls_because_jobs_of_the_tables_are_unknown() -> None:
    assert asked([use("other"), use("another")], ["other"], max_series=1) == Controls([], None)


def test_failing_metrics_leave_pushed_runs_and_report_the_reason() -> None:
    source = MemoryMetrics("main", {})
    source.failure = SourceUnavailable("main", "connection refused")
    known = told_of(pushed("other", 40), "churn", READ)
    found = asyncio.run(controls(known, Metrics(source, FixedClock()), READ, START, END))
    assert ([each.id for each in found.series], found.problem) == (["other"], "connection refused")


def test_without_metrics_no_query_is_sent() -> None:
    assert asyncio.run(controls(told_of([], "churn", READ), None, READ, START, END)) == Controls([], None)
