"""What actions did to jobs, as it becomes known after their results: runs that failed because of them, and effects.

Runs and effects are facts that others push: they open breakers, so that less runs, and never close one.
"""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from limnograph.analysis.advice.words import counted
from limnograph.analysis.maintenance.breakers import NEW_US, WEEK_US, BreakerFacts, harmed, ineffective
from limnograph.analysis.maintenance.effects import MeasuredOutcome, measured_outcomes
from limnograph.analysis.maintenance.harm import HarmedRun, harmed_by_all, spans_of
from limnograph.analysis.maintenance.history import results, since
from limnograph.domain.errors import LimnographError, PlanMoved
from limnograph.domain.facts.effects import EffectFact
from limnograph.domain.facts.events import ReportFact, RunFact
from limnograph.domain.facts.plans import PlanFact
from limnograph.domain.ids import TableName
from limnograph.domain.maintenance.leases import MaintenanceBreaker
from limnograph.domain.maintenance.moves import following
from limnograph.domain.maintenance.states import OUTCOMES_US
from limnograph.domain.time import MICROS_PER_SECOND, Micros
from limnograph.ports.plan_states import PlanStates
from limnograph.services.maintenance.plan_progress import ACTOR

AGAIN_US = 600 * MICROS_PER_SECOND
"""How often a program that keeps running looks, microseconds."""
_CONFIRMED = frozenset({"verified", "measured"})
_NAMED = 3


class AftermathFacts(NamedTuple):
    """Runs that ended and commits that were reported since an instant, and effects measured since."""

    runs: Sequence[RunFact] = ()
    reports: Sequence[ReportFact] = ()
    effects: Sequence[EffectFact] = ()


class _TableHarm(NamedTuple):
    """Transitions of one table's plans, and the runs that failed because of their actions."""

    history: list[PlanFact]
    runs: list[HarmedRun]


class AftermathWatch:
    """`read`: facts since an instant. Used by one thread. A breaker that a user closes stays closed in this process,
    unless something new happens.
    """

    def __init__(self, states: PlanStates, read: Callable[[Micros], AftermathFacts]) -> None:
        self._states, self._read = states, read
        self._looked_at: Micros | None = None
        self._judged: set[tuple[str, str]] = set()

    def look(self) -> list[MaintenanceBreaker]:
        """Open what is due, and return it; record on each plan how many runs failed because of it. Without a result of
        the last month nothing is read. Raises SourceError if the states or the facts cannot be read.
        """
        now = self._states.now()
        if self._looked_at is not None and now - self._looked_at < AGAIN_US:
            return []
        self._looked_at = now
        history = self._states.outcomes(Micros(now - OUTCOMES_US))
        if not results(history):
            return []
        try:
            facts = self._read(Micros(now - OUTCOMES_US))
        except LimnographError:
            self._looked_at = None
            raise
        harm = _harm_of_tables(now, history, facts)
        self._tell(harm)
        found = [*_of_harm(now, harm), *_of_effects(now, history, facts)]
        return [each for each in found if self._is_new(each) and self._states.open_breaker(each)]

    def _tell(self, harm: Sequence[_TableHarm]) -> None:
        """Record the runs that failed because of a plan with its result, each time that more are known."""
        for plan_id, runs in _by_plan(harm).items():
            fact = self._states.plan(plan_id)
            if fact is None or fact.state not in _CONFIRMED or len(runs) <= (fact.writers_failed or 0):
                continue
            jobs = ", ".join(sorted({each.job for each in runs})[:_NAMED])
            text = f"{counted(len(runs), 'run')} of {jobs} failed because the plan committed first"
            with contextlib.suppress(PlanMoved):  # the next look sees its state
                again = following(fact, fact.state, ACTOR, text)  # type: ignore[arg-type]  # one of _CONFIRMED
                self._states.record([replace(again, writers_failed=len(runs))])

    def _is_new(self, breaker: MaintenanceBreaker) -> bool:
        evidence = (breaker.key, breaker.opened_by)
        is_new = evidence not in self._judged
        self._judged.add(evidence)
        return is_new


def _harm_of_tables(now: Micros, history: Sequence[PlanFact], facts: AftermathFacts) -> list[_TableHarm]:
    """Runs that failed because of actions of the last week, by table."""
    by_table: dict[str, list[PlanFact]] = defaultdict(list)
    for each in since(history, Micros(now - WEEK_US)):
        by_table[each.table_uuid or ""].append(each)
    return [
        _TableHarm(own, harmed_by_all(spans_of(own, _name_of(own[-1])), facts.runs, facts.reports))
        for own in by_table.values()
        if results(own)
    ]


def _by_plan(harm: Sequence[_TableHarm]) -> dict[str, list[HarmedRun]]:
    found: dict[str, list[HarmedRun]] = defaultdict(list)
    for run in (run for each in harm for run in each.runs):
        found[run.plan_id].append(run)
    return found


def _of_harm(now: Micros, harm: Sequence[_TableHarm]) -> Iterator[MaintenanceBreaker]:
    """Tables whose writers failed."""
    for own, runs in harm:
        facts = BreakerFacts(now, _name_of(own[-1]), results(own)[-1], own)
        if (breaker := harmed(facts, runs)) is not None:
            yield breaker


def _of_effects(now: Micros, history: Sequence[PlanFact], facts: AftermathFacts) -> Iterator[MaintenanceBreaker]:
    """Rules whose last action had not the effect that it was made for."""
    by_rule: dict[str, list[MeasuredOutcome]] = defaultdict(list)
    for outcome in measured_outcomes(history, facts.effects):
        by_rule[outcome.rule].append(outcome)
    plans = {each.plan_id: each for each in history}
    for outcomes in by_rule.values():
        last = outcomes[-1]
        fact = plans[last.plan_id]
        if last.measured_at is None or last.measured_at < now - NEW_US:
            continue
        if (breaker := ineffective(BreakerFacts(now, _name_of(fact), fact, history), outcomes)) is not None:
            yield breaker


def _name_of(fact: PlanFact) -> TableName:
    return TableName(fact.catalog or "", fact.namespace or "", fact.table or "")
