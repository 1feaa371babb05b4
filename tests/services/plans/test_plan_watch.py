"""Transitions of others are noticed once, in order, and counted by bounded labels."""

from __future__ import annotations

from dataclasses import dataclass, field

import msgspec
from msgspec.structs import replace

from limnograph.adapters.memory.inbox import MemoryInbox
from limnograph.adapters.memory.plan_states import MemoryPlanStates
from limnograph.domain.facts.plans import PlanFact
from limnograph.domain.maintenance.leases import MaintenanceBreaker
from limnograph.domain.maintenance.moves import following
from limnograph.domain.maintenance.states import STATES
from limnograph.domain.metrics.maintenance import SECONDS
from limnograph.domain.time import Micros
from limnograph.ports.inbox import InboxItem
from limnograph.services.plans.desk import PlanDesk
from limnograph.services.plans.tally import MOST_CODES, PlanTally
from limnograph.services.plans.watch import PlanWatch

SECOND = 1_000_000
RAN = ("approved", "leased", "checking", "running", "committed")


@dataclass
class World:
    """A watch whose clocks stand until they are moved."""

    now: int = 1_000 * SECOND
    seconds: float = 0.0
    inbox: MemoryInbox = field(default_factory=MemoryInbox)

    def __post_init__(self) -> None:
        self.states = MemoryPlanStates(self.inbox, lambda: Micros(self.now))
        self.watch = PlanWatch(PlanDesk(self.states, tuple), self.inbox, lambda: self.seconds)

    def add(self, plan_id: str, *path: str, **fields: object) -> PlanFact:
        """Transitions, one a second."""
        found = self.states.plan(plan_id)
        if found is None:
            self.now += SECOND
            proposed = PlanFact(plan_id=plan_id, seq=1, state="proposed", attempt=1, action="rewrite_data_files")
            (found,) = self.states.record([replace(proposed, **fields)])
        for state in path:
            self.now += SECOND
            (found,) = self.states.record([replace(following(found, state, "x"), **fields)])  # type: ignore[arg-type]
        return found

    def looked(self) -> list[tuple[str, str | None]]:
        return [(fact.plan_id, fact.state) for fact in self.watch.catch_up()]


def test_transitions_are_noticed_once_and_what_was_there_before_is_not_news() -> None:
    world = World()
    world.add("a", "approved")
    assert not world.watch.started
    assert world.looked() == []
    assert [fact.plan_id for fact in world.watch.open_plans()] == ["a"]
    world.add("a", "leased", "checking")
    world.add("b")
    assert world.looked() == [("a", "leased"), ("a", "checking"), ("b", "proposed")]
    assert world.looked() == []
    world.add("a", "refused")
    assert world.looked() == [("a", "refused")]
    assert [fact.plan_id for fact in world.watch.open_plans()] == ["b"]
    assert world.watch.last("a") == (5, "refused")


def test_a_transition_that_was_committed_late_is_still_noticed() -> None:
    world = World()
    fact = world.add("a")
    world.looked()
    late = replace(following(fact, "approved", "ann"), at=Micros(world.now - 50 * SECOND))
    world.inbox.put([InboxItem("plan", "late", msgspec.json.encode(late), Micros(world.now - 50 * SECOND))])
    assert world.looked() == [("a", "approved")]


def test_a_restored_plan_is_noticed_within_five_minutes() -> None:
    world = World()
    world.looked()
    world.states.restore([PlanFact(plan_id="a", seq=7, state="approved", action="vacuum")])
    assert world.looked() == []
    world.seconds += 301
    assert world.looked() == [("a", "approved")]


def test_results_and_failed_verifications_are_counted_once_an_attempt() -> None:
    world = World()
    world.looked()
    world.add("a", *RAN, "verified", "measured", result_seconds=7.0, result_bytes_in=100)
    world.add("b", *RAN, "failed", result_seconds=1e9, result_bytes_in=11)
    world.add("c", "approved", "leased", "checking", "running", "failed")
    world.add("d", "approved", "leased", "checking", "running", "partly", "verified", result_seconds=1.0)
    world.looked()
    found = world.watch.numbers()
    action = "rewrite_data_files"
    assert found.unverified == 1
    assert (found.plans[action, "verified"], found.plans[action, "failed"], found.plans[action, "measured"]) == (
        2,
        2,
        1,
    )
    assert found.plans[action, "dismissed"] == 0
    assert found.rewritten == {action: 111}
    counts, total_s = found.durations[action]
    assert (sum(counts), counts[-1], total_s) == (3, 1, 1e9 + 8.0)
    assert len(counts) == len(SECONDS) + 1


def test_labels_are_bounded_whatever_the_database_contains() -> None:
    tally = PlanTally()
    for number in range(100):
        tally.count("", PlanFact(plan_id="a", seq=1, state="proposed", action=f"action{number}"))
        tally.count("", PlanFact(plan_id="a", seq=1, state=f"state{number}", action="vacuum"))
    opened = {"opened_by": "p", "opened_at": Micros(0), "text": "", "scope": "fleet", "subject": ""}
    breakers = [MaintenanceBreaker(key=str(n), code=f"code_{n}", **opened) for n in range(100)]  # type: ignore[arg-type]
    breakers.append(MaintenanceBreaker(key="x", code='"} 1\n', **opened))  # type: ignore[arg-type]
    found = tally.numbers(breakers)
    assert {action for action, _ in found.plans} == {"other"}
    assert {state for _, state in found.plans} == set(STATES)
    assert found.plans["other", "proposed"] == 100
    assert len(found.breakers) <= MOST_CODES + 1
    assert sum(found.breakers.values()) == 101
