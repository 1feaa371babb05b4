"""A round of maintenance: recover what an executor left, expire what no one decided on, and for each table plan,
propose, decide and run.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from limnograph.analysis.advice.facts import QUIET_MS
from limnograph.analysis.maintenance.guards.every import unsatisfied
from limnograph.analysis.maintenance.limits import limits_of, rule_of
from limnograph.domain.errors import Conflict, LimnographError, PlanMoved, SourceUnavailable
from limnograph.domain.facts.plans import PlanFact
from limnograph.domain.failpoints import FailpointReached
from limnograph.domain.ids import TableName
from limnograph.domain.maintenance.actions import PROCEDURES, place_of
from limnograph.domain.maintenance.policy import PolicyRule
from limnograph.domain.maintenance.states import WAITING
from limnograph.domain.time import Micros, Millis, to_micros
from limnograph.ports.lake import LakeListing
from limnograph.ports.table_maintainer import OpenedTable
from limnograph.services.maintenance import problems as codes
from limnograph.services.maintenance.aftermath import AftermathWatch
from limnograph.services.maintenance.breaker_panel import BreakerPanel
from limnograph.services.maintenance.judging import PlanJudge
from limnograph.services.maintenance.parts import ExecutorParts
from limnograph.services.maintenance.plan_progress import next_of
from limnograph.services.maintenance.planning import PlannedTable
from limnograph.services.maintenance.proposals import approved_by_policy, is_own, may_be_proposed, proposed
from limnograph.services.maintenance.recovery import LEFT, PlanRecovery
from limnograph.services.maintenance.report import RoundReport, report_of
from limnograph.services.maintenance.running import PlanRunner
from limnograph.services.maintenance.settling import PlanSettling

MOST_PLANS = 50
"""Plans of a table in one round: the next round continues."""
AGAIN_US = 3_600_000_000
"""Microseconds after which an unchanged table is planned again, because snapshots and partitions grow old."""


class _PlannedState(NamedTuple):
    """The metadata file at which a table was planned, and when it is planned again although it has not changed."""

    metadata_location: str
    again_at: Micros


class MaintenanceExecutor:
    """`round` is called by one thread at a time; it uses a thread per action. `_seen` is written by the thread of each
    table: single values.
    """

    def __init__(self, parts: ExecutorParts) -> None:
        self._parts = parts
        self._judge = PlanJudge(parts.policy, parts.states, parts.clock, parts.meta_namespaces, parts.neighbours)
        settling = PlanSettling(parts, BreakerPanel(parts.policy, parts.states), self._judge)
        self._runner = PlanRunner(parts, self._judge, settling)
        self._recovery = PlanRecovery(parts, settling)
        self._aftermath = AftermathWatch(parts.states, parts.aftermath)
        self._seen: dict[TableName, _PlannedState] = {}

    def round(self, plan_id: str | None = None, *, waiting_only: bool = False) -> RoundReport:
        """One round. `plan_id`: only this plan. `waiting_only`: only tables of approved plans. Raises SourceError if
        the states cannot be read, or may have been lost.
        """
        began_at, report = time.monotonic(), RoundReport(plans=[], unplanned=[], troubles=[])
        if not self._parts.rebuilt():
            raise SourceUnavailable("plans", "the meta table `plans` could not be read; nothing is executed until then")
        if waiting_only and not self._is_awaited():
            return report
        listing = self._parts.listing()
        for sentence in listing.failed:
            report.trouble(sentence.partition(":")[0], sentence)
        locations = {pointer.name: pointer.location for pointer in listing.pointers if self._is_executed(pointer.name)}
        self._recovery.recover({pointer.name for pointer in listing.pointers}, listing.complete, report)
        self._look_back()
        report.expired = self._expire()
        now = self._parts.states.now()
        found = [fact for fact in self._parts.states.plans(WAITING) if (fact.not_before or 0) <= now]
        self._supersede_gone(listing)
        waiting = {name for fact in found if (name := named(fact)) in locations}
        chosen = [*sorted(waiting), *sorted(locations.keys() - waiting)]
        if plan_id is not None:
            chosen = self._tables_of(plan_id, chosen)
        elif waiting_only:
            chosen = sorted(waiting)
        else:
            chosen = [name for name in chosen if name in waiting or self._is_due(name, locations[name])]
        for each in self._each(chosen, plan_id):
            report.merge(each)
        report.seconds = round(time.monotonic() - began_at, 3)
        return report

    def _supersede_gone(self, listing: LakeListing) -> None:
        """End approved plans of tables that are in no catalog any more: they would wait for ever."""
        names = {str(pointer.name) for pointer in listing.pointers} | listing.listed
        for fact in self._parts.states.plans(WAITING):
            name = named(fact)
            if name.catalog in listing.complete and str(name) not in names:
                text = f"{name} is no longer in the catalog."
                self._recorded(next_of(fact, "superseded", problem=codes.TABLE_GONE, reason=text))

    def _supersede_others(self, opened: OpenedTable) -> None:
        """End approved plans of another table that had this one's name."""
        for fact in self._parts.states.plans(WAITING):
            if named(fact) == opened.name and fact.table_uuid != opened.table_uuid:
                text = f"The catalog's table {opened.name} is another one than at approval."
                self._recorded(next_of(fact, "superseded", problem=codes.ANOTHER_TABLE, reason=text))

    def _look_back(self) -> None:
        """What earlier actions did to jobs may stop further ones."""
        try:
            for breaker in self._aftermath.look():
                self._parts.progress(breaker.text)
        except LimnographError as error:
            self._parts.progress(f"what earlier actions did to jobs is not known: {error}")

    def _is_awaited(self) -> bool:
        """Whether a plan is approved and due, or was left: then catalogs are asked."""
        now = self._parts.states.now()
        own = {each.plan_id for each in self._parts.states.holders()}
        plans = self._parts.states.plans(WAITING | LEFT)
        return any((fact.not_before or 0) <= now and fact.plan_id not in own for fact in plans)

    def _tables_of(self, plan_id: str, names: Sequence[TableName]) -> list[TableName]:
        """The table of a recorded plan; all if it is not recorded yet."""
        fact = self._parts.states.plan(plan_id)
        return [name for name in names if fact is None or name == named(fact)]

    def _each(self, names: Collection[TableName], plan_id: str | None) -> Iterator[RoundReport]:
        if self._parts.policy.concurrent == 1 or len(names) < 2:
            yield from (self._table(name, plan_id) for name in names)
            return
        with ThreadPoolExecutor(self._parts.policy.concurrent, "maintain") as pool:
            yield from pool.map(lambda name: self._table(name, plan_id), names)

    def _is_executed(self, name: TableName) -> bool:
        rule = rule_of(self._parts.policy, name)
        actions = set(PROCEDURES.values())
        return rule is not None and any(self._judge.is_executed(rule, action) for action in actions)

    def _is_due(self, name: TableName, location: str) -> bool:
        seen = self._seen.get(name)
        return seen is None or seen.metadata_location != location or self._parts.states.now() >= seen.again_at

    def _expire(self) -> int:
        """Plans that no one decided on in time."""
        now, count = self._parts.states.now(), 0
        for fact in self._parts.states.plans({"proposed"}):
            if fact.at is not None and now - fact.at > self._parts.policy.expires_after_us:
                try:
                    self._parts.states.record([next_of(fact, "expired", reason="no one decided on it")])
                    count += 1
                except PlanMoved:
                    continue
        return count

    def _table(self, name: TableName, plan_id: str | None) -> RoundReport:
        """One damaged table never stops the others."""
        report = RoundReport(tables=1, plans=[], unplanned=[], troubles=[])
        rule = rule_of(self._parts.policy, name)
        if rule is None or self._parts.stopping():
            return report
        try:
            self._maintain(name, rule, plan_id, report)
        except FailpointReached:
            raise
        except LimnographError as error:
            report.trouble(str(name), error)
            self._seen.pop(name, None)
        return report

    def _maintain(self, name: TableName, rule: PolicyRule, plan_id: str | None, report: RoundReport) -> None:
        parts, handled = self._parts, set[str]()
        while len(handled) < MOST_PLANS and not parts.stopping():
            opened, now = parts.maintainer.open(name), parts.states.now()
            if not handled:
                self._supersede_others(opened)
            planned = parts.planner.plan(opened, rule, now)
            self._seen[name] = _PlannedState(
                opened.metadata_location, _again_at(planned, now, limits_of(parts.policy, rule).quiet_ms or QUIET_MS)
            )
            known = {fact.plan_id: fact for fact in parts.states.plans(table_uuids=[opened.table_uuid])}
            known |= self._proposed(planned, rule, known)
            due = [fact for fact in known.values() if self._may_run(fact, plan_id, handled)]
            fact = min(due, key=lambda each: (place_of(each.rule or ""), each.at or 0, each.plan_id), default=None)
            if fact is None:
                self._report_waiting(planned, known, handled, plan_id, report)
                return
            handled.add(fact.plan_id)
            report.plans.append(self._runner.run(name, rule, fact))

    def _proposed(self, planned: PlannedTable, rule: PolicyRule, known: dict[str, PlanFact]) -> dict[str, PlanFact]:
        """Propose what is due and withdraw own proposals that no longer are; approve what the policy lets run."""
        found: dict[str, PlanFact] = {}
        current = {each.plan_id for each in planned.plans}
        for fact in known.values():
            if fact.state == "proposed" and is_own(fact) and fact.plan_id not in current:
                found |= self._recorded(next_of(fact, "withdrawn", reason="the rules no longer recommend it"))
        for exact in planned.plans:
            last = known.get(exact.plan_id)
            decision = self._judge.decide(planned, exact, None, None)
            if decision.verdict in {"advise", "refuse"}:
                continue  # the policy never runs it
            if may_be_proposed(last, self._parts.states.now()):
                found |= self._recorded(proposed(planned, exact, rule, last))
            now = found.get(exact.plan_id, last)
            is_free = decision.verdict == "run" and now is not None and now.state == "proposed"
            if now is not None and is_free and not unsatisfied(self._judge.guards(planned, exact, None)):
                found |= self._recorded(approved_by_policy(now, rule, decision.text))
        return found

    def _recorded(self, fact: PlanFact) -> dict[str, PlanFact]:
        """A transition, unless another program was first: the next round sees its state."""
        try:
            (made,) = self._parts.states.record([fact])
        except Conflict:
            return {}
        return {made.plan_id: made}

    def _may_run(self, fact: PlanFact, plan_id: str | None, handled: Collection[str]) -> bool:
        if fact.state not in WAITING or fact.plan_id in handled or plan_id not in {None, fact.plan_id}:
            return False
        return fact.not_before is None or fact.not_before <= self._parts.states.now()

    def _report_waiting(
        self,
        planned: PlannedTable,
        known: dict[str, PlanFact],
        handled: Collection[str],
        plan_id: str | None,
        report: RoundReport,
    ) -> None:
        """What is due and did not run, and why."""
        for exact in planned.plans:
            fact = known.get(exact.plan_id)
            if exact.plan_id in handled or fact is None or plan_id not in {None, exact.plan_id}:
                continue
            approval = self._judge.approval_of(fact) if fact.state in WAITING else None
            decision = self._judge.decide(planned, exact, approval, fact)
            unmet = unsatisfied(self._judge.guards(planned, exact, approval)) if decision.verdict == "run" else []
            text = " ".join(each.text for each in unmet) or decision.text
            verdict = "wait" if unmet else decision.verdict
            report.plans.append(report_of(fact, planned.opened.name, text, verdict))


def _again_at(planned: PlannedTable, now: Micros, quiet_ms: int) -> Micros:
    """When an unchanged table is planned again: once the quiet time after its last commit has passed, because what was
    written within it was left out; otherwise after AGAIN_US.
    """
    metadata, latest = planned.reading.metadata, Micros(now + AGAIN_US)
    head = None if metadata.head_id is None else metadata.snapshots.get(metadata.head_id)
    if head is None or head.timestamp_ms is None:
        return latest
    calm_at = to_micros(Millis(head.timestamp_ms + quiet_ms))
    return min(calm_at, latest) if calm_at > now else latest


def named(fact: PlanFact) -> TableName:
    """The table's name, as it was recorded: where to look first, and nothing else."""
    return TableName(fact.catalog or "", fact.namespace or "", fact.table or "")
