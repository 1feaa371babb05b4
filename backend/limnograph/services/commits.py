"""Commits of a table or of all tables, newest first."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Iterator

from limnograph.domain.answers import CommitRow, CommitsPage
from limnograph.domain.asked import CommitsQuery
from limnograph.domain.errors import SourceUnavailable
from limnograph.domain.facts import SnapshotFact
from limnograph.domain.time import MICROS_PER_MS
from limnograph.services import cursors
from limnograph.services.history import History
from limnograph.services.hot import HotStore, Reading


class CommitLists:
    """Pages of commits."""

    def __init__(self, store: HotStore) -> None:
        self._store = store

    async def page(self, query: CommitsQuery) -> CommitsPage:
        """Raises NotFound (table), InvalidInput (cursor), SourceUnavailable while nothing could be read yet."""
        question = (
            query.start,
            query.end,
            query.table,
            query.operation,
            query.min_added_data_files,
            query.schema_changed,
        )
        after = tuple(cursors.decode(question, query.cursor, (int, int))) if query.cursor else None
        reading = self._store.reading
        if reading.error is not None and not reading.lake.histories:
            raise SourceUnavailable("meta", str(reading.error))
        known = reading.lake.find(query.table) if query.table else None
        if query.start * MICROS_PER_MS < reading.lake.floor:
            uuids = (known.uuid,) if known else ()
            reading = await asyncio.to_thread(self._store.since, query.start * MICROS_PER_MS, uuids)
        rows = self._rows(reading, query, known.uuid if known else None, after)
        page = [row for _, row in zip(range(query.limit + 1), rows, strict=False)]
        more = len(page) > query.limit
        last = page[query.limit - 1] if more else None
        watermark = self._store.watermark
        return CommitsPage(
            rows=[commit_row(*found) for found in page[: query.limit]],
            next_cursor=cursors.encode(question, list(_position(last[1]))) if last else None,
            watermark=None if watermark is None else watermark // MICROS_PER_MS,
        )

    @staticmethod
    def _rows(
        reading: Reading, query: CommitsQuery, uuid: str | None, after: tuple[int, ...] | None
    ) -> Iterator[tuple[History, SnapshotFact]]:
        if query.table and uuid is None:
            return iter(())
        histories = [reading.lake.histories[uuid]] if uuid else reading.lake.current()
        found = heapq.merge(
            *(_matching(history, query) for history in histories), key=lambda pair: _position(pair[1]), reverse=True
        )
        return (pair for pair in found if after is None or _position(pair[1]) < after)


def _position(row: SnapshotFact) -> tuple[int, int]:
    return row.committed_at or 0, row.snapshot_id


def _matching(history: History, query: CommitsQuery) -> Iterator[tuple[History, SnapshotFact]]:
    start, end = query.start * MICROS_PER_MS, query.end * MICROS_PER_MS
    for row in sorted(history.ordered, key=_position, reverse=True):
        if not start <= (row.committed_at or 0) < end:
            continue
        if query.operation is not None and row.operation != query.operation:
            continue
        least = query.min_added_data_files
        if least is not None and (row.added_data_files is None or row.added_data_files < least):
            continue
        if query.schema_changed is not None and schema_changed(history, row) != query.schema_changed:
            continue
        yield history, row


def schema_changed(history: History, row: SnapshotFact) -> bool:
    """Whether the commit carries another schema than its parent; false when either is not known."""
    parent = history.snapshots.get(row.parent_id) if row.parent_id is not None else None
    known = parent is not None and parent.schema_id is not None and row.schema_id is not None
    return known and parent is not None and parent.schema_id != row.schema_id


def commit_row(history: History, row: SnapshotFact) -> CommitRow:
    """A commit as lists show it."""
    return CommitRow(
        snapshot_id=str(row.snapshot_id),
        parent_id=None if row.parent_id is None else str(row.parent_id),
        catalog=history.name.catalog,
        namespace=history.name.namespace,
        table=history.name.table,
        t=(row.committed_at or 0) // MICROS_PER_MS,
        operation=row.operation,
        on_main=row.snapshot_id in history.main_ancestors,
        engine=row.engine,
        app_id=row.app_id,
        app_name=row.app_name,
        added_data_files=row.added_data_files,
        removed_data_files=row.removed_data_files,
        added_delete_files=row.added_delete_files,
        removed_delete_files=row.removed_delete_files,
        added_records=row.added_records,
        added_bytes=row.added_bytes,
        total_data_files=row.total_data_files,
        schema_changed=schema_changed(history, row),
        status=row.status or "ok",
        provisional=row.snapshot_id in history.provisional,
    )
