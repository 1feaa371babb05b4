"""Runs one approved plan under the lease of its table: plan again, decide, guard, run, verify, record."""

from __future__ import annotations

import time
from collections.abc import Sequence

from limnograph.analysis.maintenance.decision import PlanApproval
from limnograph.analysis.maintenance.guards.every import may_hold_later, unsatisfied
from limnograph.domain.errors import (
    ActionCancelled,
    ActionConflict,
    InvalidInput,
    LeaseLost,
    MetadataError,
    NotFound,
    SourceError,
)
from limnograph.domain.facts.plans import PlanFact
from limnograph.domain.ids import TableName
from limnograph.domain.maintenance.actions import REWRITING
from limnograph.domain.maintenance.leases import BudgetSpent, TableLease
from limnograph.domain.maintenance.policy import DAY_US, PolicyRule
from limnograph.domain.maintenance.states import PlanState
from limnograph.domain.time import MICROS_PER_SECOND, Micros
from limnograph.ports.plan_states import BudgetLimits
from limnograph.ports.table_maintainer import ActionOutcome, OpenedTable
from limnograph.services.maintenance import problems as codes
from limnograph.services.maintenance.judging import PlanJudge
from limnograph.services.maintenance.lease_keeper import LeaseKeeper
from limnograph.services.maintenance.parts import ExecutorParts
from limnograph.services.maintenance.plan_progress import PlanProgress
from limnograph.services.maintenance.planning import ExactPlan, PlannedTable
from limnograph.services.maintenance.report import PlanReport, report_of
from limnograph.services.maintenance.requests import request_of
from limnograph.services.maintenance.settling import ActionEnd, PlanSettling
from limnograph.services.maintenance.verification import CheckedAction, stamp_of

SECONDS_PER_HOUR = 3_600
STOPPED = "the executor was stopped"
GUARD_US = 900 * MICROS_PER_SECOND
"""After which a guard that may hold later, or what has no time of its own, is checked again, microseconds."""
UNREADABLE_US = 300 * MICROS_PER_SECOND
"""After which a table that could not be read is tried again, microseconds."""
_FINAL = (ActionConflict, ActionCancelled, InvalidInput, MetadataError, NotFound, SourceError)


