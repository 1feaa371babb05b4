"""Publishes changes of the lake and its sources on the live stream: compares the hot store with its last state."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import numpy as np

from limnograph.domain.answers.stream import CommitStreamEvent, ResetStreamEvent, SourcesStreamEvent, TableStreamEvent
from limnograph.domain.answers.tables import SourceStatus
from limnograph.domain.facts.meta_tables import SnapshotFact
from limnograph.domain.ids import TableName
from limnograph.domain.time import to_millis
from limnograph.services.lake.history import History
from limnograph.services.lake.store import HotStore
from limnograph.services.lake.table import HotTable
from limnograph.services.server.live import Live

LOOK_S = 0.1
"""How long a commit in memory waits at most before it is published."""
SOURCES_S = 1.0
MOST_COMMITS = 100
"""Commits of one table that are published one by one; a backfill is not."""
MOST_TABLES = 1_000
"""Tables that change at once and are published one by one; beyond it all readers get a reset."""


class LiveLake:
    """Compares the store periodically. Used on the event loop only."""

    def __init__(self, store: HotStore, sources: Callable[[], Awaitable[Sequence[SourceStatus]]], live: Live) -> None:
        self._store, self._sources, self._live = store, sources, live
        self._lake = store.reading.lake
        self._known: dict[str, str] | None = None
        self._first = store.reading.read_at is None

    async def run(self) -> None:
        """Run until cancelled."""
        rounds = 0
        while True:
            self.look()
            if rounds % round(SOURCES_S / LOOK_S) == 0:
                await self.look_at_sources()
            rounds += 1
            await asyncio.sleep(LOOK_S)

    def look(self) -> None:
        """Publish changes of the lake since the last call, except for the first lake: pages were built from it."""
        reading = self._store.reading
        before, self._lake = self._lake, reading.lake
        if reading.lake is before:
            return
        if self._first:
            self._first = reading.read_at is None
            return
        moved = [
            (before.tables.get(uuid), table)
            for uuid, table in reading.lake.tables.items()
            if before.tables.get(uuid) is not table
        ]
        if len(moved) > MOST_TABLES:
            self._live.publish("reset", ResetStreamEvent(reason="too-much"))
            return
        for old, new in moved:
            self._publish(old or HotTable(new.uuid), new)

    def _publish(self, old: HotTable, new: HotTable) -> None:
        if new.name is None:
            return
        ids = np.setdiff1d(new.rows.column("snapshot_id"), old.rows.column("snapshot_id"))
        came = ids.tolist()
        settled = [found for found in old.provisional if found not in new.provisional]
        history = History(new, new.name)
        shown = [*came[-MOST_COMMITS:], *settled[-MOST_COMMITS:]] if len(came) <= MOST_COMMITS else []
        facts = [fact for found in shown if (fact := history.snapshots.get(found)) is not None]
        for fact in sorted(facts, key=lambda fact: fact.committed_at or 0):
            self._live.publish("commit", _commit(new.name, fact, provisional=fact.snapshot_id in new.provisional))
        plain = new.name.plain
        self._live.publish(
            "table",
            TableStreamEvent(
                catalog=plain.catalog,
                table_namespace=plain.namespace,
                table=plain.table,
                commits=len(came),
            ),
        )

    async def look_at_sources(self) -> None:
        """Publish when a source starts or stops responding."""
        sources = tuple(await self._sources())
        states: dict[str, Any] = {source.id: source.status for source in sources}
        if self._known is not None and states != self._known:
            self._live.publish("sources", SourcesStreamEvent(sources=sources))
        self._known = states


def _commit(name: TableName, fact: SnapshotFact, *, provisional: bool) -> CommitStreamEvent:
    plain = name.plain
    return CommitStreamEvent(
        catalog=plain.catalog,
        table_namespace=plain.namespace,
        table=plain.table,
        snapshot_id=str(fact.snapshot_id),
        t=to_millis(fact.committed_at),
        operation=fact.operation,
        added_data_files=fact.added_data_files,
        removed_data_files=fact.removed_data_files,
        provisional=provisional,
    )
