"""Pages of findings: the list, and one finding with its history."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence

from limnograph.domain import cursors
from limnograph.domain.answers.annotations import Annotation
from limnograph.domain.answers.findings import Finding, FindingCounts, FindingDetail, FindingsPage
from limnograph.domain.errors import NotFound, SourceError
from limnograph.domain.facts.findings import FindingFact
from limnograph.domain.finding_codes import CODES, UNSHOWN
from limnograph.domain.finding_limits import DAY
from limnograph.domain.ids import TableName
from limnograph.domain.queries import FindingsQuery
from limnograph.domain.secrecy import placeless
from limnograph.domain.time import EPOCH, Micros, Millis, to_micros
from limnograph.services.findings.annotations import finding_annotations
from limnograph.services.findings.board import FindingsBoard, key_of, key_of_name, place
from limnograph.services.findings.evaluator import FindingsEvaluator
from limnograph.services.findings.records import FindingRecords
from limnograph.services.findings.views import earlier, transition, view
from limnograph.services.lake.store import HotStore

SEEN_BEFORE = 10
RECOVERED = DAY
"""How long a closed finding is shown as recovered, microseconds."""
_POSITION = (int, int, int, str)


class FindingPages:
    """Immutable after construction."""

    def __init__(self, store: HotStore, evaluator: FindingsEvaluator, records: FindingRecords) -> None:
        self._store, self._evaluator, self._records = store, evaluator, records

    @property
    def board(self) -> FindingsBoard:
        """All current findings."""
        return self._evaluator.board

    def open_of(self, key: str) -> tuple[Finding, ...]:
        """Open findings of a table, the most severe first."""
        of_table = self.board.by_table.get(key, ())
        return tuple(view(fact, of_table) for fact in of_table if fact.state == "open")

    def recent_of(self, key: str, now: Micros) -> tuple[Finding, ...]:
        """Open findings of a table, then those that closed within the last RECOVERED."""
        of_table = self.board.by_table.get(key, ())
        recovered = (view(fact, of_table) for fact in of_table if _closed_within(fact, Micros(now - RECOVERED), now))
        return (*self.open_of(key), *recovered)

    def page(self, query: FindingsQuery) -> FindingsPage:
        """Findings that match. Raises InvalidInput (cursor). O(findings of the state)."""
        board = self.board
        matching = _matching(board, query)
        counts = Counter(fact.severity for fact in matching)
        wanted = query.severity
        shown = matching if wanted is None else [fact for fact in matching if fact.severity == wanted]
        question = cursors.of_findings(query)
        first = 0
        if query.cursor:
            at = tuple(cursors.decode(question, query.cursor, _POSITION))
            first = bisect_right(shown, at, key=place)
        part = shown[first : first + query.limit]
        more = first + query.limit < len(shown)
        return FindingsPage(
            rows=[view(fact, board.by_table.get(key_of(fact), ())) for fact in part],
            total=len(shown),
            counts=FindingCounts(critical=counts["critical"], warning=counts["warning"], info=counts["info"]),
            not_evaluated=board.behind,
            notes=self._notes(),
            next_cursor=cursors.encode(question, list(place(part[-1]))) if more else None,
        )

    def annotations(self, start: Millis, end: Millis, table: TableName | None, limit: int) -> list[Annotation]:
        """Where findings opened and closed in `[start, end)`, newest first. Raises NotFound (table)."""
        board, facts = self.board, self.board.facts
        if table is not None:
            known = self._store.resolved(table)
            if known not in self._store.reading.lake.names:
                raise NotFound(f"unknown table {table}")
            facts = board.by_name.get(key_of_name(known), ())
        return finding_annotations(board, facts, start, end)[:limit]

    async def detail(self, finding_id: str) -> FindingDetail:
        """Raises NotFound. If the meta tables do not respond, the history has only what is in memory."""
        fact = self.board.by_id.get(finding_id)
        since = Micros((fact.opened_at if fact else None) or EPOCH)
        try:
            with self._store.reads.page():
                history = await self._store.reads.ask(self._records.history, finding_id, since)
        except SourceError:
            history = [fact] if fact else []
        fact = fact or (history[-1] if history else None)
        if fact is None or fact.code not in CODES:
            raise NotFound(f"unknown finding {finding_id}")
        of_table = self.board.by_table.get(key_of(fact), ())
        return FindingDetail(
            finding=view(fact, of_table),
            history=[transition(each) for each in history],
            seen_before=[view(each, of_table) for each in earlier(fact, of_table)[:SEEN_BEFORE]],
        )

    def _notes(self) -> list[str]:
        error = self._store.reading.error
        return [] if error is None else [f"The meta tables could not be read: {placeless(error.detail)}."]


def _matching(board: FindingsBoard, query: FindingsQuery) -> Sequence[FindingFact]:
    """Findings that match all filters but that of the severity, in order."""
    facts = board.by_name.get(query.table, ()) if query.table else board.open if query.state == "open" else board.facts
    if query.state == "open":
        facts = [fact for fact in facts if fact.state == "open"] if query.table else facts
    else:
        start, end = to_micros(query.start), to_micros(query.end)
        facts = [fact for fact in facts if _closed_within(fact, start, end)]
    return facts if query.code is None else [fact for fact in facts if fact.code == query.code]


def _closed_within(fact: FindingFact, start: Micros, end: Micros) -> bool:
    is_shown = fact.closed_by not in UNSHOWN
    return is_shown and fact.closed_at is not None and start <= fact.closed_at < end
