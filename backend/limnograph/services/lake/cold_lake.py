"""Lakes that reach further back than memory does: cold rows united with the hot ones, kept for the next question."""

from __future__ import annotations

import threading
from collections import OrderedDict

from limnograph.domain.time import MICROS_PER_SECOND
from limnograph.ports.clock import Clock
from limnograph.ports.hot_source import Fresh
from limnograph.ports.query_engine import MetaHead, MetaQuery, QueryEngine
from limnograph.services.hot_table import HotTable, states_once
from limnograph.services.lake import Lake
from limnograph.services.loading import Loaded, load

HOUR = 3_600 * MICROS_PER_SECOND
PIECE = 24 * HOUR
"""Of all tables no more than this is held as it was read: 1.4 M rows, or half a gigabyte, where 5,000 tables commit
every five minutes; beyond that stay packed rows, about 100 bytes each.
"""
PIECES = 100
"""At most, each two questions: of a longer span a piece is as much longer."""
_KEPT = 8
_Asked = tuple[int, int | None, tuple[str, ...], tuple[str, ...]]


class OlderLakes:
    """Thread-safe; blocks: call it in a thread. `unordered`: the same engine's faster read, where it has one."""

    def __init__(self, engine: QueryEngine, clock: Clock, unordered: Fresh | None) -> None:
        self._engine, self._clock = engine, clock
        self._unordered = unordered.unordered if unordered else None
        self._reading = threading.Lock()
        self._read: OrderedDict[tuple[MetaHead, _Asked], Loaded] = OrderedDict()
        self._united: OrderedDict[tuple[int, _Asked], Lake] = OrderedDict()

    def reaching(
        self,
        hot: Lake,
        head: MetaHead,
        span: tuple[int, int | None],
        table_uuids: tuple[str, ...],
        columns: tuple[str, ...],
    ) -> Lake:
        """The hot lake with older rows of a span (epoch microseconds), of all tables or some; of those nothing but
        `columns` is known. Where the span ends before what memory holds, nothing is told of the time between. Raises
        SourceError.
        """
        start, end = span
        if not table_uuids and start >= hot.floor:
            table_uuids = tuple(sorted(uuid for uuid, edge in hot.edges.items() if edge > start))
        last = None if end is None or end // HOUR * HOUR + HOUR >= hot.floor else end // HOUR * HOUR + HOUR
        asked = start // HOUR * HOUR, last, table_uuids, columns
        cold = self._loaded(head, asked)
        united = self._united.get((hot.version, asked))
        if united is None:
            united = self._united[hot.version, asked] = _united(cold, hot, asked[0], table_uuids)
            while len(self._united) > _KEPT:
                self._united.popitem(last=False)
        return united

    def _cuts(self, start: int, end: int | None) -> range:
        """Where the pieces of a span begin; without an end it lasts until now. Before the first commit of all there is
        but one.
        """
        last = self._clock.now() if end is None else end
        if last - start > PIECE:
            first = self._engine.select(MetaQuery(table="snapshots", columns=("committed_at",), limit=1))
            start = max(start, first.item() if first.height else last)
        piece = max(PIECE, -(-(last - start) // PIECES))
        return range(start + piece, last, piece)

    def _loaded(self, head: MetaHead, asked: _Asked) -> Loaded:
        start, end, table_uuids, columns = asked
        with self._reading:
            if (head, asked) not in self._read:
                cuts = () if table_uuids else self._cuts(start, end)  # of few tables even a year is little
                found = load(
                    self._engine, start, table_uuids, cuts, unordered=self._unordered, columns=columns, end=end
                )
                self._read[head, asked] = found
                while len(self._read) > _KEPT:
                    self._read.popitem(last=False)
            return self._read[head, asked]


def all_reach(lake: Lake, start: int, table_uuids: tuple[str, ...]) -> bool:
    """Whether some tables, or all, are complete from an instant on."""
    if not table_uuids:
        return lake.reaches(start)
    return all(lake.reaches(start, uuid) for uuid in table_uuids)


def _united(cold: Loaded, hot: Lake, start: int, table_uuids: tuple[str, ...]) -> Lake:
    """Union by key: no overlap at the edge, no hole."""
    tables = [_with_hot(table, hot.tables.get(uuid)) for uuid, table in cold.tables.items()]
    if table_uuids and start >= hot.floor:
        return hot.changed(tables, edges={uuid: edge for uuid, edge in hot.edges.items() if uuid not in table_uuids})
    alone = {uuid: hot.tables[uuid] for uuid in table_uuids if uuid in hot.tables} if table_uuids else hot.tables
    nameless = states_once([*cold.nameless, *hot.nameless])
    base = Lake(alone, floor=start, observed_at=hot.observed_at, nameless=nameless)
    return base.changed(tables)


def _with_hot(table: HotTable, hot: HotTable | None) -> HotTable:
    """A table as it was read cold, with the rows that memory has: those know what the watcher told."""
    if hot is None:
        return table
    durable = frozenset(table.rows.column("snapshot_id").tolist())
    table = table.with_moves(hot.moves()).with_changes(hot.changes)
    table = table.with_durable(hot.rows.sheet(0, hot.rows.height), hot.seen)
    return table._replace(provisional=hot.provisional - durable, completed=hot.completed)
