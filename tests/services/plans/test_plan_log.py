"""What the rules record of plans: proposals, their end, and silence after a decision."""

from __future__ import annotations

import hashlib

import pytest

from limnograph.adapters.memory.plan_states import MemoryPlanStates
from limnograph.domain.advice.document import (
    AdvisedTable,
    PlanScope,
    PlanValue,
    Predicted,
    Recommendation,
    StatementTexts,
)
from limnograph.domain.errors import SourceUnavailable
from limnograph.domain.facts.plans import PlanFact
from limnograph.domain.maintenance.moves import following
from limnograph.domain.time import Micros
from limnograph.services.plans.desk import PlanDesk
from limnograph.services.plans.plan_log import PlanLog

DAY = 86_400_000_000
HOUR = DAY // 24


def advised(*plan_ids: str, snapshot_id: str = "7", status: str = "ok") -> AdvisedTable:
    """A table for which the rules recommend these plans."""
    plans = [
        Recommendation(
            plan_id=plan_id,
            action="rewrite_manifests",
            rule="manifests",
            because=[],
            scope=PlanScope(partitions=[], where=None),
            predicted=Predicted(files_in=40),
            value=PlanValue(),
            guards=[],
            statements=StatementTexts(),
        )
        for plan_id in plan_ids
    ]
    return AdvisedTable(
        catalog="lake",
        namespace="sales",
        table="orders",
        table_uuid="t1",
        format="iceberg",
        snapshot_id=snapshot_id,
        status=status,
        findings=[],
        recommendations=plans,
        not_worth=[],
        not_known=[],
        bytes=None,
        cost_per_month=None,
        currency="USD",
        prices_as_of=None,
    )


class World:
    def __init__(self) -> None:
        self.clock = Micros(100 * DAY)
        self.states = MemoryPlanStates(now=lambda: self.clock)
        self.recorded: list[PlanFact] = []
        self.failure: Exception | None = None
        self.desk = PlanDesk(self.states, self._recorded)
        self.log = PlanLog(self.desk)

    def _recorded(self) -> list[PlanFact]:
        if self.failure is not None:
            raise self.failure
        return self.recorded

    def evaluate(self, *plan_ids: str, later: int = 0, **given: str) -> dict[str, str]:
        """States of all plans after an evaluation."""
        self.clock = Micros(self.clock + later)
        self.log.record("t1", advised(*plan_ids, **given), dict.fromkeys(plan_ids, b'{"a":1}'))
        return {fact.plan_id: fact.state or "" for fact in self.states.plans()}

    def enter(self, *path: str, actor: str = "limnograph") -> PlanFact:
        """Plan p1 after transitions."""
        fact = self.desk.plan("p1")
        for state in path:
            (fact,) = self.states.record([following(fact, state, actor)])  # type: ignore[arg-type]
        return fact


@pytest.fixture
def world() -> World:
    return World()


def test_a_proposal_is_recorded_once_with_its_arguments_and_who_proposed_it(world: World) -> None:
    world.evaluate("p1")
    world.evaluate("p1", later=HOUR)
    (fact,) = world.log.of_table("t1")
    assert (fact.seq, fact.state, fact.attempt, fact.actor, fact.proposed_by) == (
        *(1, "proposed", 1),
        "limnograph",
        "limnograph",
    )
    assert fact.arguments == '{"a":1}'
    assert fact.arguments_sha256 == hashlib.sha256(b'{"a":1}').hexdigest()
    assert (fact.base_snapshot_id, fact.at) == (7, 100 * DAY)


def test_only_proposals_of_the_rules_are_withdrawn(world: World) -> None:
    assert world.evaluate("p1", "p2") == {"p1": "proposed", "p2": "proposed"}
    world.enter("approved", actor="ann")
    assert world.evaluate("p3", status="partial") == {"p1": "approved", "p2": "proposed", "p3": "proposed"}
    assert world.evaluate() == {"p1": "approved", "p2": "withdrawn", "p3": "withdrawn"}
    assert world.evaluate("p2") == {"p1": "approved", "p2": "proposed", "p3": "withdrawn"}
    world.desk.propose("p3", "ann")
    own = following(world.desk.plan("p2"), "withdrawn", "limnograph")
    world.states.record([own, PlanFact(plan_id="p4", seq=1, state="proposed", table_uuid="t1", policy="nightly")])
    assert world.evaluate() == {"p1": "approved", "p2": "withdrawn", "p3": "proposed", "p4": "proposed"}


