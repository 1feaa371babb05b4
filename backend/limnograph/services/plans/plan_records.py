"""Recorded transitions: read from the meta table and, before the pipeline has appended them, from the inbox."""

from __future__ import annotations

import msgspec

from limnograph.domain.facts.plans import PlanFact
from limnograph.domain.time import Micros
from limnograph.ports.inbox import Inbox, Kind
from limnograph.ports.query_engine import MetaQuery, QueryEngine
from limnograph.services.sources.inbox_items import facts_of_items

KIND: Kind = "plan"
CONFIRMED = frozenset({"verified", "partly"})
_decoder = msgspec.json.Decoder(PlanFact)


class PlanRecords:
    """Immutable after construction. All methods block and raise SourceError."""

    def __init__(self, inbox: Inbox, engine: QueryEngine) -> None:
        self._inbox, self._engine = inbox, engine

    def confirmed(self, start: Micros, end: Micros) -> list[PlanFact]:
        """Transitions of `[start, end)` at which a table confirmed the result of a plan. O(transitions then)."""
        rows = self._engine.select(MetaQuery(table="plans", start=start, end=end))
        waiting = facts_of_items(self._inbox.items(KIND), _decoder, "a plan")
        found = {(fact.plan_id, fact.seq): fact for fact in msgspec.convert(rows.to_dicts(), list[PlanFact])}
        found |= {(fact.plan_id, fact.seq): fact for fact in waiting if start <= (fact.at or 0) < end}
        return [fact for fact in found.values() if fact.state in CONFIRMED]

    def newest(self) -> dict[str, PlanFact]:
        """The last recorded transition of every plan, by plan id. O(transitions)."""
        rows = self._engine.select(MetaQuery(table="plans"))
        found: dict[str, PlanFact] = {}
        waiting = facts_of_items(self._inbox.items(KIND), _decoder, "a plan")
        for fact in (*msgspec.convert(rows.to_dicts(), list[PlanFact]), *waiting):
            if fact.plan_id not in found or found[fact.plan_id].seq < fact.seq:
                found[fact.plan_id] = fact
        return found
