"""The page of a table's storage: its bytes, and the files of one snapshot.

Cost: one answer reads all manifests of the retained snapshots in a child process, one answer at a time. Answers are
kept while the table does not change, for at most KEPT_S.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import NamedTuple

from limnograph.domain.answers.storage import StoragePage, StorageReading
from limnograph.domain.errors import MetadataError, TooManyRequests
from limnograph.domain.ids import TableName
from limnograph.domain.metadata.due import DueTable
from limnograph.domain.time import MICROS_PER_SECOND, Micros, to_millis
from limnograph.ports.advice_source import TableStorageReader
from limnograph.ports.clock import Clock
from limnograph.ports.query_engine import QueryEngine
from limnograph.services.lake.history import History
from limnograph.services.lake.store import HotStore
from limnograph.services.table.due import due_of, located
from limnograph.services.table.histories import TableHistories

KEPT, KEPT_S = 32, 600
"""Answers that are kept, and for how many seconds: ages of snapshots change with time."""
MOST_WAITING = 8
RETRY_S = 10

Key = tuple[str, str, int | None]


class _KeptAnswer(NamedTuple):
    at: Micros
    reading: StorageReading


class StoragePages:
    """Used on the event loop only. `source`: None if this server does not read the storage of tables."""

    def __init__(
        self, store: HotStore, engine: QueryEngine, clock: Clock, source: TableStorageReader | None = None
    ) -> None:
        self._engine, self._clock, self._source = engine, clock, source
        self._tables = TableHistories(store, clock)
        self._kept: OrderedDict[Key, _KeptAnswer] = OrderedDict()
        self._turn, self._waiting = asyncio.Lock(), 0

    async def page(self, name: TableName, snapshot_id: int | None) -> StoragePage:
        """The page; `snapshot_id` None: of main's current snapshot. Raises NotFound, SourceError, TooManyRequests."""
        history = self._tables.now(name)
        answer = await self._answer(name, history, snapshot_id)
        return StoragePage(
            **self._tables.head(name, history, []),
            read_at=to_millis(answer.at),
            bytes=answer.reading.bytes,
            bytes_missing=answer.reading.bytes_missing,
            tree=answer.reading.tree,
            tree_missing=answer.reading.tree_missing,
        )

    async def _answer(self, name: TableName, history: History, snapshot_id: int | None) -> _KeptAnswer:
        if self._source is None:
            return self._unread("this server does not read the storage of tables")
        if self._waiting >= MOST_WAITING:
            raise TooManyRequests("too many requests read the storage of tables at the same time", RETRY_S)
        self._waiting += 1
        try:
            location = await asyncio.to_thread(located, self._engine, history)
            if location is None:
                return self._unread("no readable metadata of the table is known")
            key = (history.uuid, location, snapshot_id)
            if known := self._known(key):
                return known
            async with self._turn:
                return self._known(key) or await self._read(key, self._source, due_of(name, history, location))
        finally:
            self._waiting -= 1

    def _known(self, key: Key) -> _KeptAnswer | None:
        known = self._kept.get(key)
        if known is None or not 0 <= self._clock.now() - known.at < KEPT_S * MICROS_PER_SECOND:
            return None
        self._kept.move_to_end(key)
        return known

    async def _read(self, key: Key, source: TableStorageReader, due: DueTable) -> _KeptAnswer:
        now = self._clock.now()
        try:
            reading = await asyncio.to_thread(source.storage, due, key[2], to_millis(now))
        except MetadataError as error:
            return self._unread(f"the metadata of the table cannot be read: {error.detail}")
        self._kept[key] = found = _KeptAnswer(now, reading)
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return found

    def _unread(self, why: str) -> _KeptAnswer:
        return _KeptAnswer(
            self._clock.now(), StorageReading(bytes=None, bytes_missing=why, tree=None, tree_missing=why)
        )
