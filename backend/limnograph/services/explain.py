"""Why a job of a table changed: the question is made of the meta tables, runs and metrics, the engine answers it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from limnograph.analysis.explain import explain
from limnograph.domain.answers import CommitRow, LinkedJob
from limnograph.domain.explanations import (
    Case,
    Difference,
    ExplainPage,
    Explanation,
    Grade,
    Hypothesis,
    Label,
    Selection,
)
from limnograph.domain.ids import TableName
from limnograph.domain.time import MICROS_PER_MS
from limnograph.ports.clock import Clock
from limnograph.services.commits import commit_row
from limnograph.services.explain_baseline import DAY_MS, Windows, levels
from limnograph.services.explain_case import commits_of, controls_of, first_reads, series_of
from limnograph.services.explain_differences import differences
from limnograph.services.history import History
from limnograph.services.hot import HotStore
from limnograph.services.job_runs import JobRun
from limnograph.services.jobs import Jobs
from limnograph.services.labels import Labels, Said
from limnograph.services.table_histories import TableHistories

HISTORY_MS = 7 * DAY_MS
"""Commits from so long before the range tell what is usual for a table."""
MOST_TABLES = 50
AT_ONCE = 4
"""Tables whose runs one explanation asks at once: cold reads are few, and others need them too."""
NO_JOB = "No job of this table is known: add one in the settings, push its runs, or label its metrics."
NO_CONTROLS = "No other job's runs are known here: what other jobs felt too cannot be told apart from commits."


class _Known(NamedTuple):
    case: Case
    histories: list[History]
    reads_known: frozenset[str]
    notes: list[str]


class ExplainPages:
    """Explanations of `services/backend.py`."""

    def __init__(
        self,
        store: HotStore,
        jobs: Jobs,
        clock: Clock,
        labels: Labels,
    ) -> None:
        self._store, self._jobs, self._clock, self._labels = store, jobs, clock, labels
        self._tables = TableHistories(store, clock)

    async def say(self, name: TableName, said: Said, author: str) -> Label:
        """Keep what a person says about a commit. Raises NotFound, SourceError."""
        return await self._labels.accept(name, self._tables.now(name).uuid, said, author)

    async def page(self, name: TableName, asked: Windows, job: str | None) -> ExplainPage:
        """Raises NotFound, SourceError."""
        uuid, end = self._tables.now(name).uuid, asked.end
        since = asked.since
        linked = await self._jobs.of_table(name, min(end, self._clock.now() // MICROS_PER_MS))
        labels = await self._store.reads.ask(self._labels.of_table, uuid, asked.start, end)
        chosen = _chosen(linked, job)
        if chosen is None:
            self._raise_if_unknowable()
            return self._unknown_job(name, job, asked, labels)
        runs = await self._jobs.runs_between(name, chosen.name, since, end)
        names = self._read_by(name, chosen.name, since, end)
        others = await self._runs_of(names[1:], since * MICROS_PER_MS, end * MICROS_PER_MS)
        read = [_of_job(found, chosen.name) for found in (runs, *others)]
        known = await self._store.reads.ask(self._asked, names, read, chosen.name, asked)
        answer, different = await asyncio.to_thread(_worked_out, known, asked)
        here, there = levels(asked, read[0])
        return ExplainPage(
            job=chosen.name,
            start=asked.start,
            end=end,
            since=since,
            selected=here,
            baseline=there,
            runs=len(known.case.job.times),
            controls=len(known.case.controls or ()),
            tables=[str(each) for each in names],
            explanation=_graded(answer, known, chosen),
            suspects=_suspects(answer, known.histories),
            differences=different,
            labels=[label for label in labels if label.job_name in {None, chosen.name}],
            notes=[*known.notes, *self._missing()],
            watermark=self._known_until(name),
        )

    def _raise_if_unknowable(self) -> None:
        """That no job is known means nothing while metrics, which may know one, do not answer. Raises SourceError."""
        metrics = self._jobs.metrics
        if metrics is not None and (error := metrics.last_error) is not None:
            raise error.with_traceback(None)

    def _missing(self) -> list[str]:
        metrics = self._jobs.metrics
        if metrics is None or metrics.last_error is None:
            return []
        return [f"Metrics did not answer ({metrics.last_error.detail}): runs that only they saw are missing."]

    def _known_until(self, name: TableName) -> int | None:
        watermark = self._store.known_until(name)
        return None if watermark is None else watermark // MICROS_PER_MS

    def _unknown_job(self, name: TableName, job: str | None, asked: Windows, labels: list[Label]) -> ExplainPage:
        here, there = levels(asked, [])
        verdict = NO_JOB if job is None else f"No job {job} of this table is known."
        return ExplainPage(
            job=job,
            start=asked.start,
            end=asked.end,
            since=asked.since,
            selected=here,
            baseline=there,
            runs=0,
            controls=0,
            tables=[],
            explanation=Explanation("", [], [Hypothesis("none", 1.0)], [], verdict, "none"),
            suspects=[],
            differences=[],
            labels=labels,
            notes=[],
            watermark=self._known_until(name),
        )

    async def _runs_of(self, names: Sequence[TableName], start: int, end: int) -> list[list[JobRun]]:
        """Runs on each of some tables, a few tables at a time. Instants epoch microseconds."""
        free = asyncio.Semaphore(AT_ONCE)

        async def asked(name: TableName) -> list[JobRun]:
            async with free:
                return await self._jobs.runs.of_table(name, start, end)

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(asked(each)) for each in names]
        return [task.result() for task in tasks]

    def _read_by(self, name: TableName, job: str, start: int, end: int) -> list[TableName]:
        """The table itself first, then the others that settings or runs say the job reads."""
        listed = {table.name for table in self._store.reading.lake.listed if table.name is not None}
        read = {each for each in listed if self._jobs.reads(job, each)}
        for run in self._jobs.runs.between(start * MICROS_PER_MS, end * MICROS_PER_MS):
            if run.job_name == job:
                read.update(
                    TableName(table.catalog or "", table.namespace or "", table.table or "")
                    for table in run.tables or ()
                    if table.role == "reads"
                )
        return [name, *sorted(each for each in read & listed if each != name)][:MOST_TABLES]

    def _asked(self, names: list[TableName], read: list[list[JobRun]], job: str, asked: Windows) -> _Known:
        """The case of a job. Blocks. Raises SourceError."""
        start, end = asked.start, asked.end
        since = min(asked.since, start - HISTORY_MS) * MICROS_PER_MS
        histories, commits, known, notes = [], [], set(), []
        for name, runs in zip(names, read, strict=True):
            history = self._tables.since(name, since)
            histories.append(history)
            read_first = first_reads(history, runs)
            commits += commits_of(history, since, end * MICROS_PER_MS, read_first)
            if read_first:
                known.add(str(history.name))
        others = self._jobs.runs.between(asked.since * MICROS_PER_MS, end * MICROS_PER_MS)
        controls = controls_of(others, job, frozenset(names))
        if not controls:
            notes.append(NO_CONTROLS)
        case = Case(
            id=f"{names[0]}/{job}",
            job=series_of(job, read[0]),
            controls=controls,
            commits=commits,
            selection=Selection(float(start), float(end)),
        )
        return _Known(case, histories, frozenset(known), notes)


def _chosen(linked: Sequence[LinkedJob], job: str | None) -> LinkedJob | None:
    readers = [each for each in linked if each.role == "reads"]
    if job is None:
        return next(iter(readers or linked), None)
    return next((each for each in (*readers, *linked) if each.name == job), None)


def _of_job(runs: Sequence[JobRun], job: str) -> list[JobRun]:
    """The job's runs as a reader; all of its runs where none says that it reads."""
    mine = [run for run in runs if run.job == job]
    return [run for run in mine if run.role == "reads"] or mine


def _worked_out(known: _Known, asked: Windows) -> tuple[Explanation, list[Difference]]:
    return explain(known.case), differences(asked, known.histories)


def _graded(answer: Explanation, asked: _Known, linked: LinkedJob) -> Explanation:
    """Each suspect with what links it to the job."""
    declared: Grade = "temporal" if linked.role != "reads" else "declared"
    found = []
    for each in answer.hypotheses:
        grade: Grade | None = None
        if each.kind == "commit":
            grade = "exact" if each.table in asked.reads_known else declared
        found.append(msgspec.structs.replace(each, grade=grade))
    return msgspec.structs.replace(answer, hypotheses=found)


def _suspects(answer: Explanation, histories: Sequence[History]) -> list[CommitRow]:
    """The commits that are named, as lists show them."""
    wanted = {each.commit_id: each.table for each in answer.hypotheses if each.commit_id is not None}
    by_name = {str(history.name): history for history in histories}
    found = []
    for commit_id, table in wanted.items():
        history = by_name.get(table or "")
        row = history.snapshots.get(int(commit_id)) if history else None
        if history is not None and row is not None:
            found.append(commit_row(history, row))
    return found
