"""Opening and closing of findings as marks on other programs' graphs, each with its sentence."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from limnograph.domain.answers.annotations import Annotation
from limnograph.domain.facts.findings import FindingFact
from limnograph.domain.finding_codes import UNSHOWN
from limnograph.domain.page_paths import finding_path
from limnograph.domain.time import EPOCH, Millis, to_millis
from limnograph.services.findings.board import FindingsBoard, key_of
from limnograph.services.findings.sentences import sentence_of
from limnograph.services.findings.views import view


class _Turn(NamedTuple):
    at: Millis
    finding_id: str
    name: Literal["opened", "closed"]
    fact: FindingFact


def finding_annotations(
    board: FindingsBoard, facts: Sequence[FindingFact], start: Millis, end: Millis, limit: int
) -> list[Annotation]:
    """The newest marks in `[start, end)`, newest first: one where a finding opened, one where it closed. O(findings)
    for their times; only `limit` of them are put into words.
    """
    turns = (turn for fact in facts if fact.closed_by not in UNSHOWN for turn in _turns(fact) if start <= turn.at < end)
    newest = heapq.nsmallest(limit, turns, key=lambda turn: (-turn.at, turn.finding_id, turn.name))
    return [_mark(board, turn.fact, turn.name, turn.at) for turn in newest]


def _turns(fact: FindingFact) -> Iterator[_Turn]:
    yield _Turn(to_millis(fact.opened_at or EPOCH), fact.finding_id, "opened", fact)
    closed = to_millis(fact.closed_at)
    if closed is not None:
        yield _Turn(closed, fact.finding_id, "closed", fact)


def _mark(board: FindingsBoard, fact: FindingFact, turn: str, at: Millis) -> Annotation:
    finding = view(fact, board.by_table.get(key_of(fact), ()))
    name = f"{finding.catalog}.{finding.namespace}.{finding.table}"
    return Annotation(
        id=f"{finding.finding_id}-{turn}",
        time=at,
        title=f"{finding.code} {turn}: {name}",
        text=sentence_of(finding),
        tags=["finding", turn, finding.severity, finding.code, name],
        path=finding_path(finding.finding_id),
    )
