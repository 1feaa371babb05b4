"""All current findings as one immutable value, sorted for pages and indexed by table."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from limnograph.domain.facts.findings import FindingFact
from limnograph.domain.finding_codes import SEVERITIES
from limnograph.domain.time import EPOCH, Micros

_RANK: dict[str, int] = {severity: rank for rank, severity in enumerate(SEVERITIES)}


class FindingsBoard:
    """Open findings, and those that closed within the retention of the board. Immutable after construction.

    `facts`: the last transition of each, the most severe first, then the newest
    `by_table`: the same by table uuid
    `behind`: number of tables that have not been evaluated yet
    """

    def __init__(self, facts: Iterable[FindingFact] = (), behind: int = 0) -> None:
        self.facts: Sequence[FindingFact] = sorted(facts, key=place)
        self.behind = behind
        by_table: dict[str, list[FindingFact]] = defaultdict(list)
        for fact in self.facts:
            by_table[fact.table_uuid or ""].append(fact)
        self.by_table: Mapping[str, Sequence[FindingFact]] = by_table
        self.by_id: Mapping[str, FindingFact] = {fact.finding_id: fact for fact in self.facts}
        self._version = _version(self.facts)
        self.open: Sequence[FindingFact] = [fact for fact in self.facts if fact.state == "open"]

    def version(self, table_uuid: str | None) -> tuple[int, int]:
        """Differs when a finding of a table, or of any table, opened, closed or changed."""
        if table_uuid is None:
            return self._version
        return _version(self.by_table.get(table_uuid, ()))

    def open_of(self, table_uuid: str) -> list[FindingFact]:
        """Open findings of a table, the most severe first."""
        return [fact for fact in self.by_table.get(table_uuid, ()) if fact.state == "open"]


def place(fact: FindingFact) -> tuple[int, Micros, str]:
    """Sort key: severity, then the newest."""
    newest = fact.opened_at if fact.closed_at is None else fact.closed_at
    return _RANK.get(fact.severity or "", len(_RANK)), Micros(-(newest or EPOCH)), fact.finding_id


def _version(facts: Sequence[FindingFact]) -> tuple[int, int]:
    """Transitions are only added, so their number and that of findings identify a state."""
    return len(facts), sum(fact.seq for fact in facts)
