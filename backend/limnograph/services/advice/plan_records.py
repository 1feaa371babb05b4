"""Recorded plans: read from the meta table and, before the pipeline has appended them, from the inbox."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from limnograph.domain.facts.plans import PlanFact
from limnograph.domain.time import Micros
from limnograph.ports.inbox import Inbox, InboxItem, Kind, item_key
from limnograph.ports.query_engine import MetaQuery, QueryEngine
from limnograph.services.sources.inbox_items import facts_of_items

KIND: Kind = "plan"
_decoder = msgspec.json.Decoder(PlanFact)


class PlanRecords:
    """Immutable after construction. All methods block and raise SourceError."""

    def __init__(self, inbox: Inbox, engine: QueryEngine) -> None:
        self._inbox, self._engine = inbox, engine

    def put(self, facts: Iterable[PlanFact], now: Micros) -> int:
        """Store transitions durably; returns the number of new ones. Of two servers that record the same transition,
        one wins.
        """
        items = [InboxItem(KIND, item_key(fact.plan_id, fact.seq), msgspec.json.encode(fact), now) for fact in facts]
        return self._inbox.put(items)

    def newest(self, table_uuids: tuple[str, ...] = ()) -> dict[str, PlanFact]:
        """The last transition of every plan, or of those of some tables. O(transitions)."""
        rows = self._engine.select(MetaQuery(table="plans", table_uuids=table_uuids))
        found: dict[str, PlanFact] = {}
        waiting = facts_of_items(self._inbox.items(KIND), _decoder, "a plan")
        for fact in (*msgspec.convert(rows.to_dicts(), list[PlanFact]), *waiting):
            wanted = not table_uuids or fact.table_uuid in table_uuids
            if wanted and (fact.plan_id not in found or found[fact.plan_id].seq < fact.seq):
                found[fact.plan_id] = fact
        return found
