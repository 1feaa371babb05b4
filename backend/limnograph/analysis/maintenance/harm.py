"""Runs of users' jobs that failed because maintenance committed first.

A row-level delete that was planned before a rewrite and commits after it fails with "missing data files"; Spark does
not retry it, and the job ends (ADR 51). Such a run began before the commit of the action, ended between the action's
lease and the last possible retry, writes the table, and its error names a conflict.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from limnograph.analysis.maintenance.history import DONE, in_order
from limnograph.domain.facts.events import ReportFact, RunFact
from limnograph.domain.facts.plans import PlanFact
from limnograph.domain.ids import TableName
from limnograph.domain.time import EPOCH, MICROS_PER_SECOND, Micros

UNKNOWN = "unknown job"
RETRIES_US = 1_800 * MICROS_PER_SECOND
"""`commit.retry.total-timeout-ms`: how long Iceberg retries a commit by default."""
UNKNOWN_SECONDS = 3_600.0
"""Duration of an action from its lease to its commit, if it is not known."""
_CONFLICT = re.compile(
    r"CommitFailed|ValidationException|missing (?:required |data )?files|[Cc]annot commit|[Cc]onflict"
    r"|new (?:position |equality )?deletes? for replaced|stale table metadata|was updated concurrently"
    r"|Concurrent(?:Append|DeleteRead|DeleteDelete|Modification|Transaction|Write)"
)
"""Signs of a refused commit in the messages of Iceberg, PyIceberg, Trino, Delta and deltalake."""


class ActionSpan(NamedTuple):
    """From the lease of an action to its last commit, on one table."""

    name: TableName
    location: str | None
    leased_at: Micros
    committed_at: Micros
    plan_id: str = ""


class HarmedRun(NamedTuple):
    """A run, or a commit without a run, that failed because of an action."""

    job: str
    failed_at: Micros
    run_id: str | None
    plan_id: str = ""


def spans_of(history: Iterable[PlanFact], name: TableName, location: str | None = None) -> list[ActionSpan]:
    """When actions on a table were at work, by transitions of its plans, oldest first."""
    found: dict[tuple[str, int | None], ActionSpan] = {}
    for each in in_order(history):
        key = (each.plan_id, each.attempt)
        if each.state in DONE and each.at is not None and key not in found:
            seconds = UNKNOWN_SECONDS if each.result_seconds is None else each.result_seconds
            leased_at = Micros(each.at - round(seconds * MICROS_PER_SECOND))
            found[key] = ActionSpan(name, location, leased_at, each.at, each.plan_id)
    return list(found.values())


def harmed_by_all(
    spans: Iterable[ActionSpan], runs: Sequence[RunFact], reports: Sequence[ReportFact] = ()
) -> list[HarmedRun]:
    """Runs that failed because of one of several actions, oldest first, each once. O(spans x (runs + reports))."""
    found: dict[tuple[str, Micros], HarmedRun] = {}
    for span in spans:
        for each in harmed_runs(span, runs, reports):
            found.setdefault((each.run_id or each.job, each.failed_at), each)
    return sorted(found.values(), key=lambda each: (each.failed_at, each.job))


def harmed_runs(span: ActionSpan, runs: Iterable[RunFact], reports: Iterable[ReportFact] = ()) -> list[HarmedRun]:
    """Runs that failed because of an action, oldest first, each once. `reports`: commits that engines reported; one of
    a run that is known counts only if this run failed. O(runs + reports).
    """
    known = {each.run_id: each for each in _last(runs)}
    found = {each.run_id: _harmed(span, each) for each in known.values() if _is_harmed(span, each)}
    jobs = {each.job for each in found.values()}
    for report in reports:
        if not _is_lost_commit(span, report) or report.at is None:
            continue
        run = known.get(report.run_id or "")
        if run is None and (report.job_name or "") not in jobs:
            found[report.event_id] = HarmedRun(report.job_name or UNKNOWN, report.at, report.run_id, span.plan_id)
        elif run is not None and run.status == "failed" and _is_within(span, run):
            found[run.run_id] = _harmed(span, run)
    return sorted(found.values(), key=lambda each: (each.failed_at, each.job))


def is_conflict(message: str | None) -> bool:
    """Whether an error message names a commit that another one prevented."""
    return message is not None and _CONFLICT.search(message) is not None


def _last(runs: Iterable[RunFact]) -> Sequence[RunFact]:
    """The end of each run, if it is known."""
    found: dict[str, RunFact] = {}
    for run in runs:
        if run.run_id not in found or run.status != "running":
            found[run.run_id] = run
    return list(found.values())


def _is_harmed(span: ActionSpan, run: RunFact) -> bool:
    return run.status == "failed" and _is_within(span, run) and _writes(span, run) and is_conflict(run.message)


def _is_within(span: ActionSpan, run: RunFact) -> bool:
    ended = run.ended_at if run.ended_at is not None else run.at
    if ended is None or not span.leased_at <= ended <= span.committed_at + RETRIES_US:
        return False
    # A run that began after the commit saw it: whatever it conflicts with is another commit.
    return run.started_at is None or run.started_at <= span.committed_at


def _writes(span: ActionSpan, run: RunFact) -> bool:
    return any(
        table.role == "writes"
        and (
            (table.catalog in {None, span.name.catalog} and (table.namespace, table.table) == span.name[1:])
            or (table.location is not None and table.location == span.location)
        )
        for table in run.tables or ()
    )


def _is_lost_commit(span: ActionSpan, report: ReportFact) -> bool:
    own = report.catalog in {None, span.name.catalog} and (report.namespace, report.table) == span.name[1:]
    if not own or report.outcome != "conflict" or report.at is None:
        return False
    return span.leased_at <= report.at <= span.committed_at + RETRIES_US


def _harmed(span: ActionSpan, run: RunFact) -> HarmedRun:
    ended = run.ended_at if run.ended_at is not None else run.at
    return HarmedRun(run.job_name or UNKNOWN, ended or EPOCH, run.run_id, span.plan_id)
