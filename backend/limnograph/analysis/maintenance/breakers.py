"""Breakers: stops of maintenance that open themselves. Each says who opened it, and how it closes.

A breaker is looked for when something has just happened: a conflict, a result, an effect. What happened before a user
closed one does not open it again by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import msgspec

from limnograph.analysis.advice.words import counted, money, size
from limnograph.analysis.maintenance.effects import MeasuredOutcome
from limnograph.analysis.maintenance.harm import HarmedRun
from limnograph.analysis.maintenance.history import DONE, conflicts_in_a_row, of_table, results, since, times_taken_up
from limnograph.domain.facts.plans import PlanFact
from limnograph.domain.ids import TableName
from limnograph.domain.maintenance.actions import REWRITING
from limnograph.domain.maintenance.leases import BreakerScope, BudgetSpent, MaintenanceBreaker
from limnograph.domain.maintenance.policy import DAY_US, MaintenancePolicy, PolicyRule
from limnograph.domain.time import Micros, truncated

WEEK_US = 7 * DAY_US
HALF_OPEN_US, NEW_US = DAY_US, DAY_US + DAY_US // 12
MOST_CONFLICTS, MOST_REPEATS, MOST_OFF, MOST_HARMED, MOST_WITHOUT_EFFECT = 3, 3, 3, 2, 2
LEAST_REDUCTION = 0.01
OFF_FACTOR, OFF_SECONDS = 3.0, 60.0
"""A prediction is off if it is so many times too small or too large, and by so many seconds."""
_MERGING = frozenset({"compact", "position_deletes", "delta_compact"})
"""Rules whose purpose is fewer files."""
_BY_EFFECT = frozenset({"compact", "compact_deletes", "position_deletes", "delta_compact", "delta_purge"})
"""Rules whose purpose is faster jobs: without an effect, they cost for nothing."""


class BreakerFacts(NamedTuple):
    """Facts after a transition `fact` of a plan of one table.

    history     transitions of all tables, of the last 30 days, with `fact`
    spent       on the current UTC day, with `fact`
    outcomes    measured effects of plans, oldest first, all tables
    live_bytes  of the table; None: not known
    """

    now: Micros
    name: TableName
    fact: PlanFact
    history: Sequence[PlanFact]
    policy: MaintenancePolicy = MaintenancePolicy()
    rule: PolicyRule | None = None
    spent: BudgetSpent = BudgetSpent(day=0)
    outcomes: Sequence[MeasuredOutcome] = ()
    live_bytes: int | None = None
    currency: str = ""

    @property
    def of_table(self) -> list[PlanFact]:
        """Transitions of the table's plans, oldest first."""
        return of_table(self.history, self.fact.table_uuid or "")


Breaker = Callable[[BreakerFacts], MaintenanceBreaker | None]


def opened(facts: BreakerFacts) -> list[MaintenanceBreaker]:
    """Breakers that a transition opens. O(history)."""
    return [found for breaker in BREAKERS if (found := breaker(facts)) is not None]


def closed_by(facts: BreakerFacts, breakers: Sequence[MaintenanceBreaker]) -> list[str]:
    """Keys of half-open breakers that a verified plan closes, because it ran in spite of them and succeeded."""
    fact = facts.fact
    if fact.state != "verified" or opened(facts):
        return []
    subjects = {"table": fact.table_uuid, "action": fact.action, "rule": fact.rule, "fleet": ""}
    return [
        each.key
        for each in breakers
        if each.half_open_at is not None and each.half_open_at <= facts.now and subjects.get(each.scope) == each.subject
    ]


def conflicts(facts: BreakerFacts) -> MaintenanceBreaker | None:
    """Three conflicts in a row on one table."""
    if facts.fact.state != "conflicted":
        return None
    count = conflicts_in_a_row(facts.of_table)
    if count < MOST_CONFLICTS:
        return None
    text = f"The last {count} actions on {facts.name} lost against another writer"
    return _of_table(facts, "conflicts", text)


