"""Which findings a query selects, in order: open ones with or without those that are acknowledged, or closed ones."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from limnograph.domain.facts.findings import FindingFact
from limnograph.domain.finding_codes import UNSHOWN
from limnograph.domain.queries import FindingsQuery
from limnograph.domain.time import Micros, to_micros
from limnograph.services.findings.board import FindingsBoard, place
from limnograph.services.findings.team_memory import TeamMemory

Severities = Counter[str | None]
_ByOwner = Mapping[str | None, Sequence[FindingFact]]


class OpenFindings(NamedTuple):
    """The open findings of a board.

    hidden       ids of those that are acknowledged
    acknowledged the same as findings, in order
    shown        the others, in order
    counts       number of `shown` by severity
    """

    hidden: frozenset[str]
    acknowledged: Sequence[FindingFact]
    shown: Sequence[FindingFact]
    counts: Severities


class FindingSelection(NamedTuple):
    """Findings that match a query.

    rows         in order
    counts       by severity, regardless of the severity in the query
    acknowledged how many open ones are acknowledged and match the rest of the query
    """

    rows: Sequence[FindingFact]
    counts: Severities
    acknowledged: int


class FindingLists:
    """Thread-safe: `_open` and `_owned` are replaced whole; a race computes the same value twice."""

    def __init__(self, team: TeamMemory) -> None:
        self._team = team
        self._open: tuple[FindingsBoard | None, int, OpenFindings]
        self._open = None, 0, OpenFindings(frozenset(), (), (), Counter())
        self._owned: tuple[Sequence[FindingFact], tuple[int, int], _ByOwner] = (), (-1, 0), {}

    def open_of(self, board: FindingsBoard) -> OpenFindings:
        """The open findings. O(open findings) if one opened or closed, or an acknowledgement began or ended."""
        number = self._team.acknowledged.number
        if self._open[0] is not board or self._open[1] != number:
            hidden = self._team.hidden(board)
            shown = [fact for fact in board.open if fact.finding_id not in hidden] if hidden else board.open
            acknowledged = sorted((board.by_id[finding_id] for finding_id in hidden), key=place)
            self._open = board, number, OpenFindings(hidden, acknowledged, shown, _counts(shown))
        return self._open[2]

    def select(self, board: FindingsBoard, query: FindingsQuery) -> FindingSelection:
        """Findings that match. O(their number) for all open ones, else O(findings of the state)."""
        if query.state == "closed":
            start, end = to_micros(query.start), to_micros(query.end)
            facts = board.by_name.get(query.table, ()) if query.table else board.facts
            matching = self._matching(board, [fact for fact in facts if closed_within(fact, start, end)], query)
            return FindingSelection(_of_severity(matching, query), _counts(matching), 0)
        known, facts = self.open_of(board), board.open
        acknowledged, shown, counts = known.acknowledged, known.shown, known.counts
        if query.table or query.code or query.owner:
            if query.table:
                facts = [fact for fact in board.by_name.get(query.table, ()) if fact.state == "open"]
            facts = self._matching(board, facts, query)
            acknowledged = [fact for fact in facts if fact.finding_id in known.hidden]
            shown = [fact for fact in facts if fact.finding_id not in known.hidden]
            counts = _counts(shown)
        hidden = len(_of_severity(acknowledged, query))
        if query.acknowledged == "false":
            return FindingSelection(_of_severity(shown, query), counts, hidden)
        chosen = acknowledged if query.acknowledged == "true" else facts
        return FindingSelection(_of_severity(chosen, query), _counts(chosen), hidden)

    def _matching(
        self, board: FindingsBoard, facts: Sequence[FindingFact], query: FindingsQuery
    ) -> Sequence[FindingFact]:
        """Findings that match the code and the owner. O(matching ones) for all open ones, else O(findings)."""
        if query.owner:
            groups = self._open_by_owner(facts) if facts is board.open else self._by_owner(facts)
            facts = groups.get(query.owner, ())
        return facts if query.code is None else [fact for fact in facts if fact.code == query.code]

    def _open_by_owner(self, facts: Sequence[FindingFact]) -> _ByOwner:
        """Of all open findings. O(findings) if they or an owner changed since the last call."""
        version = self._team.owners.version
        if self._owned[0] is not facts or self._owned[1] != version:
            self._owned = facts, version, self._by_owner(facts)
        return self._owned[2]

    def _by_owner(self, facts: Sequence[FindingFact]) -> _ByOwner:
        owners, found = self._team.owners_of(facts), defaultdict[str | None, list[FindingFact]](list)
        for fact in facts:
            found[owners[fact.finding_id]].append(fact)
        return found


def _of_severity(facts: Sequence[FindingFact], query: FindingsQuery) -> Sequence[FindingFact]:
    return facts if query.severity is None else [fact for fact in facts if fact.severity == query.severity]


def _counts(facts: Sequence[FindingFact]) -> Severities:
    return Counter(fact.severity for fact in facts)


def closed_within(fact: FindingFact, start: Micros, end: Micros) -> bool:
    """Whether a finding that is shown closed in `[start, end)`."""
    is_shown = fact.closed_by not in UNSHOWN
    return is_shown and fact.closed_at is not None and start <= fact.closed_at < end
