"""Builds the question for the engine: the case of a job, from meta tables, runs, metrics and labels."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from limnograph.domain.answers.explanations import Case, CaseCommit, Label, Selection
from limnograph.domain.answers.tables import LinkedJob
from limnograph.domain.facts.events import LabelFact
from limnograph.domain.ids import TableName
from limnograph.domain.time import Micros, Millis, to_micros
from limnograph.services.explain.baseline import DAY_MS, Windows
from limnograph.services.explain.case import commits_of, series_of, writer_of
from limnograph.services.explain.label_weights import Kind, Words, newest
from limnograph.services.explain.labels import Labels, counting
from limnograph.services.jobs import series as job_series
from limnograph.services.jobs.collecting import JobCollector, of_job
from limnograph.services.jobs.controls import Controls
from limnograph.services.jobs.discovery import Jobs
from limnograph.services.jobs.first_reads import first_reads
from limnograph.services.jobs.run_log import RunRecord
from limnograph.services.jobs.series import QueryResult as ToldSeries
from limnograph.services.jobs.signals import Signal
from limnograph.services.lake.history import History
from limnograph.services.lake.store import HotStore
from limnograph.services.table.histories import TableHistories

HISTORY_MS = 7 * DAY_MS
"""Commits within this time before the range show what is typical for a table."""
AT_ONCE = 4
"""Tables whose runs one explanation reads concurrently. Cold reads are limited and shared with other pages."""
NO_CONTROLS = (
    "Runs of other jobs are unknown: effects that are common to all jobs cannot be distinguished from those of commits."
)
NO_ANSWER = "Prometheus did not respond ({}): changes in other jobs are unknown."
NO_LOAD = "Prometheus did not respond ({}): the job's load is unknown."


class ExplainQuestion(NamedTuple):
    """A case and what its page shows.

    `reads_known`: table and id of each commit for which it is known which run read it first
    `used`: resources of the job, which are shown but not weighed
    `notes`: what is missing
    """

    case: Case
    runs: list[RunRecord]
    histories: list[History]
    reads_known: frozenset[tuple[str, str]]
    words: Words
    used: Mapping[Signal, ToldSeries]
    notes: list[str]


class QuestionScope(NamedTuple):
    """The job, the table, the range, and all labels of the table."""

    name: TableName
    job: LinkedJob
    linked: Sequence[LinkedJob]
    windows: Windows
    said: Sequence[LabelFact]


class _Beside(NamedTuple):
    """Data that the job is compared with."""

    others: Controls
    load: ToldSeries
    used: Mapping[Signal, ToldSeries]


class Questions:
    """Collects the job's runs, other jobs and commits from their sources. Immutable after construction."""

    def __init__(self, store: HotStore, jobs: Jobs, tables: TableHistories, labels: Labels) -> None:
        self._store, self._jobs, self._tables, self._labels = store, jobs, tables, labels
        self._collector = JobCollector(store, jobs)

    async def question(self, asked: QuestionScope) -> ExplainQuestion:
        """Raises NotFound, SourceError."""
        job, since, end = asked.job.name, asked.windows.since, asked.windows.end
        names = self._collector.tables_read(asked.name, job, since, end)
        runs, elsewhere, others, worked, used = await asyncio.gather(
            self._collector.runs(asked.name, job, since, end),
            self._runs_of(names[1:], to_micros(since), to_micros(end)),
            self._collector.controls(job, (each.name for each in asked.linked), names, since, end),
            job_series.load(self._jobs, job, since, end),
            job_series.signals(self._jobs, job, since, end),
        )
        read = [of_job(found, job) for found in (runs, *elsewhere)]
        return await self._store.reads.ask(self._made, asked, names, read, _Beside(others, worked, used))

    async def _runs_of(self, names: Sequence[TableName], start: Micros, end: Micros) -> list[list[RunRecord]]:
        """Runs on each table, a few tables at a time. Instants are epoch microseconds."""
        free = asyncio.Semaphore(AT_ONCE)

        async def asked(name: TableName) -> list[RunRecord]:
            async with free:
                return await self._jobs.runs.of_table(name, start, end)

        return await asyncio.gather(*map(asked, names))

    def _made(
        self, asked: QuestionScope, names: list[TableName], read: list[list[RunRecord]], beside: _Beside
    ) -> ExplainQuestion:
        """The question for the engine. Blocks. Raises SourceError."""
        start, end = asked.windows.start, asked.windows.end
        since = to_micros(min(asked.windows.since, start - HISTORY_MS))
        histories: list[History] = []
        known: set[tuple[str, str]] = set()
        commits: list[CaseCommit] = []
        for name, runs in zip(names, read, strict=True):
            history = self._tables.since(name, since)
            histories.append(history)
            read_first = first_reads(history, runs)
            commits += commits_of(history, since, to_micros(end), read_first)
            known.update((str(history.name), str(snapshot_id)) for snapshot_id in read_first)
        case = Case(
            id=f"{names[0]}/{asked.job.name}",
            job=series_of(asked.job.name, read[0]),
            controls=beside.others.series,
            load=beside.load.series,
            commits=commits,
            selection=Selection(float(start), float(end)),
        )
        words = self._words(asked, histories, commits)
        return ExplainQuestion(case, read[0], histories, frozenset(known), words, beside.used, _notes(beside))

    def _words(self, asked: QuestionScope, histories: Sequence[History], commits: Sequence[CaseCommit]) -> Words:
        """Labels on the suspects of this range, and on all commits of a known kind. Blocks."""
        past = counting(asked.said, Millis(0), asked.windows.end)
        if not past:
            return Words({}, [], {})
        kinds: dict[str, Kind] = {each.id: (each.table, each.operation, each.app_id) for each in commits}
        if elsewhere := [int(each.snapshot_id) for each in past if each.snapshot_id not in kinds]:
            table, rows = str(histories[0].name), self._labels.rows(histories[0].uuid, elsewhere)
            kinds.update((str(row.snapshot_id), (table, row.operation, writer_of(row))) for row in rows)
        return Words(newest(_of_this_job(asked)), past, kinds)


def _of_this_job(asked: QuestionScope) -> list[Label]:
    said = counting(asked.said, asked.windows.start, asked.windows.end)
    return [each for each in said if each.job_name in {None, asked.job.name}]


def _notes(beside: _Beside) -> list[str]:
    others, load, _ = beside
    notes = []
    if others.problem is not None:
        notes.append(NO_ANSWER.format(others.problem))
    elif not others.series:
        notes.append(NO_CONTROLS)
    if load.problem is not None:
        notes.append(NO_LOAD.format(load.problem))
    return notes
