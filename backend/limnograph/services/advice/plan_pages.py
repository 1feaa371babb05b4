"""One plan with its history, decisions on plans, and breakers."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from limnograph.domain.advice.document import Recommendation
from limnograph.domain.advice.plans import (
    BreakersPage,
    PlanCaller,
    PlanDecision,
    PlanDecisionIn,
    PlanDetail,
)
from limnograph.domain.errors import PlanMoved
from limnograph.domain.facts.plans import PlanFact
from limnograph.services.advice.board import AdviceBoard
from limnograph.services.plans.decisions import decisions_of
from limnograph.services.plans.desk import PlanDesk
from limnograph.services.plans.history import PlanHistory
from limnograph.services.plans.views import breaker_view, plan_fields, recorded_guards, transition_view
from limnograph.services.plans.watch import PlanWatch


class PlanSources(NamedTuple):
    """Where plans are known. `named`: the name of a table by uuid. `publish` is called with each transition that is
    new to readers of the live stream, on the event loop.
    """

    desk: PlanDesk
    history: PlanHistory
    board: Callable[[], AdviceBoard]
    watch: PlanWatch
    named: Callable[[str], str | None] = lambda _uuid: None
    publish: Callable[[PlanFact], None] = lambda _fact: None


class PlanPages:
    """Immutable after construction. All methods but `publish` block; they raise SourceError, NotFound, PlanMoved and
    InvalidInput.
    """

    def __init__(self, sources: PlanSources) -> None:
        self._of = sources

    def detail(self, plan_id: str, caller: PlanCaller) -> PlanDetail:
        """One plan as its caller sees it. Cost: see PlanHistory."""
        plan = self._of.desk.plan(plan_id)
        history, notes = self._of.history.of(plan)
        current = self._recommended(plan)
        return PlanDetail(
            **plan_fields(plan),  # type: ignore[arg-type]  # as the fields are declared
            can=decisions_of(plan, caller),
            guards=current.guards if current else recorded_guards(plan),
            recommendation=current,
            history=[transition_view(fact) for fact in history],
            notes=notes,
        )

    def propose(self, plan_id: str, caller: PlanCaller, reason: str | None) -> PlanFact:
        """Propose a plan that ended once more."""
        return self._of.desk.propose(plan_id, caller.actor, reason)

    def decide(self, decision: PlanDecision, plan_id: str, seen: PlanDecisionIn, caller: PlanCaller) -> PlanFact:
        """Take a decision on a plan as the caller saw it. Raises Forbidden if only the proposer may take it."""
        desk, actor = self._of.desk, caller.actor
        if decision == "approve":
            return desk.approve(plan_id, seen.arguments_sha256, seen.seq, actor, seen.reason)
        plan = desk.plan(plan_id)
        if plan.arguments_sha256 != seen.arguments_sha256:
            raise PlanMoved(f"plan {plan_id} has other arguments than those that were seen; read it again", plan)
        act = {"dismiss": desk.dismiss, "withdraw": desk.withdraw, "cancel": desk.cancel}[decision]
        return act(plan_id, seen.seq, actor, seen.reason)

    def publish(self, fact: PlanFact) -> None:
        """Report a transition that a decision caused, unless it was reported already. On the event loop."""
        for each in self._of.watch.add([fact]):
            self._of.publish(each)

    def breakers(self, caller: PlanCaller) -> BreakersPage:
        """Open breakers."""
        found = [
            breaker_view(each, self._of.named(each.subject) if each.scope == "table" else None)
            for each in self._of.desk.breakers()
        ]
        return BreakersPage(breakers=found, can_close=caller.may_approve)

    def close_breaker(self, key: str, caller: PlanCaller) -> None:
        """Close a breaker. Raises NotFound if it is not open."""
        self._of.desk.close_breaker(key, caller.actor)

    def _recommended(self, plan: PlanFact) -> Recommendation | None:
        table = self._of.board().tables.get(plan.table_uuid or "")
        plans = table.advised.recommendations if table else ()
        return next((each for each in plans if each.plan_id == plan.plan_id), None)
