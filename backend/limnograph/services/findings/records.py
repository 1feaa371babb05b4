"""Recorded findings: read from the meta table and, before the pipeline has appended them, from the inbox."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from limnograph.domain.facts.findings import FindingFact
from limnograph.domain.time import Micros
from limnograph.ports.inbox import Inbox, InboxItem, item_key
from limnograph.ports.query_engine import MetaQuery, QueryEngine
from limnograph.services.sources.inbox_items import facts_of_items

KIND = "finding"
_decoder = msgspec.json.Decoder(FindingFact)


class FindingRecords:
    """Immutable after construction. All methods block and raise SourceError."""

    def __init__(self, inbox: Inbox, engine: QueryEngine) -> None:
        self._inbox, self._engine = inbox, engine

    def put(self, facts: Iterable[FindingFact], now: Micros) -> int:
        """Store transitions durably; returns the number of new ones. A second one with the same number of the same
        finding is ignored: of two servers, one wins.
        """
        items = [InboxItem(KIND, item_key(fact.finding_id, fact.seq), msgspec.json.encode(fact), now) for fact in facts]
        return self._inbox.put(items)

    def newest(self, since: Micros, until: Micros | None = None) -> dict[str, FindingFact]:
        """The last transition of every finding that changed at `since` or later, and before `until` if given.
        O(transitions).
        """
        rows = self._engine.select(MetaQuery(table="findings", start=since, end=until))
        rows = rows.sort("seq").unique("finding_id", keep="last", maintain_order=True)
        waiting = (fact for fact in self.waiting(since) if until is None or (fact.at or since) < until)
        return newest_of([*(_fact(row) for row in rows.iter_rows(named=True)), *waiting])

    def history(self, finding_id: str, since: Micros) -> list[FindingFact]:
        """All transitions of a finding in order. O(transitions of all findings since)."""
        rows = self._engine.select(MetaQuery(table="findings", start=since))
        facts = [_fact(row) for row in rows.iter_rows(named=True) if row["finding_id"] == finding_id]
        both = [*facts, *(fact for fact in self.waiting(since) if fact.finding_id == finding_id)]
        return sorted({fact.seq: fact for fact in both}.values(), key=lambda fact: fact.seq)

    def since(self, since: Micros) -> list[FindingFact]:
        """All transitions that were recorded at `since` or later. O(these transitions)."""
        rows = self._engine.select(MetaQuery(table="findings", start=since))
        return [*(_fact(row) for row in rows.iter_rows(named=True)), *self.waiting(since)]

    def waiting(self, since: Micros) -> list[FindingFact]:
        """Transitions in the inbox."""
        return decoded(self._inbox.items(KIND, since))

    def items(self, since: Micros) -> Iterable[InboxItem]:
        """The same as stored, whose keys are enough to see which are new."""
        return self._inbox.items(KIND, since)


def decoded(items: Iterable[InboxItem]) -> list[FindingFact]:
    """The transitions in items of the inbox."""
    return list(facts_of_items(items, _decoder, "a finding"))


def newest_of(facts: Iterable[FindingFact]) -> dict[str, FindingFact]:
    """The last transition of every finding."""
    found: dict[str, FindingFact] = {}
    for fact in facts:
        known = found.get(fact.finding_id)
        if known is None or known.seq < fact.seq:
            found[fact.finding_id] = fact
    return found


def _fact(row: dict[str, object]) -> FindingFact:
    """A row as a fact; polars holds a map as pairs."""
    evidence = row["evidence"]
    if isinstance(evidence, list):
        row = {**row, "evidence": {pair["key"]: pair["value"] for pair in evidence}}
    return msgspec.convert(row, FindingFact)
