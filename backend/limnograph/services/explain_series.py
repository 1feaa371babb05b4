"""What queries of the settings tell Explain: durations of a job that has no runs, and how much it had to do."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from limnograph.analysis.alignment import finite
from limnograph.domain.errors import SourceError
from limnograph.domain.explanations import LoadSeries
from limnograph.domain.series import Matrix, RangeQuery
from limnograph.domain.time import MICROS_PER_MS, MICROS_PER_SECOND
from limnograph.services import page_metrics
from limnograph.services.job_runs import JobRun
from limnograph.services.jobs import Jobs


class Load(NamedTuple):
    """None: the settings name no query for it, or it has no values. `problem`: why it was not told."""

    series: LoadSeries | None
    problem: str | None = None


async def load(jobs: Jobs, job: str, start: int, end: int) -> Load:
    """How much a job had to do between two instants (epoch ms); several series add up."""
    try:
        matrix = await _asked(jobs, job, jobs.load_promql(job), start, end)
    except SourceError as error:
        return Load(None, error.detail)
    values: dict[int, float] = defaultdict(float)
    for series in matrix.series:
        for at, sample in zip(series.times, series.values, strict=True):
            values[at] += finite(sample) or 0.0
    return Load(LoadSeries(list(map(float, values)), list(values.values())) if values else None)


async def runs(jobs: Jobs, job: str, start: int, end: int) -> list[JobRun]:
    """Runs that the settings' own query for the duration shows: each new value is one. Raises SourceError."""
    matrix = await _asked(jobs, job, jobs.own_promql(job), start, end)
    found = []
    for series in matrix.series:
        before: float | None = None
        for at, sample in zip(series.times, series.values, strict=True):
            took = finite(sample)
            if took is not None and took > 0 and took != before:
                ended = at * MICROS_PER_MS
                found.append(JobRun(job, "reads", ended - round(took * MICROS_PER_SECOND), ended, "ok", measured=True))
            before = took
    return sorted(found, key=lambda run: run.started_at)


async def _asked(jobs: Jobs, job: str, promql: str, start: int, end: int) -> Matrix:
    if jobs.metrics is None or not promql:
        return Matrix([])
    step = page_metrics.runs_step(start, end)
    return await jobs.metrics.range(RangeQuery(promql, start, end, step), jobs.server(job))
