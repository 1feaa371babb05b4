"""Other jobs for comparison: a change that also occurs in jobs that touch none of the tables is not caused by those
tables. Their runs are pushed or come from metrics. Instants are epoch microseconds inside and milliseconds in series
and questions.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from limnograph.domain.answers.explanations import RunSeries
from limnograph.domain.errors import SourceError
from limnograph.domain.facts.events import RunFact
from limnograph.domain.ids import TableName
from limnograph.domain.metrics.series import Matrix, RangeQuery
from limnograph.domain.secrecy import placeless
from limnograph.domain.time import MICROS_PER_MS, MICROS_PER_SECOND, MS_PER_SECOND, Millis
from limnograph.services.jobs.discovery import runs_of
from limnograph.services.jobs.run_log import names_of
from limnograph.services.sources import page_metrics, templates
from limnograph.services.sources.metrics import Metrics

MOST_CONTROLS = 20
LEAST_CONTROL_RUNS = 24
CHOSEN_BY_S = 86_400
"""Only jobs that ran in this many last seconds are examined: counters of all jobs over weeks have too many samples."""


class Controls(NamedTuple):
    """The series, those with the most runs first. `problem`: why others are missing; None if nothing failed."""

    series: list[RunSeries]
    problem: str | None = None


class PushedRuns(NamedTuple):
    """The ended runs of each job, and the jobs that touch one of the tables."""

    ended: dict[str, list[RunFact]]
    touching: set[str]


def told_of(runs: Iterable[RunFact], job: str, read: frozenset[TableName]) -> PushedRuns:
    """Group pushed runs by job, without `job` itself."""
    found: dict[str, list[RunFact]] = defaultdict(list)
    touching = {job}
    for run in runs:
        if run.job_name is None:
            continue
        if not read.isdisjoint(names_of(run)):
            touching.add(run.job_name)
        if run.status == "ok" and run.started_at is not None and run.ended_at is not None:
            found[run.job_name].append(run)
    return PushedRuns(found, touching)


async def controls(
    told: PushedRuns,
    metrics: Metrics | None,
    read: frozenset[TableName],
    start: Millis,
    end: Millis,
    *,
    least: int = LEAST_CONTROL_RUNS,
) -> Controls:
    """Other jobs with at least `least` runs between two instants (epoch ms). Pushed runs of a job take precedence over
    its metrics.
    """
    known = {name: _series(name, runs) for name, runs in told.ended.items() if len(runs) >= least}
    try:
        seen = await _seen(metrics, told.touching | known.keys(), read, start, end, least=least) if metrics else []
        problem = None
    except SourceError as error:
        seen, problem = [], placeless(error.detail)
    found = [series for name, series in known.items() if name not in told.touching]
    return Controls(_most(found + seen), problem)


async def _seen(
    metrics: Metrics, others: set[str], read: frozenset[TableName], start: Millis, end: Millis, *, least: int
) -> list[RunSeries]:
    """Jobs in metrics that are not among `others`. Raises SourceError."""
    uses = await metrics.instant(templates.uses(min((end - start) // MS_PER_SECOND, CHOSEN_BY_S)), end)
    names = _busiest(uses, others, read)
    if not names:
        return []
    step = page_metrics.runs_step(start, end)
    runs = runs_of(await metrics.everywhere(RangeQuery(templates.runs_of_jobs(names, step), start, end, step)))
    found: dict[str, list[tuple[float, float | None]]] = defaultdict(list)
    for run in runs:
        found[run.job].append((run.began / MICROS_PER_MS, run.seconds))
    enough = {name: runs for name, runs in found.items() if len(runs) >= least}
    return [RunSeries(name, [at for at, _ in runs], [took for _, took in runs]) for name, runs in enough.items()]


def _busiest(uses: Matrix, others: set[str], read: frozenset[TableName]) -> list[str]:
    """At most MOST_CONTROLS jobs, most runs first. Empty if the response was truncated: then it is unknown which jobs
    touch the tables.
    """
    if uses.truncated:
        return []
    counts: dict[str, float] = {}
    touching = set(others)
    for series in uses.series:
        labels = series.labels
        job = labels.get("job_name", "")
        on = TableName(labels.get("catalog", ""), labels.get("table_namespace", ""), labels.get("table", ""))
        if on in read:
            touching.add(job)
        counts[job] = max(counts.get(job, 0.0), series.values[-1])
    ran = [job for job, runs in counts.items() if job and job not in touching and runs > 0]
    return sorted(ran, key=lambda job: (-counts[job], job))[:MOST_CONTROLS]


def _most(found: Sequence[RunSeries]) -> list[RunSeries]:
    return sorted(found, key=lambda each: (-len(each.times), each.id or ""))[:MOST_CONTROLS]


def _series(name: str, runs: Sequence[RunFact]) -> RunSeries:
    times: list[float | None] = [(run.started_at or 0) / MICROS_PER_MS for run in runs]
    return RunSeries(name, times, [((run.ended_at or 0) - (run.started_at or 0)) / MICROS_PER_SECOND for run in runs])
