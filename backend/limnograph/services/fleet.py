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
from numpy.typing import NDArray

from limnograph.domain.answers import Growth, Hint, TableDeltas, TableRow, TablesPage, TableValues
from limnograph.domain.asked import FleetQuery
from limnograph.domain.facts import ChangeFact
from limnograph.domain.ids import TableName
from limnograph.domain.time import MICROS_PER_MS
from limnograph.ports.clock import Clock
from limnograph.services import cursors, hints, numbers, reasons
from limnograph.services.attention import Attention
from limnograph.services.fleet_board import NOBODY, Board, Listing, and_nothing
from limnograph.services.fleet_order import Keys, matching
from limnograph.services.growth_index import GrowthIndex
from limnograph.services.history import History
from limnograph.services.hot import UNREAD, HotStore, Reading
from limnograph.services.hot_table import HotTable
from limnograph.services.jobs import Jobs
from limnograph.services.lake import Lake
from limnograph.services.paces import slowest_readers
from limnograph.services.reasons import RANK, JobPace, Thresholds
from limnograph.services.standings import Standings

_BOARDS_KEPT = 8


class FleetService:
    """FleetPages of `services/backend.py`."""

    def __init__(self, store: HotStore, jobs: Jobs, clock: Clock, limits: Thresholds = Thresholds()) -> None:  # noqa: B008
        self._store, self._jobs, self._clock, self._limits = store, jobs, clock, limits
        self._lock = threading.Lock()
        self._standings, self._growth, self._attention = Standings(), GrowthIndex(), Attention(limits)
        self._boards: OrderedDict[tuple[int, int, int], Board] = OrderedDict()
        self._listing: Listing | None = None
        store.listeners.append(self._arrived)

    def _arrived(self, lake: Lake) -> None:
        """A lake is about to be shown: what grew in it is decided now, not when somebody asks."""
        self._growth.update(lake.listed, self._clock.now())

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
            reading = await self._store.reach(query.start * MICROS_PER_MS)
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
        with self._lock:
            board = self._board(lake, query.start, end, paces)
            chosen = matching(board.keys.names, board.folded, query)
            if query.grew is not None:
                chosen = chosen[self._grown(board, query, end)[chosen]]
            order = board.keys.order(query, chosen)
            page = [self._row(board, int(place)) for place in order[offset : offset + query.limit]]
        if query.grew is not None:
            page = [self._with_growth(row, lake, query, end) for row in page]
        return page, len(order), board

    def _with_growth(self, row: TableRow, lake: Lake, query: FleetQuery, end: int) -> TableRow:
        span = query.start * MICROS_PER_MS, end * MICROS_PER_MS
        found = self._growth.greatest(lake.tables[row.table_uuid or ""], span, query.within_s)
        if found is None:
            return row
        growth = Growth(
            files_before=found.before, files_after=found.after, share=found.share, at=found.at // MICROS_PER_MS
        )
        return msgspec.structs.replace(row, growth=growth)

    def _grown(self, board: Board, query: FleetQuery, end: int) -> NDArray[np.bool_]:
        """Which places are tables whose files grew as asked."""
        index = self._growth if board.lake is self._store.reading.lake else GrowthIndex()
        span, now = (query.start * MICROS_PER_MS, end * MICROS_PER_MS), self._clock.now()
        tables = board.lake.listed
        grew = index.grown(tables, span, query.grew or 0.0, query.within_s, now)
        found = np.zeros(len(board.rows), np.bool_)
        found[board.places[: len(tables)]] = grew
        return found

    def _board(self, lake: Lake, start: int, end: int, paces: dict[TableName, JobPace]) -> Board:
        """Vectors of a range; those of another one that begins and ends within the same ten seconds are as good."""
        for board in self._boards.values():
            if board.answers(lake, start, end, paces):
                return board
        for key in [key for key, board in self._boards.items() if board.lake is not lake]:
            del self._boards[key]
        board = self._boards[lake.version, start, end] = self._made(lake, start, end, paces)
        while len(self._boards) > _BOARDS_KEPT:
            self._boards.popitem(last=False)
        return board

    def _made(self, lake: Lake, start: int, end: int, paces: dict[TableName, JobPace]) -> Board:
        first, last = start * MICROS_PER_MS, end * MICROS_PER_MS
        tables, damaged = lake.listed, list(lake.damaged)
        standings = self._standings if lake is self._store.reading.lake else Standings()
        before = standings.at(tables, first, first - 1)
        after = standings.at(tables, last - 1, last - 1)
        ranks, magnitudes = self._attention.of(tables, before, after, (first, last), paces)
        listing = self._listed(lake, damaged)
        order = listing.order
        ranks = np.append(ranks, np.full(len(damaged), RANK["unreadable"]))[order]
        magnitudes = np.append(magnitudes, np.ones(len(damaged)))[order]
        before, after = (and_nothing(one, len(damaged), order) for one in (before, after))
        rows: list[HotTable | None] = [*tables, *([None] * len(damaged))]
        keys = Keys(ranks, magnitudes, before, after, listing.names, paces)
        return Board(lake, (start, end), keys, [rows[place] for place in order.tolist()], listing)

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
