"""The page of an explanation: builds a job's case from the meta tables, runs and metrics, and runs the engine."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from limnograph.analysis.explain import explain
from limnograph.analysis.explain.ranking import WORDS
from limnograph.domain.answers.commits import CommitRow
from limnograph.domain.answers.explanations import (
    ChangeBounds,
    Difference,
    ExplainPage,
    Explanation,
    Grade,
    Hypothesis,
    Label,
)
from limnograph.domain.answers.findings import Finding
from limnograph.domain.answers.tables import LinkedJob
from limnograph.domain.answers.timeline import LaneQuery
from limnograph.domain.errors import SourceError
from limnograph.domain.facts.events import LabelFact
from limnograph.domain.ids import TableName
from limnograph.domain.secrecy import placeless
from limnograph.domain.time import Millis, to_micros, to_millis
from limnograph.ports.clock import Clock
from limnograph.services.explain.around import around
from limnograph.services.explain.baseline import Windows, levels
from limnograph.services.explain.differences import differences
from limnograph.services.explain.label_weights import weighed
from limnograph.services.explain.labels import LabelInput, Labels, counting
from limnograph.services.explain.pending import pending, told
from limnograph.services.explain.queries import queries
from limnograph.services.explain.question import ExplainQuestion, Questions, QuestionScope
from limnograph.services.explain.signals import told_against
from limnograph.services.findings.of_pages import JobRange, finding_of_job
from limnograph.services.findings.pages import FindingPages
from limnograph.services.jobs.discovery import Jobs
from limnograph.services.lake.history import History
from limnograph.services.lake.store import HotStore
from limnograph.services.sources.metrics import PAGE_S, page_budget
from limnograph.services.table.commit_list import commit_row
from limnograph.services.table.histories import TableHistories

METRICS_S = PAGE_S
"""Time limit of all metrics queries of one explanation."""
SURE_FROM: dict[str, float] = {word: least for least, word in WORDS}
LABELS_S = 2.0
"""Longest wait for labels: an explanation without them is better than none."""
UNHEARD = "Labels could not be read in time and are missing."
NO_JOB = "No job is known for this table: add one in the settings, push its runs, or label its metrics."


class ExplainContext(NamedTuple):
    """`labels`: what users said about commits; `meta`: namespace of the meta tables in SQL."""

    labels: Labels
    findings: FindingPages
    meta: str = "limnograph"


class ExplainPages:
    """Explains why a job of a table changed, and stores users' labels on commits. Immutable after construction."""

    def __init__(self, store: HotStore, jobs: Jobs, clock: Clock, context: ExplainContext) -> None:
        self._store, self._jobs, self._clock = store, jobs, clock
        self._labels, self._findings, self._meta = context
        self._tables = TableHistories(store, clock)
        self._questions = Questions(store, jobs, self._tables, self._labels)

    async def say(self, name: TableName, said: LabelInput, author: str) -> Label:
        """Store a user's label on a commit. Raises NotFound, SourceError."""
        return await self._labels.accept(name, self._tables.now(name).uuid, said, author)

    async def page(self, name: TableName, asked: Windows, job: str | None) -> ExplainPage:
        """Raises NotFound, SourceError. Metrics that exceed the page's deadline are missing, with a note."""
        uuid = self._tables.now(name).uuid
        with self._store.reads.page():
            said = await self._said(uuid)
            labels = counting(said or [], asked.start, asked.end)
            with page_budget(METRICS_S):
                linked = await self._jobs.of_table(name, min(asked.end, to_millis(self._clock.now())))
                chosen = _chosen(linked, job)
                if chosen is None:
                    self._raise_if_unknowable()
                    return self._unknown_job(name, job, asked, labels)
                matchers = self._jobs.matchers(name, chosen.name, chosen.role) if self._jobs.metrics else None
                known = await self._questions.question(QuestionScope(name, chosen, linked, asked, said or []))
        answer, beside, different = await asyncio.to_thread(_worked_out, known, asked)
        here, there = levels(asked, known.runs)
        waits = pending(asked, known.runs, known.case.commits or ())
        return ExplainPage(
            job=chosen.name,
            start=asked.start,
            end=asked.end,
            since=asked.since,
            selected=here,
            baseline=there,
            runs=len(known.case.job.times),
            controls=len(known.case.controls or ()),
            tables=[str(history.name) for history in known.histories],
            explanation=told(_graded(answer, known, chosen), waits, chosen.name),
            suspects=_suspects(answer, known.histories),
            around=beside,
            differences=different,
            labels=[label for label in labels if label.job_name in {None, chosen.name}],
            notes=[*known.notes, *self._missing(), *([UNHEARD] if said is None else [])],
            watermark=self._known_until(name),
            pending=waits,
            finding=self._finding(_range_of(asked, chosen.name, answer, known)),
            queries=queries(matchers, known.histories, asked, self._meta),
            sure_from=SURE_FROM,
        )

    async def _said(self, uuid: str) -> list[LabelFact] | None:
        """All labels of the table; None if they cannot be read in time."""
        try:
            async with asyncio.timeout(LABELS_S):
                return await self._store.reads.ask(self._labels.of_table, uuid)
        except (SourceError, TimeoutError):
            return None

    def _raise_if_unknowable(self) -> None:
        """Raises SourceError if metrics do not respond: they may know a job although none is known here."""
        metrics = self._jobs.metrics
        if metrics is not None and (error := metrics.last_error) is not None:
            raise error.with_traceback(None)

    def _finding(self, asked: JobRange) -> Finding | None:
        return finding_of_job(self._findings.board, asked, self._findings.shown)

    def _missing(self) -> list[str]:
        metrics = self._jobs.metrics
        if metrics is None or metrics.last_error is None:
            return []
        detail = placeless(metrics.last_error.detail)
        return [f"Prometheus did not respond ({detail}): runs known only from metrics are missing."]

    def _known_until(self, name: TableName) -> Millis | None:
        watermark = self._store.known_until(name)
        return to_millis(watermark)

    def _unknown_job(self, name: TableName, job: str | None, asked: Windows, labels: list[Label]) -> ExplainPage:
        here, there = levels(asked, [])
        verdict = NO_JOB if job is None else f"Job {job} is unknown for this table."
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
            around=[],
            differences=[],
            labels=labels,
            notes=[],
            watermark=self._known_until(name),
            pending=None,
            finding=None,
            queries=LaneQuery(),
            sure_from=SURE_FROM,
        )


