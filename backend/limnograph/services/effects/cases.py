"""Collects the case of one operation and one job: the job's runs on both sides, other jobs, load, and other events of
the tables that the job reads.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, cast

import msgspec

from limnograph.analysis.effect.process import DAY_MS
from limnograph.analysis.effect.runs import CONFOUNDING
from limnograph.domain.answers.effects import (
    ControlJob,
    EffectCase,
    EffectLoad,
    EffectOperation,
    EffectRuns,
    EventKind,
    OtherEvent,
)
from limnograph.domain.answers.explanations import LoadSeries, RunSeries
from limnograph.domain.answers.tables import LinkedJob
from limnograph.domain.ids import TableName
from limnograph.domain.time import MICROS_PER_MS, Micros, Millis, to_micros, to_millis
from limnograph.services.jobs import series as job_series
from limnograph.services.jobs.collecting import JobCollector, of_job
from limnograph.services.jobs.controls import Controls
from limnograph.services.jobs.discovery import Jobs
from limnograph.services.jobs.first_reads import NEVER, first_reads
from limnograph.services.jobs.run_log import RUNNING, RunRecord
from limnograph.services.lake.history import History
from limnograph.services.lake.store import HotStore

RUNS_BEFORE = 168
"""Runs before the operation that a case reaches back for, at the job's pace: more do not narrow the bounds."""
LONGEST_DAYS, SHORTEST_DAYS, SLACK = 60.0, 0.5, 1.25
AROUND = 12 * 3_600_000_000
"""Half of the day whose runs show which jobs use the table, microseconds."""
LONGEST_REWRITE = 6 * 3_600_000_000
SAME_CHANGE = 60_000_000
"""A commit that changes the schema itself may be this much older than the metadata file that has it, microseconds."""
LEAST_CONTROL_RUNS = 11
"""Eight before and three after (`analysis/effect/controls.py`)."""
EVENT_COLUMNS = ("snapshot_id", "committed_at", "sequence_number", "parent_id", "operation", "schema_id", "on_main")
_KINDS = frozenset({"append", "overwrite", "delete", "replace", "schema"})


class Subject(NamedTuple):
    """The operation of a case, epoch microseconds. `snapshot_id`: of a commit. `is_schema_change`: it changed the
    schema of the table, which the first commit after it shows.
    """

    name: TableName
    snapshot_id: int | None
    started_at: Micros | None
    committed_at: Micros
    is_schema_change: bool = False


class DatedEvent(NamedTuple):
    """An event and the commit that it is; None for an event without one."""

    event: OtherEvent
    snapshot_id: int | None


class JobCase(NamedTuple):
    """A case and what it was built from.

    case      runs that ended, in order of their starts
    events    other events, with their commits
    running   starts of runs that have not ended, epoch ms
    problem   why other jobs are missing; None if nothing failed
    """

    case: EffectCase
    events: list[DatedEvent]
    running: list[Millis]
    problem: str | None

    @property
    def runs_after(self) -> int:
        """Runs after the operation that ended before any run that is still running started."""
        first = min((at for at in self.running if at >= self.case.operation.committed_at), default=None)
        return sum(
            at >= self.case.operation.committed_at and (first is None or at < first) for at in self.case.runs.times
        )


