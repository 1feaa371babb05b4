"""Discovers which jobs read or write a table, and their runs: from settings, pushed runs, and labels of metrics."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Literal

import msgspec

from limnograph.domain.answers.tables import LinkedJob
from limnograph.domain.errors import SourceError
from limnograph.domain.ids import TableName, matches
from limnograph.domain.metrics.promql import Expression
from limnograph.domain.metrics.series import Matrix, RangeQuery
from limnograph.domain.time import MICROS_PER_SECOND, Micros, Millis, TimeRange, to_micros
from limnograph.services.jobs.run_log import RunRecord
from limnograph.services.jobs.runs import RunRegistry
from limnograph.services.sources import page_metrics, templates
from limnograph.services.sources.metrics import Metrics
from limnograph.services.sources.page_metrics import PageMetrics

DAY_S = 86_400
_SAME_END = 2_000_000
Role = Literal["reads", "writes"]
Number = Literal["promql", "median", "load", "cpu", "spill", "executors", "memory", "slot_lag"]
_ROLES: dict[str, Role] = {"reads": "reads", "writes": "writes"}


class ConfiguredJob(msgspec.Struct, frozen=True):
    """A job of the settings.

    `reads`, `writes`: patterns of table names
    `select`: label values that select its metrics
    `promql`: a query for its duration, instead of `select`
    `median`, `load`: PromQL of its median run, and of its load
    `cpu`, `spill`, `executors`, `memory`: PromQL of the resources it used
    `slot_lag`: PromQL of the bytes that its source keeps for it
    `prometheus`: the server that has its series; empty: any server that has them
    """

    name: str
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    select: dict[str, str] = {}
    promql: str = ""
    median: str = ""
    load: str = ""
    cpu: str = ""
    spill: str = ""
    executors: str = ""
    memory: str = ""
    slot_lag: str = ""
    prometheus: str = ""

    def role_in(self, name: TableName) -> Role | None:
        """Whether the job reads or writes a table; None: neither."""
        if any(matches(pattern, str(name)) for pattern in self.reads):
            return "reads"
        return "writes" if any(matches(pattern, str(name)) for pattern in self.writes) else None


class Jobs:
    """Discovers jobs; without a metrics source, from settings and pushed runs only. `graphs`: public addresses of
    metrics sources. Immutable after construction.
    """

    def __init__(
        self,
        configured: Sequence[ConfiguredJob],
        runs: RunRegistry,
        metrics: Metrics | None,
        graphs: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._configured = {job.name: job for job in configured}
        self.runs, self.metrics, self._graphs = runs, metrics, graphs

    async def page(
        self, name: TableName, job: str | None, span: TimeRange, at_ms: Millis, also: Sequence[Expression] = ()
    ) -> PageMetrics | None:
        """Queries for the jobs of a table, or for one of them, over a range, and the queries joined with them. None: no
        query.
        """
        if self.metrics is None:
            return None
        matchers = templates.table_matchers(name)
        return await page_metrics.ask(
            self.metrics, {**matchers, "job_name": job} if job is not None else matchers, span, at_ms, also
        )

    async def of_table(self, name: TableName, at_ms: Millis, page: PageMetrics | None = None) -> list[LinkedJob]:
        """Jobs known at an instant: readers first, then by number of runs. A failing metrics source is skipped. `page`:
        the queries already sent for a page, here and below.
        """
        found = {(job.name, job.role): job for job in self._from_settings(name)}
        try:
            measured = _linked(page.known()) if page is not None else await self._from_metrics(name, at_ms)
        except SourceError:
            measured = []
        for job in [*await self._from_runs(name, at_ms), *measured]:
            known = found.get((job.name, job.role))
            if known is None or known.runs_24h is None or known.runs_24h < (job.runs_24h or 0):
                found[job.name, job.role] = job
        return sorted(found.values(), key=lambda job: (job.role, -(job.runs_24h or 0), job.name))

    def reads(self, job: str, name: TableName) -> bool:
        """Whether the settings list a job as a reader of a table."""
        configured = self._configured.get(job)
        return configured is not None and configured.role_in(name) == "reads"

    def _from_settings(self, name: TableName) -> list[LinkedJob]:
        roles = ((job.name, job.role_in(name)) for job in self._configured.values())
        return [LinkedJob(name=job, role=role, source="settings", runs_24h=None) for job, role in roles if role]

    async def _from_runs(self, name: TableName, at_ms: Millis) -> list[LinkedJob]:
        end = to_micros(at_ms)
        counts: dict[tuple[str, str], int] = defaultdict(int)
        for run in await self.runs.of_table(name, end - DAY_S * MICROS_PER_SECOND, end):
            counts[run.job, run.role] += 1
        return [
            LinkedJob(name=job, role="reads" if role == "reads" else "writes", source="runs", runs_24h=count)
            for (job, role), count in counts.items()
        ]

    async def _from_metrics(self, name: TableName, at_ms: Millis) -> list[LinkedJob]:
        if self.metrics is None:
            return []
        promql = templates.jobs_of_table(name, DAY_S)
        return _linked(await self.metrics.instant(promql, templates.snapped(at_ms)))

    async def job_of_application(self, application_id: str, at_ms: Millis) -> str | None:
        """The job that ran under an application id around an instant, according to its metrics. Raises SourceError."""
        if self.metrics is None:
            return None
        end = at_ms + 3_600_000
        matrix = await self.metrics.instant(templates.job_of_application(application_id, 2 * 3_600), end)
        found = sorted({series.labels.get("job_name", "") for series in matrix.series} - {""})
        return found[0] if found else None

    def matchers(self, name: TableName, job: str, role: Role) -> dict[str, str]:
        """Labels that select a job's metrics for a table."""
        configured = self._configured.get(job)
        base = {**templates.table_matchers(name), "role": role, "job_name": job}
        return {**base, **configured.select} if configured else base

    def own(self, job: str, number: Number) -> str:
        """The configured PromQL for a number of a job (`promql`: its duration); empty if there is none."""
        configured = self._configured.get(job)
        return getattr(configured, number) if configured else ""

    def with_slot(self, name: TableName) -> str | None:
        """A job with a query for `slot_lag` that touches a table, one that writes it first; None: there is none."""
        roles = {job.name: job.role_in(name) for job in self._configured.values() if job.slot_lag}
        touching = sorted((role != "writes", job) for job, role in roles.items() if role is not None)
        return touching[0][1] if touching else None

    def server(self, job: str) -> str | None:
        """The configured metrics source of a job; None: any source that has its series."""
        configured = self._configured.get(job)
        return configured.prometheus or None if configured else None

    def graph(self, server: str | None) -> str | None:
        """Public address of the queried server; None if it is unknown or ambiguous."""
        if server is None and len(self._graphs) == 1:
            return next(iter(self._graphs.values()))
        return self._graphs.get(server) if server is not None else None

    async def runs_between(
        self, name: TableName, job: str | None, start_ms: Millis, end_ms: Millis, page: PageMetrics | None = None
    ) -> list[RunRecord]:
        """Runs on a table (of one job, or of all): pushed ones, and those known only from metrics.

        Raises SourceError if metrics do not respond and no run was pushed.
        """
        pushed = await self.runs.of_table(name, to_micros(start_ms), to_micros(end_ms))
        pushed = [run for run in pushed if job is None or run.job == job]
        if self.metrics is None:
            return pushed
        try:
            seen = runs_of(await self._finished(name, job, start_ms, end_ms, page))
        except SourceError:
            if pushed:
                return pushed
            raise
        return sorted(_united(pushed, seen), key=lambda run: run.began)

    async def _finished(
        self, name: TableName, job: str | None, start_ms: Millis, end_ms: Millis, page: PageMetrics | None
    ) -> Matrix:
        matchers = templates.table_matchers(name) if job is None else self.matchers(name, job, "reads")
        if job is not None:
            matchers.pop("role")
        server = None if job is None else self.server(job)
        if page is not None and page.covers(matchers):
            return page.runs(matchers, server, everywhere=job is None)
        if self.metrics is None:
            return Matrix([])
        step = page_metrics.runs_step(start_ms, end_ms)
        query = RangeQuery(templates.finished_runs(matchers, step), start_ms, end_ms, step)
        # Runs of all jobs of a table may be on several servers.
        return await (self.metrics.everywhere(query) if job is None else self.metrics.range(query, server))


