"""Findings of jobs on a running server: silent and slower ones, and what the cause of a finding did to them."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator

import msgspec

from limnograph.adapters.memory.inbox import MemoryInbox
from limnograph.adapters.memory.metrics_source import MemoryMetrics
from limnograph.domain.facts.events import RunFact, RunTable
from limnograph.domain.facts.findings import FindingFact
from limnograph.domain.facts.meta_tables import SnapshotFact
from limnograph.domain.metrics.series import Series
from limnograph.domain.time import Micros, Millis
from limnograph.services.sources import templates
from serving_kit import HOUR, MINUTE, NOW, SECOND, FixedClock, change, lake, moved, parts, row, schema

GIB, MIB, DAY = 1 << 30, 1 << 20, 24 * HOUR
COMMITS = 40
NAMED = change("named", NOW - 40 * DAY, "x", subject="lake.sales.orders")
A, B = (1, "a", "int"), (2, "b", "string")
ALTERED = NOW - 90 * MINUTE
BURST = {"added_data_files": 50_000, "added_bytes": 50_000 * MIB}


class World:
    """A table with a commit each hour, and jobs that push their runs. Time starts at `start`."""

    def __init__(self, start: int = NOW, *, altered_at: int | None = None, writes: str = "append") -> None:
        """`altered_at`: when a column is dropped. The next commit, a `writes`, is the first one without it."""
        self.clock = FixedClock(start)
        known = {"total_bytes": 100 * GIB, "target_file_bytes": 512 * MIB, "removed_data_files": 0, "app_name": "etl"}
        rows = [
            row(number + 1, NOW - (COMMITS - number) * HOUR, 100, added_data_files=2, added_bytes=GIB, **known)
            for number in range(COMMITS)
        ]
        rows.append(row(COMMITS + 1, NOW, 50_100, **known, **BURST))
        self.rows = [each for each in rows if (each.committed_at or 0) <= start]
        changes = [NAMED]
        if altered_at is not None:
            self.rows = [_with_schema(each, altered_at, writes) for each in self.rows]
            changes += [schema(0, NOW - 30 * DAY, A, B), schema(1, altered_at, A, before=0)]
        engine = lake(self.rows, [*(moved(each.snapshot_id, each.committed_at or 0) for each in self.rows), *changes])
        self.server = parts(engine, clock=self.clock, inbox=MemoryInbox())

    def ran(self, *runs: RunFact) -> None:
        asyncio.run(self.server.runs.accept(list(runs)))

    def at(self, instant: int) -> list[FindingFact]:
        """What a server does at an instant: look at jobs, evaluate, measure, evaluate."""
        self.clock.micros = instant
        self.server.store.probed(Micros(instant), ("lake",), ())
        self.server.store.refresh()
        asyncio.run(self.server.job_findings.observe(self.server.evaluator))
        found = self.server.evaluator.evaluate()
        asyncio.run(self.server.finding_effects.measure_due())
        return [*found, *self.server.evaluator.evaluate()]

    def open(self) -> dict[str, FindingFact]:
        return {fact.code or "": fact for fact in self.server.evaluator.board.open}


def _with_schema(commit: SnapshotFact, altered_at: int, writes: str) -> SnapshotFact:
    after = (commit.committed_at or 0) - altered_at
    operation = writes if 0 <= after < HOUR else "append"
    return msgspec.structs.replace(
        commit, schema_id=int(after >= 0), parent_id=commit.snapshot_id - 1 or None, operation=operation
    )


def run(job: str, started: int, seconds: float, table: str = "orders") -> RunFact:
    return RunFact(
        run_id=f"{job}-{started}",
        job_name=job,
        started_at=started,
        at=started,
        status="ok",
        ended_at=started + round(seconds * SECOND),
        tables=[RunTable(catalog="lake", namespace="sales", table=table, role="reads")],
        observed_at=started,
    )


def history(
    job: str, first: int, last: int, *, table: str = "orders", factor: float = 1.0, since: int = NOW
) -> Iterator[RunFact]:
    """Runs of a minute every ten, with a noise of 4 %; `factor` times as long since an instant."""
    noise = random.Random(job)
    for at in range(first, last, 10 * MINUTE):
        yield run(job, at, 60 * noise.gauss(1, 0.04) * (factor if at >= since else 1.0), table)


def others(last: int) -> Iterator[RunFact]:
    for job in ("billing", "search", "risk"):
        yield from history(job, NOW - 40 * HOUR, last, table=job)


def test_a_job_falls_silent_and_returns() -> None:
    world = World(NOW - 2 * HOUR)
    world.ran(*history("rollup", NOW - 20 * HOUR, NOW - 2 * HOUR))
    last = NOW - 2 * HOUR - 9 * MINUTE
    assert world.at(last + 25 * MINUTE) == []
    assert world.at(last + 28 * MINUTE) == []
    (opened,) = world.at(last + 31 * MINUTE)
    assert (opened.code, opened.subject, opened.table) == ("job_silent", "rollup", "orders")
    world.ran(run("rollup", last + 32 * MINUTE, 60))
    (closed,) = world.at(last + 34 * MINUTE)
    assert (closed.code, closed.closed_by) == ("job_silent", "run")


def test_a_slower_job_without_a_cause_is_a_finding_until_it_is_as_fast_as_before() -> None:
    world = World(NOW - 1)
    world.ran(*others(NOW + 5 * HOUR), *history("rollup", NOW - 40 * HOUR, NOW + 3 * HOUR, factor=3.0))
    opened = {fact.code: fact for fact in world.at(NOW + 3 * HOUR)}["job_slower"]
    assert (opened.subject, opened.severity) == ("rollup", "critical")
    assert abs((opened.opened_at or 0) - NOW) <= 10 * MINUTE
    assert world.at(NOW + 3 * HOUR + MINUTE) == []
    world.ran(*(run("rollup", at, 60) for at in range(NOW + 3 * HOUR + 10 * MINUTE, NOW + 5 * HOUR, 10 * MINUTE)))
    world.at(NOW + 5 * HOUR)
    assert "job_slower" not in world.open()


def test_the_effect_of_a_burst_is_counted_then_measured_and_makes_it_critical() -> None:
    world = World()
    world.ran(*others(NOW + MINUTE), *history("rollup", NOW - 40 * HOUR, NOW))
    world.at(NOW + MINUTE)
    (counted,) = world.open()["file_burst"].effects or ()
    assert (counted.job_name, counted.verdict, counted.because) == ("rollup", "no_data_yet", "0 of 5 runs")
    assert world.open()["file_burst"].severity == "warning"
    world.ran(*others(NOW + 2 * HOUR), *history("rollup", NOW, NOW + 2 * HOUR, factor=3.0))
    world.at(NOW + 2 * HOUR + MINUTE)
    burst = world.open()["file_burst"]
    (measured,) = burst.effects or ()
    assert (measured.verdict, burst.severity, "job_slower" in world.open()) == ("slower", "critical", False)
    assert (measured.ratio_low or 0) < 3.0 < (measured.ratio_high or 9)


def test_the_effect_of_a_schema_change_is_measured_and_tells_of_the_slow_job() -> None:
    world = World(NOW - 1, altered_at=ALTERED)
    world.ran(*others(NOW), *history("rollup", NOW - 40 * HOUR, NOW - 10 * MINUTE, factor=3.0, since=ALTERED))
    world.at(NOW - 1)
    found = world.open()["schema_breaking"]
    (measured,) = found.effects or ()
    assert (measured.job_name, measured.verdict, found.severity) == ("rollup", "slower", "critical")
    assert (measured.ratio_low or 0) < 3.0 < (measured.ratio_high or 9)
    assert "job_slower" not in world.open()


def test_an_overwrite_soon_after_a_schema_change_leaves_its_effect_unknown() -> None:
    world = World(NOW - 1, altered_at=ALTERED, writes="overwrite")
    world.ran(*others(NOW), *history("rollup", NOW - 40 * HOUR, NOW - 10 * MINUTE, factor=3.0, since=ALTERED))
    world.at(NOW - 1)
    (measured,) = world.open()["schema_breaking"].effects or ()
    assert (measured.verdict, measured.because) == ("unknown", "only 3 runs ended before another overwrite")


def test_a_schema_change_without_runs_since_does_not_hide_a_job_that_was_slow_before() -> None:
    world = World(NOW - 1, altered_at=NOW - 12 * MINUTE)
    slow = history("rollup", NOW - 40 * HOUR, NOW - 12 * MINUTE, factor=3.0, since=NOW - 4 * HOUR)
    world.ran(*others(NOW), *slow)
    world.at(NOW - 1)
    (counted,) = world.open()["schema_breaking"].effects or ()
    assert (counted.verdict, "job_slower" in world.open()) == ("no_data_yet", True)


def test_a_job_that_reports_by_metrics_is_retired_after_a_week_of_silence() -> None:
    labels = {"catalog": "lake", "table_namespace": "sales", "table": "orders", "job_name": "rollup"}
    ends = list(range(NOW - 13 * DAY, NOW - 8 * DAY, HOUR))
    finished = Series(
        {**labels, templates.STAT: "finished"}, [Millis(at // 1000) for at in ends], [at / SECOND for at in ends]
    )
    scraped = [Millis(at // 1000) for at in range(NOW - 14 * DAY, NOW + 1, MINUTE)]
    metrics = MemoryMetrics(
        "prometheus",
        {
            **{templates.runs_of_tables(step_s): [finished] for step_s in (900, 120, 30)},
            templates.targets(): [Series({}, scraped, [1.0] * len(scraped))],
        },
    )
    rows = [row(1, NOW - HOUR, 100)]
    made = parts(lake(rows, [moved(1, NOW - HOUR), NAMED]), metrics, inbox=MemoryInbox())
    asyncio.run(made.job_findings.observe(made.evaluator))
    made.evaluator.evaluate()
    (found,) = made.evaluator.board.facts
    assert (found.code, found.closed_by, found.closed_at) == ("job_silent", "retired", ends[-1] + 7 * DAY)
