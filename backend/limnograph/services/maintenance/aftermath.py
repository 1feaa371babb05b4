"""What actions did to jobs, as it becomes known after their results: runs that failed because of them, and effects.

Runs and effects are facts that others push: they open breakers, so that less runs, and never close one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from limnograph.analysis.maintenance.breakers import NEW_US, WEEK_US, BreakerFacts, harmed, ineffective
from limnograph.analysis.maintenance.effects import MeasuredOutcome, measured_outcomes
from limnograph.analysis.maintenance.harm import harmed_by_all, spans_of
from limnograph.analysis.maintenance.history import results, since
from limnograph.domain.errors import LimnographError
from limnograph.domain.facts.effects import EffectFact
from limnograph.domain.facts.events import ReportFact, RunFact
from limnograph.domain.facts.plans import PlanFact
from limnograph.domain.ids import TableName
from limnograph.domain.maintenance.leases import MaintenanceBreaker
from limnograph.domain.maintenance.states import OUTCOMES_US
from limnograph.domain.time import MICROS_PER_SECOND, Micros
from limnograph.ports.plan_states import PlanStates

AGAIN_US = 600 * MICROS_PER_SECOND
"""How often a program that keeps running looks, microseconds."""


class AftermathFacts(NamedTuple):
    """Runs that ended and commits that were reported since an instant, and effects measured since."""

    runs: Sequence[RunFact] = ()
    reports: Sequence[ReportFact] = ()
    effects: Sequence[EffectFact] = ()


class AftermathWatch:
    """`read`: facts since an instant. Used by one thread. A breaker that a user closes stays closed in this process,
    unless something new happens.
    """

    def __init__(self, states: PlanStates, read: Callable[[Micros], AftermathFacts]) -> None:
        self._states, self._read = states, read
        self._looked_at: Micros | None = None
        self._judged: set[tuple[str, str]] = set()

    def look(self) -> list[MaintenanceBreaker]:
        """Open what is due, and return it. Without a result of the last month nothing is read. Raises SourceError if
        the states or the facts cannot be read.
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
        found = [*_of_harm(now, history, facts), *_of_effects(now, history, facts)]
        return [each for each in found if self._is_new(each) and self._states.open_breaker(each)]

    def _is_new(self, breaker: MaintenanceBreaker) -> bool:
        evidence = (breaker.key, breaker.opened_by)
        is_new = evidence not in self._judged
        self._judged.add(evidence)
        return is_new


def _of_harm(now: Micros, history: Sequence[PlanFact], facts: AftermathFacts) -> Iterator[MaintenanceBreaker]:
    """Tables whose writers failed."""
    by_table: dict[str, list[PlanFact]] = defaultdict(list)
    for each in since(history, Micros(now - WEEK_US)):
        by_table[each.table_uuid or ""].append(each)
    for own in by_table.values():
        done = results(own)
        name = _name_of(own[-1])
        runs = harmed_by_all(spans_of(own, name), facts.runs, facts.reports)
        if done and (breaker := harmed(BreakerFacts(now, name, done[-1], own), runs)) is not None:
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
