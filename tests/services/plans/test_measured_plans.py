"""A plan that a table confirmed becomes measured with its effect, and its promise stands beside the result."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from limnograph.adapters.memory.inbox import MemoryInbox
from limnograph.adapters.memory.plan_states import MemoryPlanStates
from limnograph.adapters.memory.query_engine import MemoryEngine
from limnograph.domain.facts.effects import EffectFact
from limnograph.domain.facts.plans import PlanFact
from limnograph.domain.maintenance.moves import following
from limnograph.domain.time import Micros
from limnograph.services.effects.promises import AFTER_US, BEFORE_US, OperationPlans
from limnograph.services.effects.records import EffectRecords
from limnograph.services.plans.desk import PlanDesk
from limnograph.services.plans.measured import MeasuredPlans
from limnograph.services.plans.plan_records import PlanRecords

DAY = 86_400_000_000
NOW = Micros(100 * DAY)
COMPACTED = PlanFact(
    plan_id="p1",
    seq=6,
    at=NOW,
    state="verified",
    attempt=1,
    table_uuid="t1",
    action="rewrite_data_files",
    rule="compact",
    snapshot_ids=[7, 8],
)
EXPIRED = PlanFact(
    plan_id="p2", seq=6, at=NOW, state="verified", attempt=1, table_uuid="t1", action="expire_snapshots", rule="expire"
)


def effect(operation_id: str = "8", **given: Any) -> EffectFact:
    values: dict[str, Any] = {"table_uuid": "t1", "job_name": "churn", "measure": "duration", "runs_after": 8}
    values |= {"committed_at": NOW - 60_000_000, "verdict": "helped"}
    return EffectFact(operation_id=operation_id, **(values | given))


class World:
    def __init__(self, *plans: PlanFact) -> None:
        self.clock, self.inbox, engine = NOW, MemoryInbox(), MemoryEngine()
        self.states = MemoryPlanStates(self.inbox, lambda: self.clock)
        self.states.restore(plans)
        self.effects, self.records = EffectRecords(self.inbox, engine), PlanRecords(self.inbox, engine)
        self.measured = MeasuredPlans(PlanDesk(self.states, list), self.effects)

    def state(self, plan_id: str = "p1") -> PlanFact:
        found = self.states.plan(plan_id)
        assert found is not None
        return found


def test_a_plan_becomes_measured_when_one_of_its_commits_has_an_effect() -> None:
    world = World(COMPACTED, EXPIRED)
    assert world.measured.mark() == 0
    world.effects.put([effect("9"), effect("8", table_uuid="t2")], NOW)
    assert world.measured.mark() == 0
    world.effects.put([effect(), effect(job_name="", measure="planning", verdict="none", runs_after=16)], NOW)
    assert world.measured.mark() == 1
    measured = world.state()
    assert (measured.state, measured.seq, measured.actor) == ("measured", 7, "limnograph")
    assert measured.reason == "planning of scans: none after 16 runs; churn: helped after 8 runs"
    assert measured.snapshot_ids == [7, 8]
    assert world.state("p2").state == "verified"
    assert world.measured.mark() == 0


@pytest.mark.parametrize(
    ("committed_at", "state"),
    [(NOW - 60_000_000, "measured"), (NOW - BEFORE_US - 1, "verified"), (NOW + AFTER_US + 1, "verified")],
)
def test_an_expiry_is_found_by_its_time(committed_at: Micros, state: str) -> None:
    world = World(COMPACTED, EXPIRED)
    world.clock = Micros(NOW + DAY)
    world.effects.put([effect("expired:s3://b/3.json", committed_at=committed_at)], NOW)
    world.measured.mark()
    assert (world.state("p2").state, world.state().state) == (state, "verified")


def test_of_two_expiries_the_nearest_is_the_plans() -> None:
    earlier = replace(EXPIRED, plan_id="p0", at=NOW - 40 * 60_000_000)
    plans = OperationPlans([EXPIRED, earlier])
    found = plans.of("t1", "expired:x", Micros(NOW - 35 * 60_000_000))
    assert found is not None
    assert found.plan_id == "p0"
    assert plans.of("t2", "expired:x", NOW) is None


def test_a_plan_that_another_server_moved_is_left_alone() -> None:
    class Rival(PlanDesk):
        def record(self, facts):
            world.states.record([following(COMPACTED, "proposed", "ann")])
            return super().record(facts)

    world = World(COMPACTED)
    world.effects.put([effect()], NOW)
    assert MeasuredPlans(Rival(world.states, list), world.effects).mark() == 0
    assert world.state().state == "proposed"


def test_results_are_read_from_the_transitions_that_confirmed_them() -> None:
    world = World(replace(COMPACTED, seq=5, state="committed"))
    world.clock = Micros(NOW + 5)
    world.states.record([following(world.state(), "verified", "limnograph")])
    world.states.record([following(world.state(), "measured", "limnograph")])
    (found,) = world.records.confirmed(NOW, Micros(NOW + DAY))
    assert (found.state, found.seq) == ("verified", 6)
    assert world.records.confirmed(Micros(NOW + 6), Micros(NOW + DAY)) == []
