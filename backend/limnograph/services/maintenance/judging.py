"""Whether a plan may run: the policy's decision and the guards, with the facts that they need."""

from __future__ import annotations

from typing import NamedTuple

from limnograph.analysis.maintenance.decision import (
    ActionDecision,
    DecisionFacts,
    PlanApproval,
    decide,
    decisions,
)
from limnograph.analysis.maintenance.limits import mode_of
from limnograph.domain.facts.plans import PlanFact
from limnograph.domain.maintenance.leases import MaintenanceBreaker
from limnograph.domain.maintenance.policy import DAY_US, MaintenancePolicy, PolicyRule
from limnograph.domain.time import Micros
from limnograph.ports.clock import Clock
from limnograph.ports.plan_states import PlanStates
from limnograph.services.maintenance import problems as codes
from limnograph.services.maintenance.planning import ExactPlan, PlannedTable

MOST_SKEW_US = 300_000_000
"""Difference between this machine's clock and the database's above which nothing is executed: one of them decides what
is old, the other one when files were modified.
"""


class ConflictRetry(NamedTuple):
    """When a plan is retried after a conflict. `breaker`: to open, if it was one too many."""

    not_before: Micros
    breaker: MaintenanceBreaker | None = None


class PlanJudge:
    """Immutable after construction. Methods block, and raise SourceError."""

    def __init__(self, policy: MaintenancePolicy, states: PlanStates, clock: Clock) -> None:
        self._policy, self._states, self._clock = policy, states, clock

    def approval_of(self, fact: PlanFact) -> PlanApproval:
        """Who approved a plan. When it is queued, the time of that counts: it is not earlier than the approval."""
        return PlanApproval(fact.approved_by, fact.at, fact.proposed_by)

    def decide(
        self, table: PlannedTable, exact: ExactPlan, approval: PlanApproval | None, fact: PlanFact | None
    ) -> ActionDecision:
        """The decision. `approval` None: it is not approved."""
        if (skew := self._skew()) is not None:
            return ActionDecision("wait", codes.SKEWED, skew, None)
        return decide(self._facts(table, exact, approval, fact))

    def objections(
        self, table: PlannedTable, exact: ExactPlan, approval: PlanApproval | None, fact: PlanFact | None
    ) -> list[ActionDecision]:
        """Everything that stands against a plan, for a dry run."""
        skew = self._skew()
        first = [] if skew is None else [ActionDecision("wait", codes.SKEWED, skew, None)]
        return [*first, *decisions(self._facts(table, exact, approval, fact))]

    def after_conflict(self, fact: PlanFact) -> ConflictRetry:
        """When a plan is tried again after another writer was first."""
        now = self._states.now()
        count = sum(
            1 for each in self._states.plans(table_uuids=[fact.table_uuid or ""]) if each.problem == codes.CONFLICT
        )
        delay_us = min(self._policy.conflict_after_us * 2**count, DAY_US)
        return ConflictRetry(Micros(now + delay_us))

    def is_automatic(self, rule: PolicyRule, action: str) -> bool:
        """Whether the policy approves plans of an action itself."""
        return mode_of(self._policy, rule, action) == "auto"

    def is_executed(self, rule: PolicyRule, action: str) -> bool:
        """Whether plans of an action run at all."""
        return mode_of(self._policy, rule, action) in {"approve", "auto"}

    def _facts(
        self, table: PlannedTable, exact: ExactPlan, approval: PlanApproval | None, fact: PlanFact | None
    ) -> DecisionFacts:
        uuid, now = table.opened.table_uuid, self._states.now()
        survey, held = table.reading.survey, table.reading.held
        live = held.bytes.live if held else survey.bytes if survey else None
        others = [each for each in self._states.holders() if each.table_uuid != uuid]
        return DecisionFacts(
            policy=self._policy,
            name=table.opened.name,
            table_uuid=uuid,
            now=now,
            plan=exact.plan,
            approval=approval,
            not_before=fact.not_before if fact else None,
            live_bytes=live,
            spent=self._states.spent(now // DAY_US),
            history=[
                each for each in self._states.plans(table_uuids=[uuid]) if fact is None or each.plan_id != fact.plan_id
            ],
            breakers=self._states.breakers(),
            running=len(others),
            unknown_streams=table.known.unknown_streams,
            currency=table.judged.advised.currency,
        )

    def _skew(self) -> str | None:
        """Why clocks forbid any action; None: they agree."""
        skew_us = self._states.now() - self._clock.now()
        if abs(skew_us) <= MOST_SKEW_US:
            return None
        minutes = abs(skew_us) // 60_000_000
        return (
            f"The clocks of this machine and of the database of the plans differ by {minutes:,} minutes: synchronise "
            "them."
        )
