"""The fleet: one row per table with the reason why it stands where it stands, sorted and paged.

The order comes from vectors over the tables; rows are made of those alone that stand on the page.
"""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Sequence

import numpy as np

from limnograph.domain.answers import FleetHeat, Hint, TableRow, TablesPage
from limnograph.domain.asked import HEAT_ROWS, FleetQuery
from limnograph.domain.ids import TableName
from limnograph.domain.time import MICROS_PER_MS
from limnograph.ports.clock import Clock
from limnograph.services import cursors, fleet_heat, fleet_risk, fleet_rows, hints
from limnograph.services.alerts import Alerts
from limnograph.services.attention import Attention
from limnograph.services.fleet_board import NOBODY, Board, Grown, Listing, Paces, Slotted, Span, and_nothing
from limnograph.services.fleet_order import Keys, matching
from limnograph.services.fleet_rows import Asked, Given
from limnograph.services.growth_index import GrowthIndex
from limnograph.services.hot import UNREAD, HotStore, Reading
from limnograph.services.hot_table import HotTable
from limnograph.services.jobs import Jobs
from limnograph.services.lake import Lake
from limnograph.services.metrics import page_budget
from limnograph.services.move_columns import MoveColumns
from limnograph.services.paces import slowest_readers
from limnograph.services.reasons import RANK
from limnograph.services.standings import STATE, Standing, Standings
from limnograph.services.thresholds import Thresholds

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

    def __init__(
        self,
        store: HotStore,
        jobs: Jobs,
        clock: Clock,
        *,
        alerts: Alerts | None = None,
        limits: Thresholds = Thresholds(),  # noqa: B008
    ) -> None:
        self._store, self._jobs, self._clock, self._alerts, self._limits = store, jobs, clock, alerts, limits
        self._lock = threading.Lock()
        self._attention, self._hot = Attention(limits), _Vectors(limits)
        self._cold: tuple[Lake | None, _Vectors] = None, self._hot
        self._boards: OrderedDict[tuple[int, Span, Grown | None], Board] = OrderedDict()
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
            *(query.grew, within_s, query.compare_s),
        )
        offset = cursors.decode(question, query.cursor, (int,))[0] if query.cursor else 0
        reading, span, paces = await self._seen(query)
        rows, total, board = await asyncio.to_thread(self._rows, reading.lake, query, span, paces, offset)
        return TablesPage(
            rows=rows,
            total=total,
            next_cursor=cursors.encode(question, [offset + query.limit]) if offset + query.limit < total else None,
            watermark=self._watermark,
            namespaces=board.namespaces,
            hints=self.hints(reading),
        )

    async def heat(self, query: FleetQuery) -> FleetHeat:
        """The first tables that match, over time. Raises SourceError before anything was read."""
        reading, span, paces = await self._seen(query)
        return await asyncio.to_thread(self._heat, reading.lake, query, span, paces)

    @property
    def _watermark(self) -> int | None:
        watermark = self._store.watermark
        return None if watermark is None else watermark // MICROS_PER_MS

    async def _seen(self, query: FleetQuery) -> tuple[Reading, Span, Paces]:
        """What is known of the time that is asked about, that time until now, and how fast jobs were."""
        reading = self._store.reading
        if reading.error is UNREAD and not reading.lake.listed:
            raise UNREAD.with_traceback(None)  # one object for all: it must not gather the frames of each
        end = min(query.end, max(self._clock.now() // MICROS_PER_MS, query.start + 1))
        then = query.start if query.compare_s is None else max(0, end - query.compare_s * 1000)
        since = min(query.start, then) * MICROS_PER_MS
        if not reading.lake.reaches(since):
            reading = await self._store.reach(since, (), _READ, end=query.end * MICROS_PER_MS)
            if query.grew is not None and reading.partial and reading.error is not None:
                raise reading.error.with_traceback(None)  # "none grew" would not say that nobody could look
        since_when = dict.fromkeys((query.start, then))
        with page_budget():
            found = await asyncio.gather(*(slowest_readers(self._jobs.metrics, at, end) for at in since_when))
        return reading, Span(query.start, end, then), Paces(found[0], found[-1])

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
        self, lake: Lake, query: FleetQuery, span: Span, paces: Paces, offset: int
    ) -> tuple[list[TableRow], int, Board]:
        """Rows of a page, how many match in all, and what they were chosen from."""
        grown = None if query.grew is None else (query.grew, query.within_s)
        with self._lock:
            board = self._board(lake, span, paces, grown)
            order = board.keys.order(query, matching(board.keys.names, board.folded, query))
            page = order[offset : offset + query.limit].tolist()
            self._make(board, [place for place in page if place not in board.made])
            return [board.made[place] for place in page], len(order), board

    def _heat(self, lake: Lake, query: FleetQuery, span: Span, paces: Paces) -> FleetHeat:
        with self._lock:
            board = self._board(lake, span, paces, None)
            order = board.keys.order(query, matching(board.keys.names, board.folded, query))
            page = order[:HEAT_ROWS]
            columns, given = self._vectors_of(lake).columns, [board.rows[place] for place in page.tolist()]
            names, slots = [board.keys.names[place] for place in page.tolist()], board.slotted.slots[page]
            micros = span.start * MICROS_PER_MS, span.end * MICROS_PER_MS
            known_to = [self._store.known_until(name) for name in names]
            counted = fleet_heat.count(columns, given, slots, micros, known_to)
            risks = fleet_risk.risks(self._attention, columns, given, slots, unread=counted.unread, span=micros)
        return FleetHeat(
            start=span.start,
            end=span.end,
            total=len(order),
            watermark=self._watermark,
            rows=fleet_heat.rows(names, counted, risks, self._alerts, micros),
        )

    def _make(self, board: Board, places: list[int]) -> None:
        """Rows at some places of a board."""
        names, (ranged, compared) = board.keys.names, board.paces
        tables = {place: table for place in places if (table := board.rows[place]) is not None}
        given = [
            Given(table, names[place], ranged.get(names[place]), compared.get(names[place]))
            for place, table in tables.items()
        ]
        within_s = None if board.grown is None else board.grown[1]
        start, end, then = (at * MICROS_PER_MS for at in board.span)
        asked = Asked(start, end, then, within_s)
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

    def _board(self, lake: Lake, span: Span, paces: Paces, grown: Grown | None) -> Board:
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

    def _made(self, lake: Lake, span: Span, paces: Paces, grown: Grown | None) -> Board:
        micros = span.start * MICROS_PER_MS, span.end * MICROS_PER_MS
        tables, damaged, vectors = lake.listed, list(lake.damaged), self._vectors_of(lake)
        listing = self._listed(lake, damaged)
        with vectors.columns.lock:
            slots = vectors.columns.update(tables)
        if grown is not None:  # which have grown first: then only those need to be looked at
            chosen = np.flatnonzero(vectors.growth.grown(tables, micros, *grown, self._clock.now()))
            tables, damaged, listing = tuple(tables[place] for place in chosen), [], listing.among(chosen)
            slots = slots[chosen]
        ranked = self._attention.of(vectors.standings, tables, slots, micros, paces.ranged)
        order, lost = listing.order, len(damaged)
        ranks = np.append(ranked.ranks, np.full(lost, RANK["unreadable"]))[order]
        magnitudes = np.append(ranked.magnitudes, np.ones(lost))[order]

        def at(instant: int, counted: int) -> Standing:
            return and_nothing(vectors.standings.at(tables, instant, counted, slots), lost, order)

        def ends() -> tuple[Standing, Standing, Standing]:
            begin, then = at(micros[0], micros[0] - 1), span.then * MICROS_PER_MS
            before = begin if span.then == span.start else at(then, then - 1)
            return begin, before, at(micros[1] - 1, micros[1] - 1)

        rows: list[HotTable | None] = [*tables, *([None] * lost)]
        keys = Keys(ranks, magnitudes, listing.names, paces.compared, ends)
        slotted = Slotted(slots, ranked.bursts).taken(np.where(order < len(tables), order, -1))
        named = [rows[place] for place in order.tolist()]
        return Board(lake, span, keys, named, listing, paces=paces, slotted=slotted, grown=grown)

    def _listed(self, lake: Lake, damaged: Sequence[TableName]) -> Listing:
        """The names in order; a lake in which none changed has those of the lake before."""
        if self._listing is None or self._listing.of is not lake.names:
            self._listing = Listing(lake.names, [*(table.name or NOBODY for table in lake.listed), *damaged])
        return self._listing
