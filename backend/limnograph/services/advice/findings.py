"""Findings of one table from its own history alone: without catalog, jobs or records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from limnograph.analysis.findings.facts import TableFacts, no_facts
from limnograph.domain.advice.document import AdvisedFinding
from limnograph.domain.facts.findings import FindingFact
from limnograph.domain.finding_codes import severity_rank
from limnograph.domain.finding_limits import FindingLimits
from limnograph.domain.ids import TableName
from limnograph.domain.time import EPOCH, Micros, to_millis
from limnograph.ports.query_engine import QueryEngine
from limnograph.services.findings.evaluation import begun, transitions
from limnograph.services.findings.table_facts import READ_COLUMNS, facts_of
from limnograph.services.lake.loading import load

AT_ONCE = FindingLimits(confirmed_after=0)
"""A location is judged once: a level that is exceeded now opens its finding now."""


class JudgedHistory(NamedTuple):
    """A table's moves, and its open findings, the most severe first."""

    facts: TableFacts
    findings: list[AdvisedFinding]


def judge(
    engine: QueryEngine, table_uuid: str, name: TableName, now: Micros, limits: FindingLimits = AT_ONCE
) -> JudgedHistory:
    """Evaluate the rows of one table at an instant. O(rows)."""
    span = load(engine, EPOCH, (table_uuid,), columns=READ_COLUMNS, end=Micros(now + 1))
    table = span.tables.get(table_uuid)
    facts = no_facts() if table is None else facts_of(table)
    evaluation = begun(facts, 0, now, limits)
    current, _ = transitions(table_uuid, name, evaluation, [], now, disabled=limits.disabled, observed={})
    return JudgedHistory(facts, advised_findings(current))


def advised_findings(facts: Sequence[FindingFact]) -> list[AdvisedFinding]:
    """Those that are open, for the document."""
    found = [
        AdvisedFinding(
            code=fact.code or "",
            severity=fact.severity or "info",
            subject=fact.subject or "",
            opened_at=to_millis(fact.opened_at if fact.opened_at is not None else EPOCH),
            evidence=dict(fact.evidence or {}),
        )
        for fact in facts
        if fact.state == "open"
    ]
    return sorted(found, key=lambda each: (-severity_rank(each.severity), each.opened_at, each.code, each.subject))
