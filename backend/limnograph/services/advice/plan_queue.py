"""Plans of the queue by state: those that the rules recommend, in their order, then all other recorded ones."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple, cast

from limnograph.domain.advice.pages import MaintenanceRow
from limnograph.domain.facts.plans import PlanFact
from limnograph.domain.maintenance.states import OPEN, PlanState
from limnograph.domain.time import EPOCH, to_millis
from limnograph.services.advice.board import AdviceBoard, QueuedPlan
from limnograph.services.plans.desk import PlanDesk
from limnograph.services.plans.views import recorded_recommendation
from limnograph.services.plans.watch import PlanWatch


class RecordedPlan(NamedTuple):
    """A recorded plan that the rules do not recommend now, with its place after those that they do."""

    rank: int
    fact: PlanFact


class PlanQueue:
    """Immutable after construction; `watch` and `desk` are thread-safe."""

    def __init__(self, watch: PlanWatch, desk: PlanDesk) -> None:
        self._watch, self._desk = watch, desk

    @property
    def version(self) -> int:
        """Changes with every transition."""
        return self._watch.version

    def of(self, board: AdviceBoard, states: Collection[PlanState]) -> tuple[list[QueuedPlan], list[RecordedPlan]]:
        """Plans in these states: recommended ones, and others, the newest first. O(plans). Reads the database, and so
        blocks, only for states that are not open. Raises SourceError.
        """
        recommended = [each for each in board.queue if self.state(each.recommendation.plan_id) in states]
        known = {each.recommendation.plan_id for each in board.queue}
        facts = [fact for fact in self._watch.open_plans() if fact.state in states]
        if ended := frozenset(states) - OPEN:
            facts += self._desk.plans(ended)
        others = sorted((each for each in facts if each.plan_id not in known), key=lambda each: -(each.at or EPOCH))
        return recommended, [RecordedPlan(rank, fact) for rank, fact in enumerate(others, len(board.queue) + 1)]

    def state(self, plan_id: str) -> PlanState:
        """The state of a recommended plan. One that is not recorded yet is proposed."""
        return cast("PlanState", self._watch.last(plan_id)[1] or "proposed")

    def recorded(self, plan_id: str) -> tuple[int | None, PlanFact | None]:
        """Number of the last transition of a plan, and the transition itself if the plan is open."""
        return self._watch.last(plan_id)[0] or None, self._watch.open_plan(plan_id)


def recorded_row(plan: RecordedPlan, owner: str | None) -> MaintenanceRow:
    """The row of a plan that is not recommended now."""
    fact = plan.fact
    return MaintenanceRow(
        catalog=fact.catalog or "",
        namespace=fact.namespace or "",
        table=fact.table or "",
        table_uuid=fact.table_uuid or "",
        owner=owner,
        format=fact.format or "",
        rank=plan.rank,
        evaluated_at=to_millis(fact.at if fact.at is not None else EPOCH),
        recommendation=recorded_recommendation(fact),
        state=cast("PlanState", fact.state),
        seq=fact.seq,
        arguments_sha256=fact.arguments_sha256,
        entered_at=to_millis(fact.at),
        actor=fact.actor,
    )