class PlanRunner:
    """Immutable after construction; one call per table at a time, because its lease is taken."""

    def __init__(self, parts: ExecutorParts, judge: PlanJudge, settling: PlanSettling) -> None:
        self._parts, self._judge, self._settling = parts, judge, settling

    def run(self, name: TableName, rule: PolicyRule, fact: PlanFact) -> PlanReport:
        """Run it, or record why not. Raises LeaseLost, SourceError: the next holder of the lease reads the stamps."""
        parts = self._parts
        is_own = self._continues(fact.table_uuid or "")
        lease = parts.states.acquire(fact.table_uuid or "", parts.executor_id, fact.plan_id)
        if lease is None:
            return report_of(fact, name, "Another executor holds the lease of the table.", "wait")
        with LeaseKeeper(parts.states, lease, parts.timing, end=parts.end) as keeper:
            progress = PlanProgress(parts.states, fact, keeper, parts.stopping)
            try:
                text = self._held(name, rule, progress, lease, is_own=is_own)
            except ActionCancelled:
                progress.enter("cancelled", problem=codes.CANCELLED, reason="a user cancelled it before it ran")
                text = "A user cancelled it before it ran."
            except (MetadataError, NotFound, SourceError) as error:
                if progress.fact.state not in {"leased", "checking"}:
                    raise
                retry_at = Micros(parts.states.now() + UNREADABLE_US)
                text = self._end(progress, "queued", codes.UNREADABLE, str(error), retry_at)
            parts.failpoints.reach("maintain.measured")
            return report_of(progress.fact, name, text)

    def _continues(self, table_uuid: str) -> bool:
        """Whether the table's lease was this executor's before it was started again: no one else acts on the table."""
        own = self._parts.executor_id
        return any(each.table_uuid == table_uuid and each.executor_id == own for each in self._parts.states.holders())

    def _held(
        self, name: TableName, rule: PolicyRule, progress: PlanProgress, lease: TableLease, *, is_own: bool
    ) -> str | None:
        """Returns a sentence about the result. The state is recorded."""
        parts = self._parts
        approval = self._judge.approval_of(progress.fact)
        try:
            progress.enter(
                "leased", executor_id=parts.executor_id, application_id=parts.application_id, policy=rule.name
            )
        except LeaseLost as moved:  # a user withdrew it, or another executor was faster
            return f"Another program changed the plan first: {moved}"
        parts.failpoints.reach("maintain.leased")
        parts.progress(f"{name}: {progress.fact.action} {progress.fact.plan_id[:8]} leased")
        if lease.taken_over and not is_own:
            parts.pause(parts.timing.grace_s)
        progress.enter("checking")
        return self._checked(parts.maintainer.open(name), rule, progress, lease, approval)

    def _checked(
        self, opened: OpenedTable, rule: PolicyRule, progress: PlanProgress, lease: TableLease, approval: PlanApproval
    ) -> str | None:
        """Plan again, decide and run."""
        parts, name = self._parts, opened.name
        if opened.table_uuid != lease.table_uuid:
            text = f"The catalog's table {name} is another one than at approval: its uuid is {opened.table_uuid}."
            return self._end(progress, "superseded", codes.ANOTHER_TABLE, text)
        if parts.maintainer.stamped(opened, stamp_of(progress.fact)):
            progress.enter("unknown", reason="the table contains commits of it already")
            return self._settling.resume(progress, opened)
        planned = parts.planner.plan(
            opened, rule, parts.states.now(), listing=progress.fact.action == "remove_orphan_files"
        )
        exact = parts.planner.approved(planned, progress.fact, rule)
        if exact is None:
            text = "The table changed, or the rules do not recommend it: it is not due with these arguments."
            return self._end(progress, "superseded", codes.PLAN_MOVED, text)
        parts.failpoints.reach("maintain.planned")
        if (why := self._forbidden(progress, planned, exact, approval)) is not None:
            return why
        if parts.stopping():
            return self._end(progress, "queued", codes.INTERRUPTED, STOPPED)
        return self._executed(progress, planned, exact)

    def _forbidden(
        self, progress: PlanProgress, planned: PlannedTable, exact: ExactPlan, approval: PlanApproval
    ) -> str | None:
        """Why it may not run now, which is recorded; None: it may."""
        decision = self._judge.decide(planned, exact, approval, progress.fact)
        if decision.verdict == "wait":
            retry_at = decision.retry_at or Micros(self._parts.states.now() + GUARD_US)
            return self._end(progress, "queued", decision.code, decision.text, retry_at)
        if decision.verdict != "run":
            return self._end(progress, "refused", decision.code, decision.text)
        unmet = unsatisfied(self._judge.guards(planned, exact, approval))
        if unmet:
            text, retry_at = " ".join(each.text for each in unmet), Micros(self._parts.states.now() + GUARD_US)
            state: PlanState = "queued" if may_hold_later(unmet) else "refused"
            codes_of = [each.code for each in unmet]
            retry = retry_at if state == "queued" else None
            return self._end(progress, state, unmet[0].code, text, retry, guards=codes_of)
        if not self._spent(exact, self._parts.states.now()):
            now = self._parts.states.now()
            tomorrow = Micros(now - now % DAY_US + DAY_US)
            return self._end(progress, "queued", "budget", "The budget of the day is spent.", tomorrow)
        return None

    def _spent(self, exact: ExactPlan, now: Micros) -> bool:
        """Add the plan to the day's budget, which other executors share."""
        predicted, policy = exact.plan.predicted, self._parts.policy
        adds = BudgetSpent(
            day=now // DAY_US,
            bytes=(predicted.bytes_in or 0) if exact.plan.action in REWRITING else 0,
            cost=predicted.cost.mid if predicted.cost else 0.0,
        )
        return self._parts.states.spend(adds, BudgetLimits(policy.bytes_per_day, policy.max_cost_per_day))

    def _executed(self, progress: PlanProgress, planned: PlannedTable, exact: ExactPlan) -> str | None:
        parts, opened = self._parts, planned.opened
        request = request_of(stamp_of(progress.fact), exact.plan, exact.where, planned.older_than_ms)
        if opened.format == "iceberg" and exact.plan.partitions and exact.where is None:
            text = "No condition selects exactly the partitions of the plan."
            return self._end(progress, "refused", codes.NO_CONDITION, text)
        progress.enter("running", base_snapshot_id=opened.head_id, base_metadata_location=opened.metadata_location)
        parts.progress(f"{opened.name}: {exact.plan.action} {exact.plan_id[:8]} runs")
        began_at, outcome, error = time.monotonic(), ActionOutcome(), None
        try:
            outcome = parts.maintainer.run(opened, request, parts.failpoints.reach, progress.is_cancelled)
        except _FINAL as failure:
            error = failure
        seconds = time.monotonic() - began_at
        end = ActionEnd(CheckedAction(exact.plan, planned.reading), exact.where, outcome, error, seconds)
        return self._settling.settle(progress, opened.name, end)

    def _end(
        self,
        progress: PlanProgress,
        state: PlanState,
        code: str,
        text: str,
        retry_at: Micros | None = None,
        *,
        guards: Sequence[str] = (),
    ) -> str:
        """Record that it does not run now."""
        progress.enter(state, problem=code, reason=text, not_before=retry_at, guards=list(guards))
        return text
