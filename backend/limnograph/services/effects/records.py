"""Measurements of the ledger: read from the meta table and, before the pipeline has appended them, from the inbox."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from limnograph.domain.answers.effect_ledger import Measure
from limnograph.domain.facts.effects import EffectFact
from limnograph.domain.time import Micros
from limnograph.ports.inbox import Inbox, InboxItem, item_key
from limnograph.ports.query_engine import MetaQuery, QueryEngine
from limnograph.services.sources.inbox_items import facts_of_items

KIND = "effect"
_KEY = ("table_uuid", "operation_id", "job_name", "measure", "runs_after")
_decoder = msgspec.json.Decoder(EffectFact)
MeasuredKey = tuple[str, str, str, Measure]
"""Table uuid, operation id, job, measure."""


class EffectRecords:
    """Immutable after construction. All methods block and raise SourceError."""

    def __init__(self, inbox: Inbox, engine: QueryEngine) -> None:
        self._inbox, self._engine = inbox, engine

    def put(self, facts: Iterable[EffectFact], now: Micros) -> None:
        """Store measurements durably. A second one with the same key is ignored."""
        items = [
            InboxItem(KIND, item_key(*(getattr(fact, name) for name in _KEY)), msgspec.json.encode(fact), now)
            for fact in facts
        ]
        self._inbox.put(items)

    def marks(self, since: Micros) -> dict[MeasuredKey, int]:
        """The highest measured mark of every operation, job and measure committed at `since` or later."""
        rows = self._engine.select(MetaQuery(table="effects", columns=_KEY, start=since))
        found: dict[MeasuredKey, int] = {}
        for *key, mark in [*rows.iter_rows(), *(_key(fact) for fact in self._waiting())]:
            known = (key[0], key[1], key[2], key[3])
            found[known] = max(mark, found.get(known, 0))
        return found

    def newest(self, start: Micros, end: Micros) -> list[EffectFact]:
        """The measurement with the most runs of every operation, job and measure, for operations committed in
        `[start, end)`. O(measurements in the span).
        """
        rows = self._engine.select(MetaQuery(table="effects", start=start, end=end))
        rows = rows.sort("runs_after").unique(_KEY[:4], keep="last", maintain_order=True)
        facts = {_key(fact)[:4]: fact for fact in msgspec.convert(rows.to_dicts(), list[EffectFact])}
        for fact in self._waiting():
            known = facts.get(_key(fact)[:4])
            inside = fact.committed_at is not None and start <= fact.committed_at < end
            if inside and (known is None or known.runs_after < fact.runs_after):
                facts[_key(fact)[:4]] = fact
        return list(facts.values())

    def _waiting(self) -> list[EffectFact]:
        return list(facts_of_items(self._inbox.items(KIND), _decoder, "an effect"))


def _key(fact: EffectFact) -> tuple[str, str, str, str, int]:
    return fact.table_uuid, fact.operation_id, fact.job_name, fact.measure, fact.runs_after