def _chosen(linked: Sequence[LinkedJob], job: str | None) -> LinkedJob | None:
    readers = [each for each in linked if each.role == "reads"]
    if job is None:
        return next(iter(readers or linked), None)
    return next((each for each in (*readers, *linked) if each.name == job), None)


def _range_of(asked: Windows, job: str, answer: Explanation, known: ExplainQuestion) -> JobRange:
    tables = [history.name for history in known.histories if history.name is not None]
    return JobRange(job, to_micros(asked.start), to_micros(asked.end), answer.blamed, tables)


def _worked_out(known: ExplainQuestion, asked: Windows) -> tuple[Explanation, list[ChangeBounds], list[Difference]]:
    case = known.case
    answer = weighed(explain(case), known.words)
    beside = around(answer.changes, case.job, case.controls or (), case.load, known.used)
    committed = {each.id: Millis(each.committed_at) for each in case.commits or () if each.committed_at is not None}
    return told_against(answer, beside, committed), beside, differences(asked, known.histories)


def _graded(answer: Explanation, asked: ExplainQuestion, linked: LinkedJob) -> Explanation:
    """The explanation with a grade on each suspect: how its link to the job is known."""
    declared: Grade = "temporal" if linked.role != "reads" else "declared"
    found = []
    for each in answer.hypotheses:
        grade: Grade | None = None
        if each.kind == "commit":
            grade = "exact" if (each.table, each.commit_id) in asked.reads_known else declared
        found.append(msgspec.structs.replace(each, grade=grade))
    return msgspec.structs.replace(answer, hypotheses=found)


def _suspects(answer: Explanation, histories: Sequence[History]) -> list[CommitRow]:
    """The rows of the named commits, as in lists."""
    wanted = {each.commit_id: each.table for each in answer.hypotheses if each.commit_id is not None}
    by_name = {str(history.name): history for history in histories}
    found = []
    for commit_id, table in wanted.items():
        history = by_name.get(table or "")
        row = history.snapshots.get(int(commit_id)) if history else None
        if history is not None and row is not None:
            found.append(commit_row(history, row))
    return found
