"""The fleet: one row per table with the reason why it stands where it stands, sorted and paged.

The order comes from vectors over the tables; rows are made of those alone that stand on the page.
"""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Sequence

import msgspec
import numpy as np

from limnograph.domain.answers import Growth, Hint, TableDeltas, TableRow, TablesPage, TableValues
from limnograph.domain.asked import FleetQuery
from limnograph.domain.facts import ChangeFact
from limnograph.domain.ids import TableName
from limnograph.domain.time import MICROS_PER_MS
from limnograph.ports.clock import Clock
from limnograph.services import cursors, hints, numbers, reasons
from limnograph.services.attention import Attention
from limnograph.services.fleet_board import NOBODY, Board, Grown, Listing, and_nothing
from limnograph.services.fleet_order import Keys, matching
from limnograph.services.growth_index import GrowthIndex
from limnograph.services.history import History
from limnograph.services.hot import UNREAD, HotStore, Reading
from limnograph.services.hot_table import HotTable
from limnograph.services.jobs import Jobs
from limnograph.services.lake import Lake
from limnograph.services.move_columns import MoveColumns
from limnograph.services.paces import slowest_readers
from limnograph.services.reasons import RANK, JobPace, Thresholds
from limnograph.services.standings import STATE, Standings

_BOARDS_KEPT = 8
_READ = (
    *STATE,
    *("format", "status", "operation", "parent_id"),
    *("added_data_files", "removed_data_files", "added_bytes", "target_file_bytes"),
)
"""Columns that rows and their reasons are made of: of 42 in memory these, and the keys, are read of old commits."""


class _Vectors:
    """What is kept of the tables of one lake after another."""

    def __init__(self, limits: Thresholds) -> None:
        self.columns = MoveColumns(limits.burst_files)
        self.standings, self.growth = Standings(self.columns), GrowthIndex(self.columns)


