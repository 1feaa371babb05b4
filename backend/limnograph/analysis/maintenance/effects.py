"""What the effect ledger says about the commits of plans."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from limnograph.analysis.maintenance.history import results
from limnograph.domain.facts.effects import EffectFact
from limnograph.domain.facts.plans import PlanFact
from limnograph.domain.time import Micros

_WORST_FIRST = ("worse", "helped", "none")
"""Verdicts that decide about a plan with several jobs: one that is slower weighs most; help for one job is help."""


class MeasuredOutcome(NamedTuple):
    """The verdict on the effect of a plan, over all jobs that were measured: `worse`, `helped`, `none` or `unknown`."""

    plan_id: str
    rule: str
    verdict: str
    job: str
    measured_at: Micros | None = None


def measured_outcomes(history: Sequence[PlanFact], effects: Iterable[EffectFact]) -> list[MeasuredOutcome]:
    """Of the plans whose commits were measured, oldest first. `history`: transitions. Of each job, the measurement with
    the most runs counts. An expiry has no commit that carries its plan, and none is returned for it.
    """
    by_commit: dict[tuple[str, str], dict[tuple[str, str], EffectFact]] = {}
    for each in effects:
        jobs = by_commit.setdefault((each.table_uuid, each.operation_id), {})
        last = jobs.get((each.job_name, each.measure))
        if last is None or last.runs_after < each.runs_after:
            jobs[each.job_name, each.measure] = each
    found = []
    for fact in results(history):
        commits = [by_commit.get((fact.table_uuid or "", str(each)), {}) for each in fact.snapshot_ids or ()]
        measured = [each for jobs in commits for each in jobs.values()]
        if measured:
            found.append(_outcome(fact, measured))
    return found


def _outcome(fact: PlanFact, measured: Sequence[EffectFact]) -> MeasuredOutcome:
    at = max((each.measured_at for each in measured if each.measured_at is not None), default=None)
    for verdict in _WORST_FIRST:
        jobs = [each.job_name for each in measured if each.verdict == verdict]
        if jobs and (verdict != "none" or len(jobs) == len(measured)):
            return MeasuredOutcome(fact.plan_id, fact.rule or "", verdict, jobs[0] or "scans", at)
    return MeasuredOutcome(fact.plan_id, fact.rule or "", "unknown", measured[0].job_name, at)
