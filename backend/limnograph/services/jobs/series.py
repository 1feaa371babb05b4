"""Series of a job from configured queries: durations of a job without runs, its load, its resources."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import NamedTuple

from limnograph.analysis.alignment import finite
from limnograph.domain.answers.explanations import LoadSeries
from limnograph.domain.errors import SourceError
from limnograph.domain.metrics.series import Matrix, RangeQuery
from limnograph.domain.secrecy import placeless
from limnograph.domain.time import MICROS_PER_SECOND, Millis, to_micros
from limnograph.services.jobs import signals as job_signals
from limnograph.services.jobs.discovery import Jobs
from limnograph.services.jobs.run_log import RunRecord
from limnograph.services.jobs.signals import Signal
from limnograph.services.sources import page_metrics


class QueryResult(NamedTuple):
    """`series`: None without a query or without values. `problem`: why it is unavailable."""

    series: LoadSeries | None
    problem: str | None = None


async def load(jobs: Jobs, job: str, start: Millis, end: Millis) -> QueryResult:
    """The job's load between two instants (epoch ms)."""
    return await _told(jobs, job, jobs.own(job, "load"), start, end)


async def signals(jobs: Jobs, job: str, start: Millis, end: Millis) -> Mapping[Signal, QueryResult]:
    """Resources of a job between two instants (epoch ms); each has its own query."""
    step_s = page_metrics.runs_step(start, end)
    kinds = list(job_signals.SIGNALS)
    asked = (job_signals.promql(jobs, job, signal, step_s) for signal in kinds)
    found = await asyncio.gather(*(_told(jobs, job, promql, start, end) for promql in asked))
    return dict(zip(kinds, found, strict=True))


async def _told(jobs: Jobs, job: str, promql: str, start: Millis, end: Millis) -> QueryResult:
    try:
        values = job_signals.total(await _asked(jobs, job, promql, start, end))
    except SourceError as error:
        return QueryResult(None, placeless(error.detail))
    return QueryResult(LoadSeries(list(map(float, values)), list(values.values())) if values else None)


async def runs(jobs: Jobs, job: str, start: Millis, end: Millis) -> list[RunRecord]:
    """Runs according to the configured duration query: each new value is a run. Raises SourceError."""
    matrix = await _asked(jobs, job, jobs.own(job, "promql"), start, end)
    found = []
    for series in matrix.series:
        before: float | None = None
        for at, sample in zip(series.times, series.values, strict=True):
            took = finite(sample)
            if took is not None and took > 0 and took != before:
                ended = to_micros(at)
                found.append(
                    RunRecord(job, "reads", ended - round(took * MICROS_PER_SECOND), ended, "ok", measured=True)
                )
            before = took
    return sorted(found, key=lambda run: run.began)


async def _asked(jobs: Jobs, job: str, promql: str, start: Millis, end: Millis) -> Matrix:
    if jobs.metrics is None or not promql:
        return Matrix([])
    step_s = page_metrics.runs_step(start, end)
    return await jobs.metrics.range(RangeQuery(promql, start, end, step_s), jobs.server(job))
