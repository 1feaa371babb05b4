"""Findings of one table from its own history alone: without catalog, jobs or records."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from limnograph.analysis.advice.own_retention import own_retention_of, refs_of
from limnograph.analysis.findings.columns import ColumnCommit, ColumnWatch
from limnograph.analysis.findings.episodes import Episode
from limnograph.analysis.findings.facts import TableFacts, no_facts
from limnograph.analysis.findings.observed.subject_levels import SubjectLevel, at_once
from limnograph.analysis.findings.storage.held_bytes import held_levels
from limnograph.domain.advice.document import AdvisedFinding
from limnograph.domain.advice.reading import AdviceReading
from limnograph.domain.facts.findings import FindingFact
from limnograph.domain.facts.meta_tables import SnapshotFact
from limnograph.domain.finding_codes import ObservedSource, severity_rank
from limnograph.domain.finding_limits import FindingLimits
from limnograph.domain.ids import TableName
from limnograph.domain.time import EPOCH, Micros, to_micros, to_millis
from limnograph.ports.query_engine import QueryEngine
from limnograph.services.findings.evaluation import begun, transitions
from limnograph.services.findings.storage.cold_findings import written_levels
from limnograph.services.findings.table_facts import READ_COLUMNS, facts_of
from limnograph.services.lake.loading import load

AT_ONCE = FindingLimits(confirmed_after=0)
"""A location is judged once: a level that is exceeded now opens its finding now."""


class JudgedHistory(NamedTuple):
    """A table's moves, and its open findings, the most severe first."""

    facts: TableFacts
    findings: list[AdvisedFinding]


def judge(
    engine: QueryEngine,
    reading: AdviceReading,
    name: TableName,
    limits: FindingLimits = AT_ONCE,
    *,
    columns: Iterable[SnapshotFact] = (),
) -> JudgedHistory:
    """Evaluate the rows of one table at the instant of a reading, and the bytes that it read. `columns`: rows with
    statistics of columns, in the order of the commits. O(rows).
    """
    table_uuid, now = reading.metadata.table_uuid, to_micros(reading.now)
    span = load(engine, EPOCH, (table_uuid,), columns=READ_COLUMNS, end=Micros(now + 1))
    table = span.tables.get(table_uuid)
    facts = no_facts() if table is None else facts_of(table)
    evaluation = begun(facts, 0, now, limits)
    observed: dict[ObservedSource, list[Episode]] = {
        "storage": at_once(_held(reading, limits), now),
        "columns": _column_episodes(columns, now, limits),
        "partitions": at_once([] if table is None else written_levels(engine, table, now, limits), now),
    }
    current, _ = transitions(table_uuid, name, evaluation, [], now, disabled=limits.disabled, observed=observed)
    return JudgedHistory(facts, advised_findings(current))


def _column_episodes(facts: Iterable[SnapshotFact], now: Micros, limits: FindingLimits) -> list[Episode]:
    watch = ColumnWatch(limits)
    for fact in facts:
        if fact.column_stats and fact.committed_at is not None and fact.committed_at <= now:
            writer = fact.app_name or fact.app_id or fact.engine
            watch.take(ColumnCommit(fact.committed_at, fact.snapshot_id, writer, fact.column_stats))
    return watch.episodes(now)


def _held(reading: AdviceReading, limits: FindingLimits) -> list[SubjectLevel]:
    if reading.held is None:
        return []
    metadata = reading.metadata
    return held_levels(reading.held.bytes, own_retention_of(metadata), refs_of(metadata), limits)


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
