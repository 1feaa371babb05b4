"""Users' labels on explanations: durable in the inbox before the response, read back with the meta table."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Sequence
from uuid import uuid4

import msgspec

from limnograph.domain.answers.explanations import Label, LabelKind
from limnograph.domain.errors import LimnographError
from limnograph.domain.facts.events import LabelFact
from limnograph.domain.facts.meta_tables import SnapshotFact
from limnograph.domain.ids import TableName
from limnograph.domain.time import EPOCH, Millis, to_micros, to_millis
from limnograph.ports.clock import Clock
from limnograph.ports.inbox import Inbox, InboxItem, item_key
from limnograph.ports.query_engine import MetaQuery, QueryEngine
from limnograph.services.lake.loading import rows_by_id
from limnograph.services.sources.inbox_items import facts_of_items

KIND = "label"
MOST_ROWS = 200
_decoder = msgspec.json.Decoder(LabelFact)
_log = logging.getLogger("limnograph.inbox")


class LabelInput(msgspec.Struct, frozen=True, kw_only=True):
    """A user's label on one commit, for a job and a range (epoch ms)."""

    kind: LabelKind
    snapshot_id: int
    start: Millis
    end: Millis
    job_name: str | None = None
    comment: str | None = None


class Labels:
    """Immutable after construction. The newest label on a commit of a job counts until it is withdrawn."""

    def __init__(self, inbox: Inbox, engine: QueryEngine, clock: Clock) -> None:
        self._inbox, self._engine, self._clock = inbox, engine, clock

    async def accept(self, name: TableName, table_uuid: str, said: LabelInput, author: str) -> Label:
        """Store a label durably and return it. Raises SourceError."""
        now = self._clock.now()
        fact = LabelFact(
            event_id=str(uuid4()),
            at=now,
            kind=said.kind,
            table_uuid=table_uuid,
            catalog=name.catalog,
            namespace=name.namespace,
            table=name.table,
            job_name=said.job_name,
            snapshot_id=said.snapshot_id,
            range_from=to_micros(said.start),
            range_to=to_micros(said.end),
            author=author,
            comment=said.comment,
            observed_at=now,
        )
        item = InboxItem(KIND, item_key(fact.event_id), msgspec.json.encode(fact), now)
        await asyncio.to_thread(self._inbox.put, [item])
        return _label(fact)

    def of_table(self, table_uuid: str) -> list[LabelFact]:
        """All labels of a table in time order. Blocks. If a source fails, only its labels are missing."""
        facts = {fact.event_id: fact for fact in [*self._stored(table_uuid), *self._waiting(table_uuid)]}
        return sorted(facts.values(), key=lambda fact: (fact.at or 0, fact.event_id))

    def rows(self, table_uuid: str, snapshot_ids: Sequence[int]) -> list[SnapshotFact]:
        """Labelled commits in the meta table, at most the last MOST_ROWS. Blocks."""
        try:
            return rows_by_id(self._engine, table_uuid, tuple(snapshot_ids[-MOST_ROWS:]))
        except LimnographError as error:
            _log.warning("labelled commits: %s", error)
            return []

    def _stored(self, table_uuid: str) -> list[LabelFact]:
        try:
            rows = self._engine.select(MetaQuery(table="labels", table_uuids=(table_uuid,)))
        except LimnographError as error:
            _log.warning("labels of the meta tables: %s", error)
            return []
        return msgspec.convert(rows.to_dicts(), list[LabelFact])

    def _waiting(self, table_uuid: str) -> list[LabelFact]:
        try:
            items = self._inbox.items(KIND)
        except LimnographError as error:
            _log.warning("labels of the inbox: %s", error)
            return []
        return [fact for fact in facts_of_items(items, _decoder, "a label") if fact.table_uuid == table_uuid]


def counting(facts: Iterable[LabelFact], start: Millis, end: Millis) -> list[Label]:
    """The newest label on each commit of each job, for ranges that overlap `[start, end)` (epoch ms)."""
    newest: dict[tuple[int | None, str | None], LabelFact] = {}
    for fact in facts:
        low, high = fact.range_from, fact.range_to
        if (low is None or low < to_micros(end)) and (high is None or high >= to_micros(start)):
            newest[fact.snapshot_id, fact.job_name] = fact
    return [_label(fact) for fact in newest.values() if fact.kind != "withdrawn"]


def _label(fact: LabelFact) -> Label:
    return Label(
        kind=fact.kind or "expected",  # type: ignore[arg-type]  # written by `accept` only
        snapshot_id=str(fact.snapshot_id),
        t=to_millis(fact.at or EPOCH),
        job_name=fact.job_name,
        author=fact.author,
        comment=fact.comment,
    )
