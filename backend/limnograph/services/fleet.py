"""The fleet: one row per table with the reason why it stands where it stands, sorted and paged.

The order comes from vectors over the tables; rows are made of those alone that stand on the page.
"""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Sequence

import numpy as np

from limnograph.domain.answers import Hint, TableRow, TablesPage
from limnograph.domain.asked import FleetQuery
from limnograph.domain.ids import TableName
from limnograph.domain.time import MICROS_PER_MS
from limnograph.ports.clock import Clock
from limnograph.services import cursors, fleet_rows, hints
from limnograph.services.attention import Attention
from limnograph.services.fleet_board import NOBODY, Board, Grown, Listing, Slotted, and_nothing
from limnograph.services.fleet_order import Keys, matching
from limnograph.services.fleet_rows import Asked
from limnograph.services.growth_index import GrowthIndex
from limnograph.services.hot import UNREAD, HotStore, Reading
from limnograph.services.hot_table import HotTable
from limnograph.services.jobs import Jobs
from limnograph.services.lake import Lake
from limnograph.services.move_columns import MoveColumns
from limnograph.services.paces import slowest_readers
from limnograph.services.reasons import RANK
from limnograph.services.standings import STATE, Standing, Standings
from limnograph.services.thresholds import JobPace, Thresholds

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
        self.columns = MoveColumns(limits)
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
            page = order[offset : offset + query.limit].tolist()
            self._make(board, [place for place in page if place not in board.made])
            return [board.made[place] for place in page], len(order), board

    def _make(self, board: Board, places: list[int]) -> None:
        """Rows at some places of a board."""
        names, paces = board.keys.names, board.keys.paces
        tables = {place: table for place in places if (table := board.rows[place]) is not None}
        given = [(table, names[place], paces.get(names[place])) for place, table in tables.items()]
        within_s = None if board.grown is None else board.grown[1]
        asked = Asked(board.start * MICROS_PER_MS, board.end * MICROS_PER_MS, within_s)
        growth, slotted = self._vectors_of(board.lake).growth, board.slotted.taken(np.array(list(tables), np.intp))
        board.made.update(zip(tables, fleet_rows.rows(growth, given, slotted, asked, self._limits), strict=True))
        for place in places:
            if place not in tables:
                board.made[place] = fleet_rows.damaged(names[place], board.lake.damaged[names[place]])

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
        micros = span[0] * MICROS_PER_MS, span[1] * MICROS_PER_MS
        tables, damaged, vectors = lake.listed, list(lake.damaged), self._vectors_of(lake)
        listing = self._listed(lake, damaged)
        with vectors.columns.lock:
            slots = vectors.columns.update(tables)
        if grown is not None:  # which have grown first: then only those need to be looked at
            chosen = np.flatnonzero(vectors.growth.grown(tables, micros, *grown, self._clock.now()))
            tables, damaged, listing = tuple(tables[place] for place in chosen), [], listing.among(chosen)
            slots = slots[chosen]
        ranked = self._attention.of(vectors.standings, tables, slots, micros, paces)
        order, lost = listing.order, len(damaged)
        ranks = np.append(ranked.ranks, np.full(lost, RANK["unreadable"]))[order]
        magnitudes = np.append(ranked.magnitudes, np.ones(lost))[order]

        def ends() -> tuple[Standing, Standing]:
            before = vectors.standings.at(tables, micros[0], micros[0] - 1, slots)
            after = vectors.standings.at(tables, micros[1] - 1, micros[1] - 1, slots)
            return and_nothing(before, lost, order), and_nothing(after, lost, order)

        rows: list[HotTable | None] = [*tables, *([None] * lost)]
        keys = Keys(ranks, magnitudes, listing.names, paces, ends)
        slotted = Slotted(slots, ranked.bursts).taken(np.where(order < len(tables), order, -1))
        named = [rows[place] for place in order.tolist()]
        return Board(lake, span, keys, named, listing, slotted=slotted, grown=grown)

    def _listed(self, lake: Lake, damaged: Sequence[TableName]) -> Listing:
        """The names in order; a lake in which none changed has those of the lake before."""
        if self._listing is None or self._listing.of is not lake.names:
            self._listing = Listing(lake.names, [*(table.name or NOBODY for table in lake.listed), *damaged])
        return self._listing
