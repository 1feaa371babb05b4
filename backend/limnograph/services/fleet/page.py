"""The fleet: one row per table with the reason for its rank, sorted and paged. The order is computed from vectors over
the tables; rows are built only for the tables on the page.
"""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from limnograph.domain import cursors
from limnograph.domain.answers.tables import FleetHeat, Hint, RecentTableReads, TableFacets, TableRow, TablesPage
from limnograph.domain.errors import SourceUnavailable
from limnograph.domain.ids import TableName
from limnograph.domain.queries import HEAT_ROWS, FleetQuery
from limnograph.domain.time import MS_PER_SECOND, Micros, Millis, to_micros, to_millis
from limnograph.domain.watch import Sighted
from limnograph.ports.clock import Clock
from limnograph.services.alerts.registry import AlertRegistry
from limnograph.services.findings.board import key_of_name
from limnograph.services.findings.pages import FindingPages
from limnograph.services.fleet import heat as fleet_heat
from limnograph.services.fleet import heat_findings, hints, reasons
from limnograph.services.fleet import rows as fleet_rows
from limnograph.services.fleet.board import (
    NOBODY,
    After,
    FleetBoard,
    FleetListing,
    Grown,
    Paces,
    Span,
    Vectors,
    taken,
    with_unknown_tables,
)
from limnograph.services.fleet.filters import FleetFilters, LinkedTables
from limnograph.services.fleet.growth import NOTHING
from limnograph.services.fleet.order import ReadNumber, SortKeys
from limnograph.services.fleet.reasons import ranks
from limnograph.services.fleet.rows import RowInput, RowWindow
from limnograph.services.fleet.state_vectors import STATE, StateVectors
from limnograph.services.jobs.discovery import Jobs
from limnograph.services.jobs.paces import slowest_readers
from limnograph.services.lake.columns import Ints
from limnograph.services.lake.lake import Lake
from limnograph.services.lake.store import UNREAD, HotStore, LakeView
from limnograph.services.lake.table import HotTable
from limnograph.services.reads.recent import RecentNumbers, TableReadNumbers
from limnograph.services.sources.metrics import page_budget

_BOARDS_KEPT = 8
_UNREPORTED = SourceUnavailable("meta", "reports of reads were not read yet; try again in a minute")
_READ = (
    *STATE,
    *("format", "status", "operation", "parent_id"),
    *("added_data_files", "removed_data_files", "added_bytes", "target_file_bytes"),
)
"""Columns that rows and their reasons need: of the 48 in memory, only these and the keys are read for old commits."""


class _PageView(NamedTuple):
    """What a query is answered from. `hot`: its lake is, or recently was, the one in memory; `exactly`: a nearly equal
    range is not acceptable.
    """

    reading: LakeView
    hot: bool
    span: Span
    paces: Paces
    exactly: bool


