"""Harm and effects that become known after an action: they open breakers once, and a user's closing stays."""

from typing import Any

import pytest

from limnograph.adapters.memory.inbox import MemoryInbox
from limnograph.adapters.memory.plan_states import MemoryPlanStates
from limnograph.domain.errors import SourceUnavailable
from limnograph.domain.facts.effects import EffectFact
from limnograph.domain.facts.events import RunFact, RunTable
from limnograph.domain.maintenance.moves import following
from limnograph.domain.time import Micros
from limnograph.services.maintenance.aftermath import AGAIN_US, AftermathFacts, AftermathWatch
from maintained_facts import DAY_US, HOUR_US, NOW_US, UUID, plan_fact

PATH = ("approved", "leased", "checking", "running", "committed", "verified")
LOST = "ValidationException: Cannot commit, missing data files: […]"


class Aftermath:
    """States in memory, with facts and a clock that a test changes."""

    def __init__(self) -> None:
        self.now, self.facts, self.reads = NOW_US, AftermathFacts(), 0
        self.failure: Exception | None = None
        self.states = MemoryPlanStates(MemoryInbox(), now=lambda: self.now)
        self.watch = AftermathWatch(self.states, self._read)

    def _read(self, _since: Micros) -> AftermathFacts:
        self.reads += 1
        if self.failure is not None:
            raise self.failure
        return self.facts

    def ran(self, plan_id: str, **fields: Any) -> None:
        """A verified plan, now."""
        fact = plan_fact("proposed", plan_id=plan_id, catalog="lake", namespace="sales", table="orders", **fields)
        (fact,) = self.states.record([fact])
        for state in PATH:
            (fact,) = self.states.record([following(fact, state, "ann")])  # type: ignore[arg-type]

    def failed(self, run_id: str, ago_us: int = 0) -> RunFact:
        """A run of a job that writes the table, which lost."""
        ended = Micros(self.now - ago_us)
        orders = RunTable(catalog="lake", namespace="sales", table="orders", role="writes")
        return RunFact(run_id=run_id, status="failed", job_name="erase", ended_at=ended, message=LOST, tables=[orders])

    def later(self, duration_us: int = AGAIN_US) -> None:
        self.now = Micros(self.now + duration_us)


@pytest.fixture
def after() -> Aftermath:
    return Aftermath()


def test_two_writers_that_failed_open_the_tables_breaker(after: Aftermath) -> None:
    after.ran("p1", result_seconds=60.0)
    after.facts = AftermathFacts(runs=[after.failed("r1")])
    assert after.watch.look() == []
    after.later(2 * HOUR_US)
    after.ran("p2", result_seconds=60.0)
    after.facts = AftermathFacts(runs=[*after.facts.runs, after.failed("r2")])
    (found,) = after.watch.look()
    assert (found.key, found.opened_by) == (f"table:{UUID}:writers_failed", "p2")
    assert "2 runs of erase failed within 7 days because maintenance of lake.sales.orders committed first" in found.text
    assert after.states.breakers() == [found]


def test_a_breaker_that_a_user_closed_opens_again_only_for_something_new(after: Aftermath) -> None:
    after.ran("p1", result_seconds=60.0)
    after.facts = AftermathFacts(runs=[after.failed("r1"), after.failed("r2")])
    (found,) = after.watch.look()
    after.states.close_breaker(found.key)
    after.later()
    assert after.watch.look() == []
    after.later(HOUR_US)
    after.ran("p2", result_seconds=60.0)
    after.facts = AftermathFacts(runs=[*after.facts.runs, after.failed("r3")])
    assert [each.opened_by for each in after.watch.look()] == ["p2"]


def test_an_action_that_made_a_job_slower_demotes_its_rule(after: Aftermath) -> None:
    after.ran("p1", snapshot_ids=[7])
    worse = EffectFact(
        table_uuid=UUID,
        operation_id="7",
        job_name="churn",
        measure="duration",
        runs_after=8,
        verdict="worse",
        measured_at=after.now,
    )
    after.facts = AftermathFacts(effects=[worse])
    assert [each.key for each in after.watch.look()] == ["rule:compact:effects"]
    after.states.close_breaker("rule:compact:effects")
    restarted = AftermathWatch(after.states, lambda _since: after.facts)
    after.later(2 * DAY_US)
    assert restarted.look() == []


def test_without_an_action_nothing_is_read(after: Aftermath) -> None:
    assert after.watch.look() == []
    assert after.reads == 0


def test_facts_are_read_every_ten_minutes_and_again_after_an_error(after: Aftermath) -> None:
    after.ran("p1")
    after.failure = SourceUnavailable("meta tables", "unreachable")
    with pytest.raises(SourceUnavailable):
        after.watch.look()
    after.failure = None
    assert after.watch.look() == []
    assert after.watch.look() == []
    assert after.reads == 2
    after.later()
    after.watch.look()
    assert after.reads == 3


def test_a_plan_says_how_many_runs_failed_because_of_it(after: Aftermath) -> None:
    after.ran("p1", result_seconds=60.0)
    after.facts = AftermathFacts(runs=[after.failed("r1")])
    after.watch.look()
    fact = after.states.plan("p1")
    assert fact is not None
    assert (fact.state, fact.writers_failed) == ("verified", 1)
    assert fact.reason == "1 run of erase failed because the plan committed first"
    after.later()
    after.watch.look()
    assert after.states.plan("p1") == fact, "nothing new"
    measured = following(fact, "measured", "limnograph")
    after.states.record([measured])
    after.facts = AftermathFacts(runs=[*after.facts.runs, after.failed("r2")])
    after.later()
    after.watch.look()
    told = after.states.plan("p1")
    assert told is not None
    assert (told.state, told.writers_failed) == ("measured", 2)
    assert "2 runs" in (told.reason or "")
