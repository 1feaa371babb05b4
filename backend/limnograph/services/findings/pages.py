"""Pages of findings: the list, and one finding with its history."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from limnograph.domain import cursors
from limnograph.domain.answers.annotations import Annotation
from limnograph.domain.answers.findings import Finding, FindingCounts, FindingDetail, FindingsPage
from limnograph.domain.errors import NotFound, SourceError
from limnograph.domain.facts.findings import FindingFact
from limnograph.domain.finding_codes import CODES
from limnograph.domain.finding_limits import DAY
from limnograph.domain.ids import TableName
from limnograph.domain.queries import FindingsQuery
from limnograph.domain.secrecy import placeless
from limnograph.domain.time import EPOCH, Micros, Millis, to_micros
from limnograph.services.findings.annotations import finding_annotations
from limnograph.services.findings.board import FindingsBoard, key_of, key_of_name, place
from limnograph.services.findings.earlier import EarlierEvents
from limnograph.services.findings.evaluator import FindingsEvaluator
from limnograph.services.findings.lists import FindingLists, closed_within
from limnograph.services.findings.records import FindingRecords
from limnograph.services.findings.team_memory import TeamMemory
from limnograph.services.findings.views import earlier, transition
from limnograph.services.lake.store import HotStore
from limnograph.services.notes.targets import NoteTarget

SEEN_BEFORE = 10
RECOVERED = DAY
"""How long a closed finding is shown as recovered, microseconds."""
_POSITION = (int, int, int, str)


class FindingPages:
    """Immutable after construction. `team`: what is joined to findings. `earlier`: what happened before one."""

    def __init__(
        self, store: HotStore, evaluator: FindingsEvaluator, records: FindingRecords, team: TeamMemory
    ) -> None:
        self._store, self._evaluator, self._records, self.team = store, evaluator, records, team
        self._lists = FindingLists(team)
        self.earlier = EarlierEvents(store, lambda: self.board, team.registry)

    @property
    def board(self) -> FindingsBoard:
        """All current findings."""
        return self._evaluator.board

    @property
    def acknowledged(self) -> frozenset[str]:
        """Ids of the open findings that are acknowledged."""
        return self._lists.open_of(self.board).hidden

    def count_open(self) -> int | None:
        """The number of open findings that are not acknowledged; None before the first evaluation."""
        board = self.board
        return None if board.evaluated is None else len(self._lists.open_of(board).shown)

    def open_of(self, key: str) -> tuple[Finding, ...]:
        """Open findings of a table, acknowledged ones last, the most severe first."""
        of_table = self.board.by_table.get(key, ())
        found = [self.shown(fact, of_table) for fact in of_table if fact.state == "open"]
        return tuple(sorted(found, key=lambda finding: finding.acknowledged_until is not None))

    def shown(self, fact: FindingFact, of_table: Sequence[FindingFact]) -> Finding:
        """A finding with what the team wrote on it."""
        return self.team.shown(fact, of_table)

    def recent_of(self, key: str, now: Micros) -> tuple[Finding, ...]:
        """Open findings of a table, then those that closed within the last RECOVERED."""
        of_table = self.board.by_table.get(key, ())
        recovered = (
            self.shown(fact, of_table) for fact in of_table if closed_within(fact, Micros(now - RECOVERED), now)
        )
        return (*self.open_of(key), *recovered)

    def page(self, query: FindingsQuery) -> FindingsPage:
        """Findings that match. Raises InvalidInput (cursor). O(findings of the state)."""
        board = self.board
        rows, counts, acknowledged = self._lists.select(board, query)
        question = cursors.of_findings(query)
        first = 0
        if query.cursor:
            at = tuple(cursors.decode(question, query.cursor, _POSITION))
            first = bisect_right(rows, at, key=place)
        part = rows[first : first + query.limit]
        more = first + query.limit < len(rows)
        return FindingsPage(
            rows=[self.shown(fact, board.by_table.get(key_of(fact), ())) for fact in part],
            total=len(rows),
            acknowledged=acknowledged,
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
        return finding_annotations(board, facts, start, end, limit)

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
            finding=self.shown(fact, of_table),
            history=[transition(each) for each in history],
            seen_before=[self.shown(each, of_table) for each in earlier(fact, of_table)[:SEEN_BEFORE]],
            earlier=self.earlier.before_finding(fact),
        )

    async def note_target(self, finding_id: str) -> NoteTarget:
        """A finding as the target of a note. Raises NotFound."""
        fact = self.board.by_id.get(finding_id)
        if fact is None:
            found = (await self.detail(finding_id)).finding
            name = self._store.resolved(TableName.from_plain(found.catalog, found.namespace, found.table))
            return NoteTarget("finding", finding_id, found.table_uuid or None, name, to_micros(found.opened_at))
        name = TableName(fact.catalog or "", fact.namespace or "", fact.table or "")
        severity = fact.severity if fact.state == "open" else None
        return NoteTarget("finding", finding_id, fact.table_uuid, name, fact.opened_at, severity=severity)

    def _notes(self) -> list[str]:
        error = self._store.reading.error
        return [] if error is None else [f"The meta tables could not be read: {placeless(error.detail)}."]
