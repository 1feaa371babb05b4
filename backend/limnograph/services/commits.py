"""Commits of a table or of all tables, newest first. A table is opened only when its newest commit is due."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from limnograph.domain.answers import CommitRow, CommitsPage
from limnograph.domain.asked import CommitsQuery
from limnograph.domain.errors import SourceUnavailable
from limnograph.domain.facts import SnapshotFact
from limnograph.domain.time import MICROS_PER_MS
from limnograph.services import cursors
from limnograph.services.history import History
from limnograph.services.hot import HotStore, Reading
from limnograph.services.hot_columns import NULL
from limnograph.services.hot_table import HotTable


class Found(NamedTuple):
    """A commit of a list: where its row stands, and `(committed_at, snapshot id)`, which lists are sorted by."""

    history: History
    place: int
    position: tuple[int, int]


class CommitLists:
    """Pages of commits."""

    def __init__(self, store: HotStore) -> None:
        self._store = store

    async def page(self, query: CommitsQuery) -> CommitsPage:
        """Raises NotFound (table), InvalidInput (cursor), SourceError when the range could not be read."""
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
        uuids = (known.uuid,) if known else ()
        if not reading.lake.reaches(query.start * MICROS_PER_MS, *uuids):
            reading = await self._store.reach(query.start * MICROS_PER_MS, uuids)
            if reading.partial and reading.error is not None:
                raise reading.error  # a list without its older half would not say that it has one
        page, more = await asyncio.to_thread(_page, _tables(reading, query, uuids), query, after)
        watermark = self._store.watermark
        return CommitsPage(
            rows=page,
            next_cursor=cursors.encode(question, list(more)) if more else None,
            watermark=None if watermark is None else watermark // MICROS_PER_MS,
        )


def _tables(reading: Reading, query: CommitsQuery, uuids: Sequence[str]) -> Sequence[HotTable]:
    if query.table:
        return [reading.lake.tables[uuid] for uuid in uuids]
    return reading.lake.listed


def _page(
    tables: Sequence[HotTable], query: CommitsQuery, after: tuple[int, ...] | None
) -> tuple[list[CommitRow], tuple[int, int] | None]:
    """Rows of a page, and the position of its last one when more follow."""
    found = [one for _, one in zip(range(query.limit + 1), newest_first(tables, query, after), strict=False)]
    rows = [_row_at(one.history, one.place) for one in found[: query.limit]]
    return rows, found[query.limit - 1].position if len(found) > query.limit else None


def newest_first(tables: Sequence[HotTable], query: CommitsQuery, after: tuple[int, ...] | None) -> Iterator[Found]:
    """Commits that match, of several tables in one order. O(tables) comparisons, and the rows of the opened tables."""
    start, end = query.start * MICROS_PER_MS, query.end * MICROS_PER_MS
    if after is not None:
        end = min(end, after[0] + 1)
    least = query.min_added_data_files
    waiting = [
        (min(table.last_at, end - 1), place)
        for place, table in enumerate(tables)
        if table.last_at >= start and (least is None or table.most_added >= least)
    ]
    waiting.sort()
    heap: list[tuple[tuple[int, int], int, Found, Iterator[Found]]] = []

    def advance(place: int, commits: Iterator[Found]) -> None:
        found = next(commits, None)
        if found is not None:
            heapq.heappush(heap, ((-found.position[0], -found.position[1]), place, found, commits))

    while waiting or heap:
        if waiting and (not heap or waiting[-1][0] >= -heap[0][0][0]):
            _, place = waiting.pop()
            advance(place, _matching(History(tables[place]), query, after))
            continue
        _, place, found, commits = heapq.heappop(heap)
        yield found
        advance(place, commits)


def _matching(history: History, query: CommitsQuery, after: tuple[int, ...] | None) -> Iterator[Found]:
    """Commits of one table that match, newest first."""
    commits = history.between(query.start * MICROS_PER_MS, query.end * MICROS_PER_MS)
    fits = np.ones(len(commits), np.bool_)
    if query.operation is not None:
        fits &= commits.are(query.operation)
    if query.min_added_data_files is not None:
        added = commits.numbers("added_data_files")
        fits &= (added != NULL) & (added >= query.min_added_data_files)
    if query.schema_changed is not None:
        fits &= history.schemas_changed(commits.first, commits.last) == query.schema_changed
    places = np.flatnonzero(fits)
    times, ids = commits.numbers("committed_at")[places], commits.numbers("snapshot_id")[places]
    for i in np.lexsort((ids, times))[::-1].tolist():
        position = int(times[i]), int(ids[i])
        if after is None or position < after:
            yield Found(history, commits.first + int(places[i]), position)


def _row_at(history: History, place: int) -> CommitRow:
    changed = bool(history.schemas_changed(place, place + 1)[0])
    return _row(history, history.fact(place), on_main=history.is_on_main(place), changed=changed)


def schema_changed(history: History, row: SnapshotFact) -> bool:
    """Whether the commit carries another schema than its parent; false when either is not known."""
    parent = history.snapshots.get(row.parent_id) if row.parent_id is not None else None
    known = parent is not None and parent.schema_id is not None and row.schema_id is not None
    return known and parent is not None and parent.schema_id != row.schema_id


def commit_row(history: History, row: SnapshotFact) -> CommitRow:
    """A commit as lists show it."""
    on_main = row.snapshot_id in history.main_ancestors
    return _row(history, row, on_main=on_main, changed=schema_changed(history, row))


def _row(history: History, row: SnapshotFact, *, on_main: bool, changed: bool) -> CommitRow:
    return CommitRow(
        snapshot_id=str(row.snapshot_id),
        parent_id=None if row.parent_id is None else str(row.parent_id),
        catalog=history.name.catalog,
        namespace=history.name.namespace,
        table=history.name.table,
        t=(row.committed_at or 0) // MICROS_PER_MS,
        operation=row.operation,
        on_main=on_main,
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
        schema_changed=changed,
        status=row.status or "ok",
        provisional=row.snapshot_id in history.provisional,
    )