class EffectCases:
    """Reads runs, metrics and commits. Immutable after construction."""

    def __init__(self, store: HotStore, jobs: Jobs) -> None:
        self._store, self._jobs = store, jobs
        self._collector = JobCollector(store, jobs)

    async def linked(self, name: TableName, committed_at: Micros, now: Micros) -> list[LinkedJob]:
        """Jobs of the table around a commit, readers first."""
        return await self._jobs.of_table(name, to_millis(min(now, committed_at + AROUND)))

    @property
    def are_jobs_known(self) -> bool:
        """Whether every source of jobs responds. While metrics do not, jobs known only from them are missing."""
        return self._jobs.metrics is None or self._jobs.metrics.last_error is None

    async def started_at(self, name: TableName, snapshot_id: int, committed_at: Micros) -> Micros | None:
        """When the run that reported a rewrite started; None if no run did. A stream runs for days before a commit, so
        its start says nothing about the rewrite.
        """
        run = await self._jobs.runs.writer_of(name, snapshot_id, committed_at)
        if run is None or run.started_at is None or run.started_at < committed_at - LONGEST_REWRITE:
            return None
        return run.started_at

    async def of_job(self, subject: Subject, job: LinkedJob, linked: Sequence[LinkedJob], until: Micros) -> JobCase:
        """The case of one job. `linked`: all jobs of the table, none of which is a control. Raises SourceError."""
        since = Millis(to_millis(subject.committed_at) - round(_reach_days(job) * DAY_MS))
        end = Millis(min(to_millis(until), 2 * to_millis(subject.committed_at) - since))
        names = self._collector.tables_read(subject.name, job.name, since, end)
        found, controls, load, histories = await asyncio.gather(
            self._collector.runs(subject.name, job.name, since, end),
            self._collector.controls(
                job.name, (each.name for each in linked), [subject.name], since, end, least=LEAST_CONTROL_RUNS
            ),
            job_series.load(self._jobs, job.name, since, end),
            self._histories(names, to_micros(since), to_micros(end)),
        )
        runs = [run for run in found if run.job == job.name and run.role == job.role] or of_job(found, job.name)
        return await asyncio.to_thread(
            _case, subject, job, _Collected(runs, controls, load.series, histories, to_micros(since))
        )

    async def events(self, subject: Subject, since: Micros, until: Micros) -> list[DatedEvent]:
        """Other events of the operation's own table. Raises SourceError."""
        found = await self._histories([subject.name], since, until)
        return await asyncio.to_thread(_all_events, found, subject, since)

    async def _histories(self, names: Sequence[TableName], start: Micros, end: Micros) -> list[History]:
        """Histories with the columns of events; the operation's table comes first. Raises SourceError."""
        lake = self._store.reading.lake
        uuids = [uuid for name in names if (uuid := lake.names.get(name)) is not None]
        if not uuids:
            return []
        view = await self._store.reach(start, tuple(uuids), EVENT_COLUMNS, end=end)
        if view.partial and view.error is not None:
            raise view.error.with_traceback(None)
        return [view.lake.histories[uuid] for uuid in uuids if uuid in view.lake.tables]


class _Collected(NamedTuple):
    runs: Sequence[RunRecord]
    controls: Controls
    load: LoadSeries | None
    histories: Sequence[History]
    since: Micros


def _reach_days(job: LinkedJob) -> float:
    """How far back RUNS_BEFORE runs reach at the job's pace, at most LONGEST_DAYS."""
    if not job.runs_24h:
        return LONGEST_DAYS
    return min(LONGEST_DAYS, max(SHORTEST_DAYS, SLACK * RUNS_BEFORE / job.runs_24h))


def _case(subject: Subject, job: LinkedJob, found: _Collected) -> JobCase:
    history = found.histories[0] if found.histories else None
    runs = sorted((run for run in found.runs if run.started_at is not None), key=lambda run: run.began)
    operation, runs = _by_reads(subject, history, runs)
    ended = [run for run in runs if run.status != RUNNING]
    events = _all_events(found.histories, subject, found.since)
    sizes = [run.read_bytes for run in ended]
    return JobCase(
        case=EffectCase(
            id=job.name,
            runs=EffectRuns(
                times=[to_millis(run.began) for run in ended],
                duration_seconds=[run.seconds if run.status == "ok" else None for run in ended],
                read_bytes=None if all(size is None for size in sizes) else sizes,
            ),
            operation=operation,
            controls=[_control(each) for each in found.controls.series],
            load=_load(found.load),
            others=[each.event for each in events],
        ),
        events=events,
        running=[to_millis(run.began) for run in runs if run.status == RUNNING],
        problem=found.controls.problem,
    )


