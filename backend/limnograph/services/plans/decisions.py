"""Which decisions on a plan a caller may take."""

from __future__ import annotations

from typing import cast

from limnograph.domain.advice.plans import PlanCaller, PlanDecision
from limnograph.domain.facts.plans import PlanFact
from limnograph.domain.maintenance.states import CANCELLABLE, TRANSITIONS, PlanState, may_follow


def decisions_of(plan: PlanFact, caller: PlanCaller) -> list[PlanDecision]:
    """What the desk accepts from this caller while the plan is as given. Policies, such as the rule of two people, are
    the executor's: it refuses what they forbid.
    """
    if plan.state not in TRANSITIONS:
        return []
    state, found = cast("PlanState", plan.state), list[PlanDecision]()
    if caller.may_approve and state == "proposed":
        found += ["approve", "dismiss"]
    if caller.may_propose and may_follow(state, "withdrawn") and plan.proposed_by == caller.actor:
        found.append("withdraw")
    if caller.may_approve and state in CANCELLABLE:
        found.append("cancel")
    if caller.may_propose and may_follow(state, "proposed"):
        found.append("propose")
    return found
