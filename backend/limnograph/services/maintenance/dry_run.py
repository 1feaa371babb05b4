"""What a round would do, and what stands against it. Changes nothing: no lease, no state, no table."""

from __future__ import annotations

import time

import msgspec

from limnograph.analysis.maintenance.guards.every import may_hold_later, unsatisfied
from limnograph.analysis.maintenance.limits import mode_of, rule_of
from limnograph.domain.advice.document import NotWorth
from limnograph.domain.errors import LimnographError
from limnograph.domain.facts.plans import PlanFact
from limnograph.domain.ids import TableName
from limnograph.domain.maintenance.actions import PROCEDURES
from limnograph.domain.maintenance.policy import PolicyRule
from limnograph.domain.maintenance.states import WAITING
from limnograph.services.maintenance.judging import PlanJudge
from limnograph.services.maintenance.parts import ExecutorParts
from limnograph.services.maintenance.planning import ExactPlan, PlannedTable
from limnograph.services.maintenance.proposals import proposed
from limnograph.services.maintenance.report import PlanReport, RoundReport, UnplannedRule, report_of


class MaintenanceDryRun:
    """Used by one thread."""

    def __init__(self, parts: ExecutorParts) -> None:
        self._parts = parts
        self._judge = PlanJudge(parts.policy, parts.states, parts.clock, parts.meta_namespaces, parts.neighbours)

    def report(self, plan_id: str | None = None) -> RoundReport:
        """All tables that a policy names and whose mode is not `off`. `plan_id`: only this plan."""
        began_at, report = time.monotonic(), RoundReport(plans=[], unplanned=[], troubles=[])
        listing = self._parts.listing()
        for sentence in listing.failed:
            report.trouble(sentence.partition(":")[0], sentence)
        for name in sorted(pointer.name for pointer in listing.pointers):
            rule = rule_of(self._parts.policy, name)
            if rule is None or all(mode_of(self._parts.policy, rule, each) == "off" for each in PROCEDURES.values()):
                continue
            report.tables += 1
            try:
                self._table(name, rule, plan_id, report)
            except LimnographError as error:
                report.trouble(str(name), error)
        report.seconds = round(time.monotonic() - began_at, 3)
        return report

    def _table(self, name: TableName, rule: PolicyRule, plan_id: str | None, report: RoundReport) -> None:
        parts = self._parts
        planned = parts.planner.plan(parts.maintainer.open(name), rule, parts.states.now())
        known = {fact.plan_id: fact for fact in parts.states.plans(table_uuids=[planned.opened.table_uuid])}
        report.plans += [
            self._plan(planned, exact, rule, known.get(exact.plan_id))
            for exact in planned.plans
            if plan_id in {None, exact.plan_id}
        ]
        for each in planned.unplanned if plan_id is None else ():
            if each.rule in PROCEDURES:
                is_known = isinstance(each, NotWorth)
                text = each.text if isinstance(each, NotWorth) else f"not known: {each.missing}"
                code = "not_worth" if is_known else "not_known"
                report.unplanned.append(UnplannedRule(table=str(name), rule=each.rule, problem=code, text=text))
        if planned.unlisted is not None:
            report.trouble(str(name), f"its folder could not be listed: {planned.unlisted}")

    def _plan(self, planned: PlannedTable, exact: ExactPlan, rule: PolicyRule, fact: PlanFact | None) -> PlanReport:
        approval = self._judge.approval_of(fact) if fact is not None and fact.state in WAITING else None
        objections = [each.text for each in self._judge.objections(planned, exact, approval, fact)]
        unmet = unsatisfied(self._judge.guards(planned, exact, approval))
        objections += [each.text for each in unmet]
        decision = self._judge.decide(planned, exact, approval, fact)
        if decision.verdict == "run" and unmet:
            decision = decision._replace(verdict="wait" if may_hold_later(unmet) else "refuse")
        shown = proposed(planned, exact, rule, None)
        found = report_of(shown, planned.opened.name, " ".join(objections) or decision.text)
        return msgspec.structs.replace(found, state=fact.state if fact else None, would=decision.verdict, problem=None)
