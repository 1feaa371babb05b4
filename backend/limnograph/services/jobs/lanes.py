"""Lanes of jobs: how long a reader takes (metrics) and when it ran (pushed runs and metrics)."""

from __future__ import annotations

from typing import NamedTuple

from limnograph.analysis.alignment import Value, finite
from limnograph.domain.answers.lane_specs import head_of
from limnograph.domain.answers.tables import LinkedJob
from limnograph.domain.answers.timeline import BandLane, Bar, BarsLane, LaneProblem, LaneQuery
from limnograph.domain.errors import SourceError
from limnograph.domain.ids import TableName
from limnograph.domain.metrics.series import Matrix, RangeQuery, Series
from limnograph.domain.secrecy import placeless
from limnograph.domain.time import MS_PER_SECOND, TimeRange, to_micros, to_millis
from limnograph.services.jobs.discovery import Jobs, Role
from limnograph.services.sources import templates
from limnograph.services.sources.page_metrics import PageMetrics

TITLES = {
    "source-timeout": "Timed out",
    "source-unavailable": "Not reachable",
    "source-rejected": "Request rejected",
    "source-failed": "Failed",
}


class ChosenJob(NamedTuple):
    """The job whose lanes are drawn. `linked`: whether any source reports that it reads or writes the table."""

    name: str
    role: Role
    linked: bool = True


def problem_of(error: SourceError) -> LaneProblem:
    """A failed source in the lane's format."""
    return LaneProblem(
        type=error.problem_type, title=TITLES.get(error.problem_type, "Failed"), detail=placeless(str(error))
    )


def choose(linked: list[LinkedJob], asked: str | None) -> ChosenJob | None:
    """The requested job, else the reader with the most runs (`linked` is in that order)."""
    if asked is not None:
        role: Role | None = next((job.role for job in linked if job.name == asked), None)
        return ChosenJob(asked, role or "reads", linked=role is not None)
    return next((ChosenJob(job.name, job.role) for job in linked if job.role == "reads"), None)


async def duration(
    jobs: Jobs, name: TableName, job: ChosenJob | None, span: TimeRange, page: PageMetrics | None = None
) -> BandLane:
    """The band of a job's durations. A failing source results in a lane with a problem, no source in an absent lane."""
    nothing: list[Value] = [None] * len(span.instants())
    absent = BandLane(**head_of("job_duration"), status="absent", lo=nothing, mid=nothing, hi=nothing)
    if jobs.metrics is None or job is None:
        return _failed_discovery(absent, jobs) if job is None else absent
    own, matchers, server = jobs.own(job.name, "promql"), jobs.matchers(name, job.name, job.role), jobs.server(job.name)
    promql = own or templates.duration_band(matchers, span.step_s)
    query = LaneQuery(promql=promql, prometheus=jobs.graph(server))
    try:
        if page is not None and not own and page.covers(matchers):
            matrix = page.band(matchers, server)
        else:
            matrix = await jobs.metrics.range(RangeQuery(promql, span.start, span.end, span.step_s), server)
    except SourceError as error:
        return BandLane(
            **head_of("job_duration"),
            status="error",
            label=job.name,
            age_s=jobs.metrics.age_s(),
            problem=problem_of(error),
            query=query,
            lo=nothing,
            mid=nothing,
            hi=nothing,
        )
    lows, middles, highs = _band(matrix, span)
    return BandLane(
        **head_of("job_duration"),
        status="partial" if matrix.truncated else "ok" if matrix.series or job.linked else "absent",
        label=job.name,
        age_s=jobs.metrics.age_s(),
        resolution=f"{span.step_s} s",
        query=query,
        lo=lows,
        mid=middles,
        hi=highs,
        median=await _own_median(jobs, job.name, span, server),
    )


async def _own_median(jobs: Jobs, job: str, span: TimeRange, server: str | None) -> list[Value] | None:
    """The result of the configured median query; None without one or if it fails: the duration is drawn without it."""
    promql = jobs.own(job, "median")
    if jobs.metrics is None or not promql:
        return None
    try:
        matrix = await jobs.metrics.range(RangeQuery(promql, span.start, span.end, span.step_s), server)
    except SourceError:
        return None
    found = _column(matrix, "last", span)
    return found if any(value is not None for value in found) else None


def _failed_discovery(absent: BandLane, jobs: Jobs) -> BandLane:
    """The lane without a known job: none was reported, or the source is unavailable."""
    error = jobs.metrics.last_error if jobs.metrics else None
    if error is None:
        return absent
    return BandLane(
        **head_of(absent.id),
        status="error",
        problem=problem_of(error),
        lo=absent.lo,
        mid=absent.mid,
        hi=absent.hi,
    )


def _band(matrix: Matrix, span: TimeRange) -> tuple[list[Value], list[Value], list[Value]]:
    """The value at each step, and the extremes until the next one, from later samples."""
    middles = _column(matrix, "last", span)
    lows, highs = _column(matrix, "min", span), _column(matrix, "max", span)
    for i, middle in enumerate(middles):
        if middle is not None:
            low, high = lows[i], highs[i]
            lows[i] = middle if low is None else min(low, middle)
            highs[i] = middle if high is None else max(high, middle)
    return lows, middles, highs


def _column(matrix: Matrix, stat: str, span: TimeRange) -> list[Value]:
    """One statistic at the points of the range. A configured query has one series for all statistics."""
    series = [s for s in matrix.series if s.labels.get(templates.STAT, stat) == stat]
    values: list[Value] = [None] * len(span.instants())
    for found in series:
        _fill(values, found, span, stat)
    return values


def _fill(values: list[Value], series: Series, span: TimeRange, stat: str) -> None:
    """Samples may be denser than points: the last value counts for the point, extremes are those after it."""
    width_ms = span.step_s * MS_PER_SECOND
    for at, sample in zip(series.times, series.values, strict=True):
        index, rest = divmod(at - span.start, width_ms)
        if stat == "last" and rest:
            continue
        if stat != "last" and not rest:
            index -= 1
        value = finite(sample)
        if value is None or not 0 <= index < len(values):
            continue
        known = values[index]
        values[index] = value if known is None else min(known, value) if stat == "min" else max(known, value)


async def runs(
    jobs: Jobs, name: TableName, job: ChosenJob | None, span: TimeRange, page: PageMetrics | None = None
) -> BarsLane:
    """Bars of a job's runs; of all jobs on the table if none is chosen."""
    label = job.name if job else None
    try:
        found = await jobs.runs_between(name, label, span.start, span.end, page)
    except SourceError as error:
        return BarsLane(
            **head_of("job_runs"),
            status="error",
            label=label,
            problem=problem_of(error),
            bars=[],
        )
    pushed = any(not run.measured for run in found)
    bars = [
        Bar(
            start=to_millis(run.started_at),
            end=to_millis(run.ended_at),
            label=run.job,
            state=run.status,
            detail=None if run.seconds is None else f"{run.seconds:.0f} s",
        )
        for run in found
        if run.began < to_micros(span.end) and (run.ended_at is None or run.ended_at >= to_micros(span.start))
    ]
    known = bool(bars) or (jobs.metrics is not None and job is not None and job.linked)
    cut = pushed and jobs.metrics is not None and jobs.metrics.last_error is not None
    head = head_of("job_runs")
    if pushed:
        head["source"] = "runs"
    return BarsLane(
        **head,
        status="partial" if cut else "ok" if known else "absent",
        label=label,
        bars=bars,
    )