class FleetService:
    """FleetPages of `services/backend.py`."""

    def __init__(self, store: HotStore, jobs: Jobs, clock: Clock, limits: Thresholds = Thresholds()) -> None:  # noqa: B008
        self._store, self._jobs, self._clock, self._limits = store, jobs, clock, limits
        self._lock = threading.Lock()
        self._attention, self._hot = Attention(limits), _Vectors(limits)
        self._cold: tuple[Lake | None, _Vectors] = None, self._hot
        self._boards: OrderedDict[tuple[int, tuple[int, int], Grown | None], Board] = OrderedDict()
        self._listing: Listing | None = None
        store.listeners.append(self._arrived)

    def _arrived(self, lake: Lake) -> None:
        """A lake is about to be shown: what grew in it is decided now, not when somebody asks."""
        self._hot.growth.update(lake.listed, self._clock.now())

    async def page(self, query: FleetQuery) -> TablesPage:
        """Rows that match, from the cursor on. Raises InvalidInput (cursor); SourceError before anything was read."""
        within_s = None if query.grew is None else query.within_s
        question = (
            *(query.start, query.end, query.text, query.namespace, query.sort, query.direction),
            *(query.grew, within_s),
        )
        offset = cursors.decode(question, query.cursor, (int,))[0] if query.cursor else 0
        reading = self._store.reading
        if reading.error is UNREAD and not reading.lake.listed:
            raise UNREAD.with_traceback(None)  # one object for all: it must not gather the frames of each
        if not reading.lake.reaches(query.start * MICROS_PER_MS):
            reading = await self._store.reach(query.start * MICROS_PER_MS, (), _READ, end=query.end * MICROS_PER_MS)
            if query.grew is not None and reading.partial and reading.error is not None:
                raise reading.error.with_traceback(None)  # "none grew" would not say that nobody could look
        now_ms = self._clock.now() // MICROS_PER_MS
        end = min(query.end, max(now_ms, query.start + 1))
        paces = await slowest_readers(self._jobs.metrics, query.start, end)
        rows, total, board = await asyncio.to_thread(self._rows, reading.lake, query, end, paces, offset)
        more, watermark = offset + query.limit < total, self._store.watermark
        return TablesPage(
            rows=rows,
            total=total,
            next_cursor=cursors.encode(question, [offset + query.limit]) if more else None,
            watermark=None if watermark is None else watermark // MICROS_PER_MS,
            namespaces=board.namespaces,
            hints=self.hints(reading),
        )

    def hints(self, reading: Reading) -> list[Hint]:
        """What is not set up yet."""
        found = []
        if reading.head.snapshots is None and reading.head.changes is None and reading.error is None:
            found.append(hints.NO_PIPELINE)
        if self._jobs.metrics is None:
            found.append(hints.NO_PROMETHEUS)
        if not reading.lake.histories and not reading.lake.damaged and reading.error is None:
            found.append(hints.NO_TABLES)
        return found

    def _rows(
        self, lake: Lake, query: FleetQuery, end: int, paces: dict[TableName, JobPace], offset: int
    ) -> tuple[list[TableRow], int, Board]:
        """Rows of a page, how many match in all, and what they were chosen from."""
        grown = None if query.grew is None else (query.grew, query.within_s)
        with self._lock:
            board = self._board(lake, (query.start, end), paces, grown)
            order = board.keys.order(query, matching(board.keys.names, board.folded, query))
            page = [self._row(board, int(place)) for place in order[offset : offset + query.limit]]
            if grown is not None:
                page = [self._with_growth(row, board, grown[1]) for row in page]
        return page, len(order), board

    def _with_growth(self, row: TableRow, board: Board, within_s: int) -> TableRow:
        span = board.start * MICROS_PER_MS, board.end * MICROS_PER_MS
        vectors = self._vectors_of(board.lake)
        found = vectors.growth.greatest(board.lake.tables[row.table_uuid or ""], span, within_s)
        if found is None:
            return row
        growth = Growth(
            files_before=found.before, files_after=found.after, share=found.share, at=found.at // MICROS_PER_MS
        )
        return msgspec.structs.replace(row, growth=growth)

    def _vectors_of(self, lake: Lake) -> _Vectors:
        """Those of the hot lake, which are renewed when something arrives; of a lake that was read cold its own."""
        if lake is self._store.reading.lake:
            return self._hot
        if self._cold[0] is not lake:
            self._cold = lake, _Vectors(self._limits)
        return self._cold[1]

    def _board(self, lake: Lake, span: tuple[int, int], paces: dict[TableName, JobPace], grown: Grown | None) -> Board:
        """Vectors of a range; those of another one that begins and ends within the same ten seconds are as good."""
        for board in self._boards.values():
            if board.answers(lake, span, paces, grown):
                return board
        for key in [key for key, board in self._boards.items() if board.lake is not lake]:
            del self._boards[key]
        board = self._boards[lake.version, span, grown] = self._made(lake, span, paces, grown)
        while len(self._boards) > _BOARDS_KEPT:
            self._boards.popitem(last=False)
        return board

    def _made(self, lake: Lake, span: tuple[int, int], paces: dict[TableName, JobPace], grown: Grown | None) -> Board:
        first, last = (at * MICROS_PER_MS for at in span)
        tables, damaged, vectors = lake.listed, list(lake.damaged), self._vectors_of(lake)
        listing = self._listed(lake, damaged)
        if grown is not None:  # which have grown first: then only those need to be looked at
            grew = vectors.growth.grown(tables, (first, last), *grown, self._clock.now())
            chosen = np.flatnonzero(grew)
            tables, damaged, listing = tuple(tables[place] for place in chosen), [], listing.among(chosen)
        before = vectors.standings.at(tables, first, first - 1)
        after = vectors.standings.at(tables, last - 1, last - 1)
        ranks, magnitudes = self._attention.of(vectors.columns, tables, (before, after), (first, last), paces)
        order = listing.order
        ranks = np.append(ranks, np.full(len(damaged), RANK["unreadable"]))[order]
        magnitudes = np.append(magnitudes, np.ones(len(damaged)))[order]
        before, after = (and_nothing(one, len(damaged), order) for one in (before, after))
        rows: list[HotTable | None] = [*tables, *([None] * len(damaged))]
        keys = Keys(ranks, magnitudes, before, after, listing.names, paces)
        return Board(lake, span, keys, [rows[place] for place in order.tolist()], listing, grown=grown)

    def _listed(self, lake: Lake, damaged: Sequence[TableName]) -> Listing:
        """The names in order; a lake in which none changed has those of the lake before."""
        if self._listing is None or self._listing.of is not lake.names:
            self._listing = Listing(lake.names, [*(table.name or NOBODY for table in lake.listed), *damaged])
        return self._listing

    def _row(self, board: Board, place: int) -> TableRow:
        made = board.made.get(place)
        if made is None:
            made = board.made[place] = self._shown(board, place)
        return made

    def _shown(self, board: Board, place: int) -> TableRow:
        table, name = board.rows[place], board.keys.names[place]
        if table is None:
            return _damaged(name, board.lake.damaged[name])
        history = History(table)
        first, last = board.start * MICROS_PER_MS, board.end * MICROS_PER_MS
        seen = reasons.view(history, first, last, board.keys.paces.get(name), self._limits)
        return TableRow(
            catalog=name.catalog,
            namespace=name.namespace,
            table=name.table,
            table_uuid=table.uuid,
            format=seen.after.format if seen.after else None,
            status=numbers.health(history, seen.after),
            reason=reasons.reason(seen),
            values=numbers.values(seen),
            deltas=numbers.deltas(seen),
            spark=numbers.spark(history, first, last),
        )


def _damaged(name: TableName, change: ChangeFact) -> TableRow:
    """A name whose metadata could never be read."""
    nothing = TableValues(
        data_files=None,
        delete_files=None,
        records=None,
        bytes=None,
        small_files=None,
        file_size_p50=None,
        manifests=None,
        live_snapshots=None,
        commits=0,
        last_committed_at=None,
        job_duration_seconds=None,
    )
    return TableRow(
        catalog=name.catalog,
        namespace=name.namespace,
        table=name.table,
        table_uuid=None,
        format=None,
        status="unreadable",
        reason=reasons.unreadable(change),
        values=nothing,
        deltas=TableDeltas(data_files=None, delete_files=None, records=None, bytes=None, job_duration_ratio=None),
        spark=[None] * numbers.SPARK_POINTS,
    )