def _linked(matrix: Matrix) -> list[LinkedJob]:
    """Jobs in the result of `jobs_of_table`."""
    counts: dict[tuple[str, Role | None], float | None] = {}
    for series in matrix.series:
        key = (series.labels.get("job_name", ""), _ROLES.get(series.labels.get("role", "")))
        runs = series.values[-1] if series.labels.get(templates.STAT) == "runs" else None
        known = counts.get(key)
        counts[key] = known if runs is None else runs + (known or 0)
    return [
        LinkedJob(name=job, role=role, source="metrics", runs_24h=_runs(count))
        for (job, role), count in counts.items()
        if job and role
    ]


def _united(pushed: list[RunRecord], seen: list[RunRecord]) -> list[RunRecord]:
    """Pushed runs and those known only from metrics; a pushed run without a start takes the one in the metrics."""
    found, only_seen = [*pushed], []
    for run in seen:
        same = [place for place, known in enumerate(found) if _same_run(run, known)]
        if not same:
            only_seen.append(run)
        for place in same:
            if found[place].started_at is None:
                found[place] = found[place]._replace(started_at=run.started_at)
    return [*found, *only_seen]


def _same_run(seen: RunRecord, pushed: RunRecord) -> bool:
    """Whether a run in the metrics was pushed too: its end is rounded in the metrics."""
    if seen.ended_at is None or pushed.ended_at is None:
        return False
    same = (seen.job, seen.role) == (pushed.job, pushed.role) and (seen.application_id or None) in {
        pushed.application_id or None,
        *([seen.application_id or None] if pushed.started_at is None else []),
    }
    return same and abs(seen.ended_at - pushed.ended_at) < _SAME_END


