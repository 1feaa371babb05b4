"""Lets a verified plan become measured once its effect on a job was measured, with the verdicts as the reason."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from limnograph.domain.errors import PlanMoved
from limnograph.domain.facts.effects import EffectFact
from limnograph.domain.facts.plans import PlanFact
from limnograph.domain.maintenance.moves import following
from limnograph.domain.time import EPOCH, Micros
from limnograph.services.effects.awaiting import HORIZON
from limnograph.services.effects.promises import BEFORE_US, OperationPlans
from limnograph.services.effects.records import EffectRecords
from limnograph.services.plans.desk import PlanDesk
from limnograph.services.plans.rebuild import PROGRAM

_NAMED = 5
"""Jobs that a reason names."""


class MeasuredPlans:
    """Immutable after construction. Blocks; raises SourceError."""

    def __init__(self, desk: PlanDesk, effects: EffectRecords) -> None:
        self._desk, self._effects = desk, effects

    def mark(self) -> int:
        """Record the transition of every verified plan with a measured effect; returns their number. Reads the effects
        since the oldest of these plans.
        """
        now = self._desk.now()
        plans = [fact for fact in self._desk.plans(["verified"]) if (fact.at or 0) >= now - HORIZON]
        if not plans:
            return 0
        first = Micros(min(fact.at or 0 for fact in plans) - BEFORE_US)
        index, found = OperationPlans(plans), defaultdict[str, list[EffectFact]](list)
        for effect in self._effects.newest(max(first, EPOCH), Micros(now + 1)):
            plan = index.of(effect.table_uuid, effect.operation_id, effect.committed_at or EPOCH)
            if plan is not None:
                found[plan.plan_id].append(effect)
        return sum(self._mark(plan, found[plan.plan_id]) for plan in plans if plan.plan_id in found)

    def _mark(self, plan: PlanFact, effects: Sequence[EffectFact]) -> bool:
        try:
            self._desk.record([following(plan, "measured", PROGRAM, _reason(effects))])
        except PlanMoved:
            return False  # another server was first, or the plan was proposed again
        return True


def _reason(effects: Sequence[EffectFact]) -> str:
    """Such as `churn: helped after 8 runs; scans: none after 16 runs`."""
    told = [
        f"{each.job_name or f'{each.measure} of scans'}: {each.verdict or 'unknown'} after {each.runs_after} runs"
        for each in sorted(effects, key=lambda each: (each.job_name, each.measure))
    ]
    more = len(told) - _NAMED
    return "; ".join([*told[:_NAMED], *([f"{more} more"] if more > 0 else [])])