def same_files(facts: BreakerFacts) -> MaintenanceBreaker | None:
    """The same files were taken up three times: what an action does to them is undone, or does nothing."""
    if facts.fact.state not in DONE:
        return None
    count = times_taken_up(facts.of_table, facts.fact)
    if count < MOST_REPEATS:
        return None
    return _of_table(facts, "same_files", f"{facts.fact.action} took up the same files of {facts.name} {count} times")


def reduction(facts: BreakerFacts) -> MaintenanceBreaker | None:
    """A rewrite that left nearly as many files as it found."""
    fact = facts.fact
    before, after = fact.result_files_in, fact.result_files_out
    if fact.state != "verified" or fact.rule not in _MERGING or not before or after is None:
        return None
    if before - after >= LEAST_REDUCTION * before:
        return None
    text = f"{fact.action} on {facts.name} replaced {counted(before, 'file')} by {after:,}"
    return _of_table(facts, "reduction", text)


def rewrite_ratio(facts: BreakerFacts) -> MaintenanceBreaker | None:
    """More was rewritten within 7 days than the policy permits, as when results are larger than predicted."""
    rule, live = facts.rule, facts.live_bytes
    if rule is None or not live or facts.fact.state not in DONE or facts.fact.action not in REWRITING:
        return None
    recent = [each for each in results(since(facts.of_table, facts.now - WEEK_US)) if each.action in REWRITING]
    done = sum(each.result_bytes_in or each.bytes_in or 0 for each in recent)
    if done <= rule.max_rewrite_ratio * live:
        return None
    text = f"{size(done)} of {facts.name} were rewritten within 7 days, {done / live:.1f} times the table"
    return _of_table(facts, "rewrite_ratio", text)


def cost(facts: BreakerFacts) -> MaintenanceBreaker | None:
    """The actions of a day cost more than the policy permits."""
    most = facts.policy.max_cost_per_day
    if most is None or facts.fact.state not in DONE or facts.spent.cost <= most:
        return None
    spent, limit = money(facts.spent.cost, facts.currency), money(most, facts.currency)
    tomorrow = Micros(truncated(facts.now, DAY_US) + DAY_US)
    text = f"Today's actions cost {spent}, more than the {limit} that the policy permits"
    return _breaker(facts, ("fleet", ""), "cost", text, tomorrow)


def predictions(facts: BreakerFacts) -> MaintenanceBreaker | None:
    """Three results in a row were far from what the plans predicted: their costs and limits mean nothing."""
    if facts.fact.state != "verified":
        return None
    last = [each for each in results(facts.of_table) if each.action == facts.fact.action][-MOST_OFF:]
    if len(last) < MOST_OFF or not all(map(_is_off, last)):
        return None
    text = f"The last {MOST_OFF} predictions of {facts.fact.action} on {facts.name} were off by more than a factor of 3"
    return _of_table(facts, "predictions", text)


def _is_off(fact: PlanFact) -> bool:
    pairs: list[tuple[float | None, float | None, float]] = [
        (fact.seconds_mid, fact.result_seconds, OFF_SECONDS),
        (fact.bytes_out, fact.result_bytes_out, 0.0),
        (fact.bytes_freed, fact.result_bytes_freed, 0.0),
    ]
    return any(
        abs(actual - predicted) > least and max(predicted, actual) > OFF_FACTOR * max(min(predicted, actual), 1e-9)
        for predicted, actual, least in pairs
        if predicted is not None and actual is not None
    )


def writers_failed(facts: BreakerFacts) -> MaintenanceBreaker | None:
    """Users' jobs failed twice in a week because an action committed first."""
    if not facts.fact.writers_failed:
        return None
    count = sum(each.writers_failed or 0 for each in results(since(facts.of_table, facts.now - WEEK_US)))
    if count < MOST_HARMED:
        return None
    runs = counted(count, "run")
    text = f"{runs} of jobs that write {facts.name} failed within 7 days because maintenance committed first"
    return _of_table(facts, "writers_failed", text)


