"""Recorded transitions: read from the meta table and, before the pipeline has appended them, from the inbox."""

from __future__ import annotations

import msgspec

from limnograph.domain.facts.plans import PlanFact
from limnograph.ports.inbox import Inbox, Kind
from limnograph.ports.query_engine import MetaQuery, QueryEngine
from limnograph.services.sources.inbox_items import facts_of_items

KIND: Kind = "plan"
_decoder = msgspec.json.Decoder(PlanFact)


class PlanRecords:
    """Immutable after construction. Blocks and raises SourceError."""

    def __init__(self, inbox: Inbox, engine: QueryEngine) -> None:
        self._inbox, self._engine = inbox, engine

    def newest(self) -> dict[str, PlanFact]:
        """The last recorded transition of every plan, by plan id. O(transitions)."""
        rows = self._engine.select(MetaQuery(table="plans"))
        found: dict[str, PlanFact] = {}
        waiting = facts_of_items(self._inbox.items(KIND), _decoder, "a plan")
        for fact in (*msgspec.convert(rows.to_dicts(), list[PlanFact]), *waiting):
            if fact.plan_id not in found or found[fact.plan_id].seq < fact.seq:
                found[fact.plan_id] = fact
        return found
