"""Whether a plan may run: the policy's decision and the guards, with the facts that they need."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping

from limnograph.analysis.maintenance.decision import (
    RATIO_US,
    ActionDecision,
    DecisionFacts,
    PlanApproval,
    decide,
    decisions,
)
from limnograph.analysis.maintenance.guards.every import OWNED, guards_of, unsatisfied
from limnograph.analysis.maintenance.guards.facts import GuardFacts
from limnograph.analysis.maintenance.history import in_order
from limnograph.analysis.maintenance.limits import mode_of
from limnograph.domain.advice.document import PlanGuard
from limnograph.domain.facts.plans import PlanFact
from limnograph.domain.maintenance.policy import DAY_US, MaintenancePolicy, PolicyRule
from limnograph.domain.time import Micros
from limnograph.ports.clock import Clock
from limnograph.ports.plan_states import PlanStates
from limnograph.services.maintenance import problems as codes
from limnograph.services.maintenance.neighbours import NeighbourFolders
from limnograph.services.maintenance.planning import ExactPlan, PlannedTable
from limnograph.services.maintenance.verification import stamp

ENGINES: Mapping[str, str] = {"iceberg": "spark", "delta": "deltalake"}
"""Engine by table format."""
MOST_SKEW_US = 300_000_000
"""Difference between this machine's clock and the database's above which nothing is executed: one of them decides what
is old, the other one when files were modified.
"""


class PlanJudge:
    """Immutable after construction. Methods block, and raise SourceError."""

    def __init__(
        self,
        policy: MaintenancePolicy,
        states: PlanStates,
        clock: Clock,
        meta_namespaces: Collection[str],
        neighbours: NeighbourFolders,
    ) -> None:
        self._policy, self._states, self._clock = policy, states, clock
        self._meta_namespaces, self._neighbours = meta_namespaces, neighbours

    def approval_of(self, fact: PlanFact) -> PlanApproval:
        """Who approved a plan, and when: to queue it again does not renew the approval."""
        return PlanApproval(fact.approved_by, fact.approved_at, fact.proposed_by)

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

    def guards(self, table: PlannedTable, exact: ExactPlan, approval: PlanApproval | None) -> list[PlanGuard]:
        """The guards of the action, also those that hold."""
        names = [(fact.plan_id, fact.attempt or 1) for fact in self._states.plans()]
        facts = GuardFacts(
            plan=exact.plan,
            metadata=table.reading.metadata,
            name=table.opened.name,
            now=self._states.now(),
            machine_now=self._clock.now(),
            table_uuid=table.opened.table_uuid,
            own_plans={stamp(plan_id, each) for plan_id, last in names for each in range(1, last + 1)},
            others=self._neighbours.before(exact.plan.action, table.known.others),
            meta_namespaces=self._meta_namespaces,
            readers=table.known.advice.readers,
            unknown_streams=table.known.unknown_streams,
            approved_by_user=approval is not None and approval.is_by_user,
            longest_run_us=table.known.longest_run_us,
            unreferenced=table.listed,
            engine=ENGINES.get(table.opened.format),
            base_recorded=True,
            exclusive_puts=table.opened.exclusive_puts,
            real_path=os.path.realpath,
        )
        return guards_of(facts)

    def forbids_deletion(self, table: PlannedTable, exact: ExactPlan, fact: PlanFact) -> str | None:
        """Why files of snapshots that have expired may not be deleted: what the policy forbids for good, and guards of
        other tables. None: they may.
        """
        approval = self.approval_of(fact)
        refused = [
            each.text for each in decisions(self._facts(table, exact, approval, fact)) if each.verdict == "refuse"
        ]
        unmet = [each.text for each in unsatisfied(self.guards(table, exact, approval)) if each.code in OWNED]
        return next(iter([*refused, *unmet]), None)

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
            history=in_order(
                [*self._states.outcomes(Micros(now - RATIO_US), [uuid]), *self._states.plans(table_uuids=[uuid])]
            ),
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
