"""Findings as pages show them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from limnograph.domain.answers.findings import (
    Finding,
    FindingCause,
    FindingEffect,
    FindingState,
    FindingTransition,
    FindingVerdict,
)
from limnograph.domain.answers.stream import FindingStreamEvent
from limnograph.domain.facts.findings import FindingEffectFact, FindingFact
from limnograph.domain.finding_codes import CODES, UNSHOWN, FindingCode, FindingSeverity
from limnograph.domain.ids import TableName
from limnograph.domain.time import EPOCH, to_millis

ShownFinding = Callable[[FindingFact, Sequence[FindingFact]], Finding]
"""A finding and all findings of its table, as pages show it."""


def view(fact: FindingFact, of_table: Sequence[FindingFact]) -> Finding:
    """A finding. `of_table`: all findings of its table, among which are earlier ones of the same code."""
    name = TableName(fact.catalog or "", fact.namespace or "", fact.table or "").plain
    code = cast(FindingCode, fact.code)
    return Finding(
        finding_id=fact.finding_id,
        code=code,
        group=CODES[code].group,
        subject=fact.subject or "",
        state=cast(FindingState, fact.state),
        severity=cast(FindingSeverity, fact.severity),
        **name._asdict(),
        table_uuid=fact.table_uuid or "",
        opened_at=to_millis(fact.opened_at or EPOCH),
        closed_at=to_millis(fact.closed_at),
        closed_by=fact.closed_by,
        cause=_cause(fact),
        effects=[_effect(effect) for effect in fact.effects or ()],
        evidence=_evidence(fact),
        recurrences=len(earlier(fact, of_table)),
        evaluated_at=to_millis(fact.evaluated_at),
    )


def stream_event(fact: FindingFact) -> FindingStreamEvent:
    """A transition on the live stream."""
    name = TableName(fact.catalog or "", fact.namespace or "", fact.table or "").plain
    return FindingStreamEvent(
        finding_id=fact.finding_id,
        catalog=name.catalog,
        table_namespace=name.namespace,
        table=name.table,
        code=cast(FindingCode, fact.code),
        severity=cast(FindingSeverity, fact.severity),
        state=cast(FindingState, fact.state),
    )


def transition(fact: FindingFact) -> FindingTransition:
    """A recorded change."""
    return FindingTransition(
        seq=fact.seq,
        at=to_millis(fact.at or EPOCH),
        state=cast(FindingState, fact.state),
        severity=cast(FindingSeverity, fact.severity),
        closed_by=fact.closed_by,
        evidence=_evidence(fact),
    )


def earlier(fact: FindingFact, of_table: Sequence[FindingFact]) -> list[FindingFact]:
    """Earlier findings of the same code and subject on the table, the newest first."""
    found = [
        each
        for each in of_table
        if (each.code, each.subject) == (fact.code, fact.subject)
        and (each.opened_at or EPOCH) < (fact.opened_at or EPOCH)
        and each.closed_by not in UNSHOWN
    ]
    return sorted(found, key=lambda each: -(each.opened_at or EPOCH))


def _cause(fact: FindingFact) -> FindingCause | None:
    if not fact.cause_snapshot_ids and fact.cause_writer is None:
        return None
    return FindingCause(
        snapshot_ids=[str(each) for each in fact.cause_snapshot_ids or ()],
        writer=fact.cause_writer,
        share=fact.cause_share,
    )


def _effect(fact: FindingEffectFact) -> FindingEffect:
    return FindingEffect(
        job_name=fact.job_name or "",
        verdict=cast(FindingVerdict, fact.verdict),
        because=fact.because or "",
        ratio=fact.ratio,
        ratio_low=fact.ratio_low,
        ratio_high=fact.ratio_high,
        seconds=fact.seconds,
        runs=fact.runs or 0,
        since=to_millis(fact.since or EPOCH),
        last_run_at=to_millis(fact.last_run_at),
    )


def _evidence(fact: FindingFact) -> dict[str, str | float]:
    """Numbers as numbers; a text that looks like one, such as a schema id, stays a text."""
    return {name: _number(name, value) for name, value in (fact.evidence or {}).items()}


def _number(name: str, value: str) -> str | float:
    if name in _TEXTS:
        return value
    try:
        number = float(value)
    except ValueError:
        return value
    return int(number) if number.is_integer() else number


_TEXTS = frozenset(
    {
        *("from", "to", "what", "problem", "alert", "snapshot", "engine", "pointers", "loser", "winner", "stream"),
    }
)