def _by_reads(
    subject: Subject, history: History | None, runs: Sequence[RunRecord]
) -> tuple[EffectOperation, list[RunRecord]]:
    """The operation's two sides. Where runs report what they read, the later side begins with the first run that read
    the commit, and runs that still read an older state are on neither side.
    """
    started = subject.committed_at if subject.started_at is None else min(subject.started_at, subject.committed_at)
    # A run that started within the millisecond of the commit may be on either side.
    sides = EffectOperation(
        started_at=to_millis(started), committed_at=Millis(-(-subject.committed_at // MICROS_PER_MS))
    )
    if subject.snapshot_id is None or history is None:
        return sides, list(runs)
    first = first_reads(history, runs).get(subject.snapshot_id)
    if first is None:
        return sides, list(runs)
    ids = history.main_ids
    older = set(ids[: ids.index(subject.snapshot_id)]) if subject.snapshot_id in ids else set()
    after = Millis(NEVER) if first >= NEVER else Millis(max(sides.committed_at, int(first)))
    fresh = [run for run in runs if run.began < subject.committed_at or run.read_snapshot_id not in older]
    return msgspec.structs.replace(sides, committed_at=after), fresh


def _all_events(histories: Sequence[History], subject: Subject, since: Micros) -> list[DatedEvent]:
    found = (each for history in histories for each in _events(history, subject, since))
    return sorted(found, key=lambda each: each.event.at)


def _events(history: History, subject: Subject, since: Micros) -> Iterator[DatedEvent]:
    """Commits that main pointed at and schema changes, without the operation itself."""
    moved: dict[int, int] = {}
    for at, snapshot_id in history.main:
        moved.setdefault(snapshot_id, at)
    commits = history.between(since, Micros(2**62))
    schemas = history.schemas_changed(commits.first, commits.last)
    awaits_own = subject.is_schema_change and history.name == subject.name
    for place, row in enumerate(commits):
        mine = history.name == subject.name and row.snapshot_id == subject.snapshot_id
        if row.committed_at is None or mine or (moved and row.snapshot_id not in moved):
            continue
        t = to_millis(Micros(max(row.committed_at, moved.get(row.snapshot_id, 0))))
        kind = "schema" if schemas[place] else row.operation
        if kind == "schema" and awaits_own and row.committed_at >= subject.committed_at - SAME_CHANGE:
            awaits_own, kind = False, row.operation
        if kind in _KINDS:
            yield DatedEvent(OtherEvent(at=t, kind=cast(EventKind, kind)), row.snapshot_id)
    yield from (DatedEvent(OtherEvent(at=at, kind="overwrite"), None) for at in _rollbacks(history))


def _rollbacks(history: History) -> Iterator[Millis]:
    """Instants at which main returned to a snapshot that it had pointed at before."""
    seen: set[int] = set()
    for at, snapshot_id in history.main:
        if snapshot_id in seen:
            yield to_millis(at)
        seen.add(snapshot_id)


def _control(series: RunSeries) -> ControlJob:
    pairs = [
        (round(at), took) for at, took in zip(series.times, series.duration_seconds, strict=True) if at is not None
    ]
    return ControlJob(
        job=series.id or "", times=[Millis(at) for at, _ in pairs], duration_seconds=[took for _, took in pairs]
    )


def _load(series: LoadSeries | None) -> EffectLoad | None:
    if series is None:
        return None
    pairs = [(round(at), value) for at, value in zip(series.times, series.values, strict=True) if at is not None]
    return EffectLoad(times=[Millis(at) for at, _ in pairs], value=[value for _, value in pairs])


def at_mark(found: JobCase, mark: int) -> EffectCase:
    """The case as known when `mark` runs after the operation had ended: later runs, controls, load and events are left
    out, so that a repeated measurement sees the same data.
    """
    case = found.case
    late = [at for at in case.runs.times if at >= case.operation.committed_at]
    if len(late) <= mark:
        return case
    return until(case, Millis(late[mark]))


def until(case: EffectCase, end: Millis) -> EffectCase:
    """The case without anything that started at `end` or later."""
    runs, load = case.runs, case.load
    times, seconds = _before(end, runs.times, runs.duration_seconds)
    controls = [(each.job, *_before(end, each.times, each.duration_seconds)) for each in case.controls or ()]
    worked = _before(end, load.times, load.value) if load else None
    return msgspec.structs.replace(
        case,
        runs=EffectRuns(
            times=times,
            duration_seconds=seconds,
            read_bytes=None if runs.read_bytes is None else _before(end, runs.times, runs.read_bytes)[1],
        ),
        controls=[ControlJob(job=job, times=at, duration_seconds=took) for job, at, took in controls],
        load=EffectLoad(times=worked[0], value=worked[1]) if worked else None,
        others=[each for each in case.others or () if each.at < end],
    )


def _before(
    end: Millis, times: Sequence[Millis], values: Sequence[float | None]
) -> tuple[list[Millis], list[float | None]]:
    """Instants before `end`, and their values."""
    pairs = [(at, value) for at, value in zip(times, values, strict=True) if at < end]
    return [at for at, _ in pairs], [value for _, value in pairs]


def confounders(found: JobCase, case: EffectCase) -> list[str]:
    """Snapshot ids of other commits between the runs of the case that can change durations, newest first."""
    if not case.runs.times:
        return []
    first, last = min(case.runs.times), max(case.runs.times)
    inside: Iterable[DatedEvent] = (
        each for each in found.events if each.event.kind in CONFOUNDING and first <= each.event.at <= last
    )
    return [str(each.snapshot_id) for each in inside if each.snapshot_id is not None][::-1]