def harmed(facts: BreakerFacts, runs: Sequence[HarmedRun]) -> MaintenanceBreaker | None:
    """The same from what is known later: `runs` failed because of actions on the table, also after their results were
    recorded. Only a failure of the last day opens it: an older one was judged before.
    """
    recent = [each for each in runs if each.failed_at >= facts.now - WEEK_US]
    if len(recent) < MOST_HARMED or recent[-1].failed_at < facts.now - NEW_US:
        return None
    jobs = ", ".join(sorted({each.job for each in recent})[:3])
    text = f"{len(recent)} runs of {jobs} failed within 7 days because maintenance of {facts.name} committed first"
    last = facts._replace(fact=msgspec.structs.replace(facts.fact, plan_id=recent[-1].plan_id or facts.fact.plan_id))
    return _of_table(last, "writers_failed", text)


def without_effect(facts: BreakerFacts) -> MaintenanceBreaker | None:
    """A plan whose effect is the last one that was measured of its rule, and was not what it was made for."""
    outcomes = [each for each in facts.outcomes if each.rule == facts.fact.rule]
    if facts.fact.state != "measured" or not outcomes or outcomes[-1].plan_id != facts.fact.plan_id:
        return None
    return ineffective(facts, outcomes)


def ineffective(facts: BreakerFacts, outcomes: Sequence[MeasuredOutcome]) -> MaintenanceBreaker | None:
    """One effect that made a job slower, or two in a row without any: the rule is only recommended. `outcomes`: of one
    rule, oldest first; the last one is that of the plan.
    """
    rule, last = outcomes[-1].rule, outcomes[-MOST_WITHOUT_EFFECT:]
    if last[-1].verdict == "worse":
        text = f"An action of the rule {rule} on {facts.name} made the job {last[-1].job} slower"
    elif rule in _BY_EFFECT and len(last) == MOST_WITHOUT_EFFECT and all(each.verdict == "none" for each in last):
        text = f"The last {MOST_WITHOUT_EFFECT} actions of the rule {rule} had no effect on any job"
    else:
        return None
    return _breaker(facts, ("rule", rule), "effects", text, Micros(facts.now + HALF_OPEN_US))


def verification(facts: BreakerFacts, found: str) -> MaintenanceBreaker:
    """The table does not confirm a result: the action stops for all tables. `found`: sentences about rows or files."""
    action = facts.fact.action or ""
    text = f"The verification of {action} on {facts.name} failed: {found.rstrip('.')}"
    return _breaker(facts, ("action", action), "verification", text, None)


def _of_table(facts: BreakerFacts, code: str, text: str) -> MaintenanceBreaker:
    return _breaker(facts, ("table", facts.fact.table_uuid or ""), code, text, Micros(facts.now + HALF_OPEN_US))


def _breaker(
    facts: BreakerFacts, what: tuple[BreakerScope, str], code: str, text: str, half_open_at: Micros | None
) -> MaintenanceBreaker:
    """`text`: a sentence without its full stop, to which the way it closes is added."""
    scope, subject = what
    stops = {
        "table": f"Maintenance of {facts.name} is stopped",
        "action": f"{subject} is stopped for all tables",
        "rule": f"Plans of the rule {subject} are only recommended",
        "fleet": "All maintenance is stopped",
    }[scope]
    until = "until a user closes this breaker"
    if half_open_at is not None:
        until = f"{'until the next day (UTC)' if scope == 'fleet' else 'for 24 h'}, or {until}; then one plan is tried"
    return MaintenanceBreaker(
        key=f"{scope}:{subject}:{code}",
        scope=scope,
        subject=subject,
        code=code,
        opened_by=facts.fact.plan_id,
        opened_at=facts.now,
        text=f"{text}. {stops} {until}. Opened by plan {facts.fact.plan_id[:8]}.",
        half_open_at=half_open_at,
    )


BREAKERS: Sequence[Breaker] = (
    *(conflicts, same_files, reduction, rewrite_ratio, cost, predictions, writers_failed, without_effect),
)
