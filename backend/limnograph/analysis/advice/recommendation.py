"""The document's part of one table, from the answers of its rules."""

from __future__ import annotations

from collections.abc import Sequence

from limnograph.analysis.advice.facts import AdviceFacts
from limnograph.analysis.advice.planned import PlannedAction, RuleAnswer, plan_id
from limnograph.analysis.advice.rules import plans_first
from limnograph.analysis.advice.statements.subject import StatementTable
from limnograph.analysis.advice.stating import stated
from limnograph.domain.advice.document import NotKnown, NotWorth, PlanScope, Recommendation


def recommendations(facts: AdviceFacts, answers: Sequence[RuleAnswer], table: StatementTable) -> list[Recommendation]:
    """The plans with their statements, best first."""
    return [_recommendation(facts, plan, table) for plan in plans_first(answers)]


def _recommendation(facts: AdviceFacts, plan: PlannedAction, table: StatementTable) -> Recommendation:
    own_ages = facts.refs_with_own_age(plan.snapshots)
    mapped = facts.metadata.properties.get("delta.columnMapping.mode", "none") != "none"
    texts = stated(plan, table, facts.survey, own_ages, mapped=mapped)
    return Recommendation(
        plan_id=plan_id(facts.metadata.table_uuid, plan),
        action=plan.action,
        rule=plan.rule,
        because=plan.because,
        scope=PlanScope(partitions=[each.text for each in plan.partitions], where=texts.where),
        predicted=plan.predicted,
        value=plan.value,
        guards=plan.guards,
        statements=texts.statements,
    )


def not_worth(answers: Sequence[RuleAnswer]) -> list[NotWorth]:
    """Rules whose action does not pay."""
    return [answer for answer in answers if isinstance(answer, NotWorth)]


def not_known(facts: AdviceFacts, answers: Sequence[RuleAnswer]) -> list[NotKnown]:
    """Rules without an answer, and the bytes if they are unknown."""
    found = [answer for answer in answers if isinstance(answer, NotKnown)]
    if facts.bytes is None:
        found.append(NotKnown(rule="held_bytes", missing=facts.unsummed or "the files of all retained snapshots"))
    return found
