"""All transitions of one plan: from the meta table and, before the pipeline has appended them, from the inbox."""

from __future__ import annotations

import msgspec

from limnograph.domain.errors import LimnographError
from limnograph.domain.facts.plans import PlanFact
from limnograph.ports.inbox import Inbox
from limnograph.ports.query_engine import MetaQuery, QueryEngine
from limnograph.services.plans.watch import KIND
from limnograph.services.sources.inbox_items import facts_of_items

_decoder = msgspec.json.Decoder(PlanFact)


class PlanHistory:
    """Immutable after construction. Methods block."""

    def __init__(self, inbox: Inbox, engine: QueryEngine) -> None:
        self._inbox, self._engine = inbox, engine

    def of(self, last: PlanFact) -> tuple[list[PlanFact], list[str]]:
        """The transitions until the last one, oldest first, and what could not be read. O(transitions of the table, and
        of the inbox).
        """
        found, notes = {last.seq: last}, list[str]()
        for read, where in ((self._waiting, "inbox"), (self._appended, "meta table `plans`")):
            try:
                for fact in read(last):
                    if fact.plan_id == last.plan_id and fact.seq < last.seq:
                        found.setdefault(fact.seq, fact)
            except LimnographError:
                notes.append(f"The {where} cannot be read, so that transitions may be missing.")
        return [found[seq] for seq in sorted(found)], notes

    def _waiting(self, _last: PlanFact) -> list[PlanFact]:
        return list(facts_of_items(self._inbox.items(KIND), _decoder, "a plan"))

    def _appended(self, last: PlanFact) -> list[PlanFact]:
        uuids = (last.table_uuid,) if last.table_uuid else ()
        rows = self._engine.select(MetaQuery(table="plans", table_uuids=uuids))
        return msgspec.convert(rows.to_dicts(), list[PlanFact])