class FleetService:
    """Pages of rows of all tables, filtered and sorted, and the heat map of the first ones over time. Thread-safe:
    boards and cold vectors are guarded by `_lock`, vectors by the lock of their columns,
    because the hot ones are also used by the thread that builds lakes. `_lock` is acquired before that of the columns,
    never after, and neither is held over I/O.
    """

    def __init__(
        self,
        store: HotStore,
        jobs: Jobs,
        clock: Clock,
        *,
        alerts: AlertRegistry | None = None,
        sighted: Callable[[], Sighted | None] = lambda: None,
        catalogs: Collection[str] = (),
        findings: FindingPages,
        linked: LinkedTables = lambda _names: (),
        recent: Callable[[], RecentNumbers] = RecentNumbers,
    ) -> None:
        self._findings = findings
        self._recent = recent
        self._filters = FleetFilters(findings.team.owners, linked, lambda: recent().day)
        self._sighted, self._catalogs = sighted, catalogs
        self._store, self._jobs, self._clock, self._alerts = store, jobs, clock, alerts
        self._lock = threading.Lock()
        self._hot = Vectors()
        self._cold: tuple[Lake | None, Vectors] = None, self._hot
        self._boards: OrderedDict[tuple[int, Span, Grown | None], FleetBoard] = OrderedDict()
        self._listing: FleetListing | None = None
        store.listeners.append(self._arrived)

    def _arrived(self, lake: Lake) -> None:
        """Called before a lake is published: growth is computed now, not on request."""
        self._hot.growth.update(lake.listed, self._clock.now())

    async def page(self, query: FleetQuery) -> TablesPage:
        """Matching rows after the cursor. Raises InvalidInput (cursor); SourceError before the first read."""
        question = cursors.of_tables(query)
        after = After.of(question, query) if query.cursor else None
        seen = await self._seen(query, after)
        rows, total, following, board = await asyncio.to_thread(self._rows, seen, query, after)
        return TablesPage(
            rows=[self._with_findings(row) for row in rows],
            total=total,
            next_cursor=cursors.encode(question, following) if following else None,
            watermark=self._watermark,
            namespaces=board.namespaces,
            hints=self.hints(seen.reading),
        )

    async def facets(self, query: FleetQuery) -> TableFacets:
        """The number of tables for each value of each filter. Raises SourceError before the first read."""
        seen = await self._seen(query)

        def counted() -> TableFacets:
            with self._lock:
                return self._filters.facets(self._board(seen, _grown(query)), query)

        return await asyncio.to_thread(counted)

    async def heat(self, query: FleetQuery) -> FleetHeat:
        """The first matching tables over time. Raises SourceError before the first read."""
        between = fleet_heat.edges(to_micros(query.start), to_micros(query.end))
        query = msgspec.structs.replace(query, start=to_millis(Micros(int(between[0]))))
        return await asyncio.to_thread(self._heat, await self._seen(query), query, between)

    @property
    def _watermark(self) -> Millis | None:
        watermark = self._store.watermark
        return to_millis(watermark)

    async def _seen(self, query: FleetQuery, after: After | None = None) -> _PageView:
        """Facts about the requested time and since then, and the pace of jobs."""
        if (query.planning_s is not None or query.missed is not None) and not self._recent().known:
            raise _UNREPORTED.with_traceback(None)  # an empty page would claim that no table is like this
        reading = hot = self._store.reading
        if reading.error is UNREAD and not reading.lake.listed:
            raise UNREAD.with_traceback(None)  # one shared object: it must not collect traceback frames
        end = min(query.end, max(to_millis(self._clock.now()), query.start + 1))
        then = query.start if query.compare_s is None else max(Millis(0), end - query.compare_s * MS_PER_SECOND)
        since = to_micros(min(query.start, then))
        if not reading.lake.reaches(since):
            reading = await self._store.reach(since, (), _READ, end=to_micros(query.end))
            if query.grew is not None and reading.partial and reading.error is not None:
                raise reading.error.with_traceback(None)  # an empty page would claim that no table grew
        since_when = dict.fromkeys((query.start, then))
        with page_budget():
            found = await asyncio.gather(*(slowest_readers(self._jobs.metrics, at, end) for at in since_when))
        in_memory = reading.lake is hot.lake or reading.lake is self._store.reading.lake
        span = after.span if after else Span(query.start, end, then)
        return _PageView(reading, in_memory, span, Paces(found[0], found[-1]), exactly=after is not None)

    def hints(self, reading: LakeView) -> list[Hint]:
        """Set-up steps that are still missing."""
        found = []
        if reading.head.snapshots is None and reading.head.changes is None and reading.error is None:
            found.append(hints.NO_PIPELINE)
        if self._jobs.metrics is None:
            found.append(hints.NO_PROMETHEUS)
        known, error = len(reading.lake.histories) + len(reading.lake.damaged), reading.error
        about = hints.about_tables(known, self._sighted(), self._catalogs, str(error) if error else None)
        return [*found, about] if about else found

    def _rows(
        self, seen: _PageView, query: FleetQuery, after: After | None
    ) -> tuple[list[TableRow], int, cursors.Position | None, FleetBoard]:
        """The rows of a page, the number of matching rows, where the next page begins, and the board they are from."""
        with self._lock:
            board = self._board(seen, _grown(query))
            order = board.keys.order(query, self._filters.chosen(board, query))
            begin = board.keys.after(query, order, after.row) if after else 0
            page = order[begin : begin + query.limit].tolist()
            self._make(board, [place for place in page if place not in board.made])
            more = begin + query.limit < len(order)
            following = [*board.span, *board.keys.position(query, page[-1])] if more else None
            return [board.made[place] for place in page], len(order), following, board

    def _with_findings(self, row: TableRow) -> TableRow:
        name = TableName.from_plain(row.catalog, row.namespace, row.table)
        key = row.table_uuid or key_of_name(name)
        owner = self._findings.team.owners.of_table(row.table_uuid, name)
        found, board = self._findings.open_of(key), self._findings.board
        told = row.reason
        if any(each.acknowledged_until is None for each in found) or not board.is_evaluated(key):
            told = reasons.reason(found, None, evaluated=board.is_evaluated(key))
        reads = self._recent().day.get(row.table_uuid or "")
        return msgspec.structs.replace(
            row, findings=found, reason=told, owner=owner, reads=None if reads is None else _shown(reads)
        )

    def _heat(self, seen: _PageView, query: FleetQuery, between: Ints) -> FleetHeat:
        edges = between.tolist()
        with self._lock:
            board = self._board(seen, None)
            order = board.keys.order(query, self._filters.chosen(board, query))
            page = order[:HEAT_ROWS]
            columns, given = board.vectors.columns, [board.rows[place] for place in page.tolist()]
            names, slots = [board.keys.names[place] for place in page.tolist()], board.slots[page]
            known_to = [self._store.known_until(name) for name in names]
            counted = fleet_heat.count(columns, given, slots, between, known_to)
            risks = heat_findings.risks(self._findings.board, names, given, unread=counted.unread, edges=edges)
        return FleetHeat(
            start=to_millis(Micros(edges[0])),
            end=to_millis(Micros(edges[-1])),
            total=len(order),
            watermark=self._watermark,
            rows=fleet_heat.rows(names, counted, risks, self._alerts, between),
        )

    def _make(self, board: FleetBoard, places: list[int]) -> None:
        """Build rows at some indexes of a board."""
        names, (ranged, compared) = board.keys.names, board.paces
        tables = {place: table for place in places if (table := board.rows[place]) is not None}
        given = [
            RowInput(table, names[place], ranged.get(names[place]), compared.get(names[place]))
            for place, table in tables.items()
        ]
        within_s = None if board.grown is None else board.grown[1]
        start, end, then = (to_micros(at) for at in board.span)
        asked = RowWindow(start, end, then, within_s)
        growth, slots = board.vectors.growth, taken(board.slots, np.array(list(tables), np.intp))
        board.made.update(zip(tables, fleet_rows.rows(growth, given, slots, asked), strict=True))
        for place in places:
            if place not in tables:
                board.made[place] = fleet_rows.damaged(names[place])

    def _vectors_of(self, seen: _PageView) -> Vectors:
        """The vectors of the hot lake, which are updated as facts arrive; a lake that was read cold has its own."""
        if seen.hot:
            return self._hot
        if self._cold[0] is not seen.reading.lake:
            self._cold = seen.reading.lake, Vectors()
        return self._cold[1]

    def _board(self, seen: _PageView, grown: Grown | None) -> FleetBoard:
        """The board of a range, or one whose range begins and ends within the same ten seconds."""
        lake, hidden = seen.reading.lake, self._findings.acknowledged
        for board in self._boards.values():
            if board.answers(lake, seen.span, seen.paces, grown, findings=self._findings.board, hidden=hidden) and (
                board.span == seen.span or not seen.exactly
            ):
                return board
        for key in [key for key, board in self._boards.items() if board.lake is not lake]:
            del self._boards[key]
        board = self._boards[lake.version, seen.span, grown] = self._made(seen, grown)
        while len(self._boards) > _BOARDS_KEPT:
            self._boards.popitem(last=False)
        return board

    def _made(self, seen: _PageView, grown: Grown | None) -> FleetBoard:
        (reading, _, span, paces, _), vectors = seen, self._vectors_of(seen)
        lake, micros = reading.lake, (to_micros(span.start), to_micros(span.end))
        tables, damaged = lake.listed, list(lake.damaged)
        listing = self._listed(lake, damaged)
        with vectors.columns.lock:
            slots = vectors.columns.update(tables)
        if grown is not None and grown[0] is not None:
            # filter by growth first: then only the remaining tables are evaluated
            share, within_s = grown[0], grown[1]
            chosen = np.flatnonzero(vectors.growth.grown(tables, micros, share, within_s, self._clock.now()))
            tables, damaged, listing = tuple(tables[place] for place in chosen), [], listing.among(chosen)
            slots = slots[chosen]
        order, lost, findings, hidden = listing.order, len(damaged), self._findings.board, self._findings.acknowledged
        keys = [*(table.uuid for table in tables), *map(key_of_name, damaged)]
        ranked, opened = ranks(findings, keys, hidden)

        def at(instant: Micros, counted: Micros) -> StateVectors:
            return with_unknown_tables(vectors.standings.at(tables, instant, counted, slots), lost, order)

        def ends() -> tuple[StateVectors, StateVectors, StateVectors]:
            begin, then = at(micros[0], micros[0] - 1), to_micros(span.then)
            before = begin if span.then == span.start else at(then, then - 1)
            return begin, before, at(micros[1] - 1, micros[1] - 1)

        def shares() -> NDArray[np.float64]:
            found = np.full(len(tables) + lost, NOTHING)
            if grown is not None:
                found[: len(tables)] = vectors.growth.shares(tables, slots, micros, grown[1])
            return found[order]

        def reads(of: ReadNumber) -> NDArray[np.float64]:
            day = self._recent().day
            found = [None if key not in day else of(day[key]) for key in keys]
            return np.array([np.nan if value is None else value for value in found], np.float64)[order]

        rows: list[HotTable | None] = [*tables, *([None] * lost)]
        sort_keys = SortKeys(
            ranked[order], opened[order], listing.names, paces.compared, ends=ends, shares=shares, reads=reads
        )
        own = taken(slots, np.where(order < len(tables), order, -1))
        named = [rows[place] for place in order.tolist()]
        return FleetBoard(
            lake,
            span,
            sort_keys,
            named,
            listing,
            paces=paces,
            vectors=vectors,
            slots=own,
            findings=findings,
            table_keys=[keys[place] for place in order.tolist()],
            hidden=hidden,
            grown=grown,
        )

    def _listed(self, lake: Lake, damaged: Sequence[TableName]) -> FleetListing:
        """The sorted names; reused from the previous lake if no name changed."""
        if self._listing is None or self._listing.of is not lake.names:
            self._listing = FleetListing(lake.names, [*(table.name or NOBODY for table in lake.listed), *damaged])
        return self._listing


def _shown(reads: TableReadNumbers) -> RecentTableReads:
    return RecentTableReads(
        scans=reads.scans,
        queries=reads.queries,
        planning_p95_seconds=reads.planning_p95_s,
        query_p95_seconds=reads.query_p95_s,
        missed_share=reads.missed,
    )


def _grown(query: FleetQuery) -> Grown | None:
    within_s = query.growth_within_s
    return None if within_s is None else (query.grew, within_s)
