"""Opening and closing of findings as marks on other programs' graphs, each with its sentence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from limnograph.domain.answers.annotations import Annotation
from limnograph.domain.facts.findings import FindingFact
from limnograph.domain.finding_codes import UNSHOWN
from limnograph.domain.page_paths import finding_path
from limnograph.domain.time import EPOCH, Millis, to_millis
from limnograph.services.findings.board import FindingsBoard, key_of
from limnograph.services.findings.sentences import sentence_of
from limnograph.services.findings.views import view


def finding_annotations(
    board: FindingsBoard, facts: Sequence[FindingFact], start: Millis, end: Millis
) -> list[Annotation]:
    """Marks in `[start, end)`, newest first: one where a finding opened, one where it closed. O(findings)."""
    found = [mark for fact in facts if fact.closed_by not in UNSHOWN for mark in _marks(board, fact, start, end)]
    return sorted(found, key=lambda mark: (-mark.time, mark.id))


def _marks(board: FindingsBoard, fact: FindingFact, start: Millis, end: Millis) -> Iterator[Annotation]:
    opened, closed = to_millis(fact.opened_at or EPOCH), to_millis(fact.closed_at)
    if start <= opened < end:
        yield _mark(board, fact, "opened", opened)
    if closed is not None and start <= closed < end:
        yield _mark(board, fact, "closed", closed)


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