def _runs(increase: float | None) -> int | None:
    """Whole runs. `increase` misses the first run of a new counter, so a count of 0 means unknown."""
    return round(increase) or None if increase is not None and math.isfinite(increase) else None


def runs_of(matrix: Matrix) -> list[RunRecord]:
    """Runs in the result of `finished_runs`: every new finish time is a run, whose duration was sampled with it."""
    lasted: dict[tuple[tuple[str, str], ...], dict[int, float]] = {}
    for series in matrix.series:
        if series.labels.get(templates.STAT) == "duration":
            lasted[_identity(series.labels)] = dict(zip(series.times, series.values, strict=True))
    found: dict[tuple[str, str, int], RunRecord] = {}
    for series in matrix.series:
        if series.labels.get(templates.STAT) != "finished":
            continue
        durations = lasted.get(_identity(series.labels), {})
        for at, finished in zip(series.times, series.values, strict=True):
            seconds = durations.get(at)
            if seconds is None or not math.isfinite(seconds + finished):
                continue
            ended = Micros(round(finished * MICROS_PER_SECOND))
            job, role = series.labels.get("job_name", ""), series.labels.get("role", "")
            started, app_id = ended - round(seconds * MICROS_PER_SECOND), series.labels.get("application_id")
            found.setdefault((job, role, ended), RunRecord(job, role, started, ended, "ok", app_id, measured=True))
    return sorted(found.values(), key=lambda run: run.began)


def _identity(labels: dict[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((key, value) for key, value in labels.items() if key not in {templates.STAT, "__name__"}))