@pytest.mark.parametrize("state", ["leased", "checking", "running", "queued"])
def test_a_plan_that_an_executor_works_on_is_left_alone(world: World, state: str) -> None:
    world.evaluate("p1")
    path = {"queued": ["queued"], "leased": ["leased"], "checking": ["leased", "checking"]}
    world.enter("approved", *path.get(state, ["leased", "checking", "running"]))
    assert world.evaluate("p1", later=30 * DAY) == world.evaluate(later=DAY) == {"p1": state}


def test_a_dismissed_plan_is_not_proposed_again_for_a_week(world: World) -> None:
    world.evaluate("p1")
    world.desk.dismiss("p1", 1, "ann")
    assert world.evaluate("p1", later=7 * DAY - 1) == {"p1": "dismissed"}
    assert world.evaluate("p1", "p2", later=1) == {"p1": "proposed", "p2": "proposed"}
    again = world.desk.plan("p1")
    assert (again.attempt, again.reason, again.proposed_by) == (2, None, "limnograph")


def test_a_plan_that_a_user_took_back_is_dismissed_in_all_but_name(world: World) -> None:
    world.evaluate("p1")
    world.desk.dismiss("p1", 1, "ann")
    world.desk.withdraw("p1", world.desk.propose("p1", "ann").seq, "ann")
    assert world.evaluate("p1", later=6 * DAY) == {"p1": "withdrawn"}
    assert world.evaluate("p1", later=DAY) == {"p1": "proposed"}


def test_a_plan_is_proposed_again_only_when_the_table_changed_since_it_succeeded(world: World) -> None:
    world.evaluate("p1")
    world.enter("approved", "leased", "checking", "running", "committed", "verified")
    assert world.evaluate("p1", later=30 * DAY) == {"p1": "verified"}
    assert world.evaluate("p1", snapshot_id="8") == {"p1": "proposed"}


def test_a_refused_plan_rests_for_a_day(world: World) -> None:
    world.evaluate("p1")
    world.enter("refused")
    assert world.evaluate("p1", later=DAY - 1) == {"p1": "refused"}
    assert world.evaluate("p1", later=1) == {"p1": "proposed"}


def test_an_undecided_plan_expires_after_a_week_also_of_a_table_that_is_gone(world: World) -> None:
    world.evaluate("p1", "p2")
    world.enter("approved", actor="ann")
    assert world.log.sweep() == 0
    world.clock = Micros(world.clock + 7 * DAY)
    assert world.log.sweep() == 1
    assert world.log.sweep() == 0
    assert {fact.plan_id: fact.state for fact in world.states.plans()} == {"p1": "approved", "p2": "expired"}
    assert world.evaluate("p2")["p2"] == "proposed"


def test_of_two_servers_one_proposes(world: World) -> None:
    class Rival(PlanDesk):
        raced = False

        def record(self, facts):
            if not self.raced:
                self.raced = True
                world.states.record([PlanFact(plan_id="p1", seq=1, state="proposed", table_uuid="t1")])
            return super().record(facts)

    PlanLog(Rival(world.states, list)).record("t1", advised("p1", "p2"), {})
    assert {fact.plan_id: fact.seq for fact in world.states.plans()} == {"p1": 1, "p2": 1}


def test_nothing_is_proposed_until_a_lost_database_was_compared_with_the_meta_table(world: World) -> None:
    world.recorded = [PlanFact(plan_id="p1", seq=7, state="dismissed", at=world.clock, table_uuid="t1")]
    world.failure = SourceUnavailable("meta", "refused")
    assert world.evaluate("p1") == {}
    world.failure = None
    world.desk = PlanDesk(world.states, world._recorded)
    world.log = PlanLog(world.desk)
    assert world.evaluate("p1") == {"p1": "dismissed"}
