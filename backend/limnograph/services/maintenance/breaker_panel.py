"""Opens and closes breakers after a transition."""

from __future__ import annotations

from limnograph.analysis.maintenance.backoff import retry_at
from limnograph.analysis.maintenance.breakers import BreakerFacts, closed_by, opened, verification
from limnograph.analysis.maintenance.history import in_order
from limnograph.analysis.maintenance.limits import rule_of
from limnograph.domain.facts.plans import PlanFact
from limnograph.domain.ids import TableName
from limnograph.domain.maintenance.policy import DAY_US, MaintenancePolicy
from limnograph.domain.maintenance.states import OUTCOMES_US
from limnograph.domain.time import Micros
from limnograph.ports.plan_states import PlanStates


class BreakerPanel:
    """Immutable after construction. Methods block, and raise SourceError."""

    def __init__(self, policy: MaintenancePolicy, states: PlanStates) -> None:
        self._policy, self._states = policy, states

    def after(self, fact: PlanFact, name: TableName, live_bytes: int | None = None) -> None:
        """Open what a transition opens, and close what a verified plan closes."""
        facts = self._facts(fact, name, live_bytes)
        for breaker in opened(facts):
            self._states.open_breaker(breaker)
        for key in closed_by(facts, self._states.breakers()):
            self._states.close_breaker(key)

    def unconfirmed(self, fact: PlanFact, name: TableName, found: str) -> None:
        """A failed verification stops the action for the fleet."""
        self._states.open_breaker(verification(self._facts(fact, name, None), found))

    def retry_at(self, fact: PlanFact) -> Micros:
        """When a plan is tried again after a conflict, which is recorded."""
        uuid, now = fact.table_uuid or "", self._states.now()
        return retry_at(self._policy, self._states.outcomes(Micros(now - OUTCOMES_US), [uuid]), uuid, now)

    def _facts(self, fact: PlanFact, name: TableName, live_bytes: int | None) -> BreakerFacts:
        now = self._states.now()
        return BreakerFacts(
            now=now,
            name=name,
            fact=fact,
            history=in_order([*self._states.outcomes(Micros(now - OUTCOMES_US)), fact]),
            policy=self._policy,
            rule=rule_of(self._policy, name),
            spent=self._states.spent(now // DAY_US),
            live_bytes=live_bytes,
            currency=fact.currency or "",
        )
