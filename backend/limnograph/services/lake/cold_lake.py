"""Lakes that reach further back than memory: cold rows united with the hot ones, cached for later queries."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from limnograph.domain.errors import SourceUnavailable
from limnograph.domain.time import MICROS_PER_SECOND, Micros, beginnings, truncated
from limnograph.ports.clock import Clock
from limnograph.ports.hot_source import Fresh
from limnograph.ports.query_engine import MetaHead, MetaQuery, QueryEngine
from limnograph.ports.stopping import STOP
from limnograph.services.lake.lake import Lake
from limnograph.services.lake.loading import LoadedSpan, load
from limnograph.services.lake.table import HotTable, states_once

HOUR = 3_600 * MICROS_PER_SECOND
PIECE = 24 * HOUR
"""The most that is held unpacked when all tables are read: 1.4 M rows, or half a gigabyte, if 5,000 tables commit every
five minutes. Beyond that only packed rows remain, about 100 bytes each.
"""
PIECES = 100
"""The maximum number of pieces, two queries each. The pieces of a longer span are longer instead."""
WIDE_READS = 2
"""Concurrent reads of all tables. Each may hold a PIECE in memory, and a hanging one must not block the others."""
_LOOK_S = 0.05
"""How often a thread that waits for another thread's read checks whether its own request was cancelled."""
_KEPT = 8
_Asked = tuple[Micros, Micros | None, tuple[str, ...], tuple[str, ...]]


class OlderLakes:
    """`reaching` blocks: call it in a thread. `unordered`: a faster read of the same engine, if it has one.

    Thread-safe: `_lock` guards the cache and is never held over I/O. Concurrent equal queries are read once; different
    ones wait only for WIDE_READS.
    """

    def __init__(self, engine: QueryEngine, clock: Clock, unordered: Fresh | None) -> None:
        self._engine, self._clock = engine, clock
        self._unordered = unordered.unordered if unordered else None
        self._lock, self._wide = threading.Lock(), threading.BoundedSemaphore(WIDE_READS)
        self._reading: dict[tuple[MetaHead, _Asked], threading.Event] = {}
        self._read: OrderedDict[tuple[MetaHead, _Asked], LoadedSpan] = OrderedDict()
        self._united: OrderedDict[tuple[int, _Asked], Lake] = OrderedDict()

    def reaching(
        self,
        hot: Lake,
        head: MetaHead,
        span: tuple[Micros, Micros | None],
        table_uuids: tuple[str, ...],
        columns: tuple[str, ...],
    ) -> Lake:
        """The hot lake with older rows of a span (epoch microseconds), of all tables or some. Older rows have only
        `columns`. If the span ends before the rows in memory begin, the time between is unknown. Raises SourceError.
        """
        start, end = span
        if not table_uuids and start >= hot.floor:
            table_uuids = tuple(sorted(uuid for uuid, edge in hot.edges.items() if edge > start))
        last = None if end is None else truncated(end, HOUR) + HOUR
        last = None if last is None or last >= hot.floor else last
        asked = truncated(start, HOUR), last, table_uuids, columns
        cold = self._loaded(head, asked)
        known = self._united.get((hot.version, asked))
        if known is not None:
            return known
        united = _united(cold, hot, asked[0], table_uuids)
        with self._lock:
            # If two threads unite the same rows, the second one takes the lake of the first: values derived from a lake
            # are cached by its identity.
            united = self._united.setdefault((hot.version, asked), united)
            while len(self._united) > _KEPT:
                self._united.popitem(last=False)
        return united

    def _cuts(self, start: Micros, end: Micros | None) -> Sequence[Micros]:
        """Where the pieces of a span begin; without `end` the span lasts until now. The time before the very first
        commit is a single piece.
        """
        last = self._clock.now() if end is None else end
        if last - start > PIECE:
            first = self._engine.select(MetaQuery(table="snapshots", columns=("committed_at",), limit=1))
            start = max(start, first.item() if first.height else last)
        piece = max(PIECE, -(-(last - start) // PIECES))
        return beginnings(start + piece, last, piece)

    def _loaded(self, head: MetaHead, asked: _Asked) -> LoadedSpan:
        while True:
            with self._lock:
                if (head, asked) in self._read:
                    return self._read[head, asked]
                others = self._reading.get((head, asked))
                if others is None:
                    ended = self._reading[head, asked] = threading.Event()
            if others is None:
                return self._own(head, asked, ended)
            while not others.wait(_LOOK_S):
                _check_wanted()

    def _own(self, head: MetaHead, asked: _Asked, ended: threading.Event) -> LoadedSpan:
        """Read once for all equal queries; if the read fails, the next query retries."""
        try:
            found = self._load(asked)
            with self._lock:
                self._read[head, asked] = found
                while len(self._read) > _KEPT:
                    self._read.popitem(last=False)
            return found
        finally:
            with self._lock:
                del self._reading[head, asked]
            ended.set()

    def _load(self, asked: _Asked) -> LoadedSpan:
        start, end, table_uuids, columns = asked
        if table_uuids:  # for a few tables even a year is little data
            return load(self._engine, start, table_uuids, (), unordered=self._unordered, columns=columns, end=end)
        with self._turn():
            cuts = self._cuts(start, end)
            return load(self._engine, start, (), cuts, unordered=self._unordered, columns=columns, end=end)

    @contextmanager
    def _turn(self) -> Iterator[None]:
        while not self._wide.acquire(timeout=_LOOK_S):
            _check_wanted()
        try:
            yield
        finally:
            self._wide.release()


def _check_wanted() -> None:
    stop = STOP.get()
    if stop is not None and stop.is_set:
        raise SourceUnavailable("meta", "the request was cancelled")


def all_reach(lake: Lake, start: Micros, table_uuids: tuple[str, ...]) -> bool:
    """Whether some tables, or all, are complete since `start`."""
    if not table_uuids:
        return lake.reaches(start)
    return all(lake.reaches(start, uuid) for uuid in table_uuids)


def _united(cold: LoadedSpan, hot: Lake, start: Micros, table_uuids: tuple[str, ...]) -> Lake:
    """Union by key: no overlap at the edge and no gap."""
    tables = [_with_hot(table, hot.tables.get(uuid)) for uuid, table in cold.tables.items()]
    if table_uuids and start >= hot.floor:
        return hot.changed(tables, edges={uuid: edge for uuid, edge in hot.edges.items() if uuid not in table_uuids})
    alone = {uuid: hot.tables[uuid] for uuid in table_uuids if uuid in hot.tables} if table_uuids else hot.tables
    nameless = states_once([*cold.nameless, *hot.nameless])
    base = Lake(alone, floor=start, observed_at=hot.observed_at, nameless=nameless)
    return base.changed(tables)


def _with_hot(table: HotTable, hot: HotTable | None) -> HotTable:
    """A table from a cold read plus its rows in memory, which include the watcher's."""
    if hot is None:
        return table
    durable = frozenset(table.rows.column("snapshot_id").tolist())
    table = table.with_moves(hot.moves()).with_changes(hot.changes)
    table = table.with_durable(hot.rows.sheet(0, hot.rows.height), hot.seen)
    return table._replace(provisional=hot.provisional - durable, completed=hot.completed)
