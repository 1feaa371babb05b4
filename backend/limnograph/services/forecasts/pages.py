"""Pages of forecasts: the tables at risk, and the forecast of one table."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple, get_args

from limnograph.domain import cursors
from limnograph.domain.advice.prices import Prices
from limnograph.domain.errors import NotFound, SourceError
from limnograph.domain.facts.findings import FindingFact
from limnograph.domain.forecasts.pages import ForecastsPage, RiskCounts, RiskRow, RiskState, TableForecastPage
from limnograph.domain.ids import TableName
from limnograph.domain.queries import ForecastsQuery
from limnograph.domain.secrecy import placeless
from limnograph.domain.time import to_millis
from limnograph.services.findings.board import FindingsBoard
from limnograph.services.forecasts.board import ForecastBoard, MetricForecast
from limnograph.services.forecasts.records import ForecastRecords
from limnograph.services.forecasts.sizes import bytes_of
from limnograph.services.forecasts.views import fan_of, row_of
from limnograph.services.lake.store import HotStore
from limnograph.services.notes.owners import OwnerDirectory

AT_RISK = "at_risk"
BUDGET = 10
"""Tables that the list names unless the settings differ."""
_STATES: tuple[RiskState, ...] = get_args(RiskState)
_POSITION = (int, float, str, str)


class ForecastContext(NamedTuple):
    """What is joined to forecasts. `readers`: number of jobs that read a table; None: no job is known."""

    owners: OwnerDirectory
    findings: Callable[[], FindingsBoard]
    readers: Callable[[TableName], int | None] = lambda _name: None
    prices: Prices = Prices()
    budget: int = BUDGET


class ForecastPages:
    """Immutable after construction."""

    def __init__(self, store: HotStore, records: ForecastRecords, context: ForecastContext) -> None:
        self._store, self._records, self._context = store, records, context

    async def page(self, query: ForecastsQuery) -> ForecastsPage:
        """Raises InvalidInput (cursor). O(metrics of all tables)."""
        board, notes = await self._board()
        rows = sorted(filter(_RiskFilter(query).admits, self._rows(board)), key=_place)
        counts = Counter(row.state for row in rows)
        shown = [row for row in rows if _is_shown(row, query.state)]
        question, first = cursors.of_forecasts(query), 0
        if query.cursor:
            first = bisect_right(shown, tuple(cursors.decode(question, query.cursor, _POSITION)), key=_place)
        part = shown[first : first + query.limit]
        more = first + query.limit < len(shown)
        listed = self._store.reading.lake.listed
        uuids = [uuid for uuid in board.bytes if uuid in self._store.reading.lake.tables]
        return ForecastsPage(
            rows=part,
            counts=RiskCounts(**{state: counts[state] for state in _STATES}),
            budget=self._context.budget,
            track_record=board.track.record(),
            bytes=bytes_of([board.bytes[uuid] for uuid in uuids], len(listed), self._context.prices),
            as_of=None if board.as_of is None else to_millis(board.as_of),
            model=board.model,
            notes=notes,
            next_cursor=cursors.encode(question, list(_place(part[-1]))) if more else None,
        )

    async def table(self, name: TableName) -> TableForecastPage:
        """Raises NotFound."""
        uuid = self._store.reading.lake.names.get(name)
        if uuid is None:
            raise NotFound(f"unknown table {name}")
        board, notes = await self._board()
        found = board.by_table.get(uuid, ())
        size = board.bytes.get(uuid)
        newest = max((each.shown.as_of for each in found), default=size.as_of if size else None)
        return TableForecastPage(
            as_of=None if newest is None else to_millis(newest),
            rows=sorted(self._rows_of(uuid, name, found), key=_place),
            fans=[fan_of(each) for each in found if each.state in {"at_risk", "not_at_risk", "red"}],
            track_record=board.track.record(uuid),
            bytes=bytes_of([size] if size else [], 1, self._context.prices),
            model=found[0].shown.model if found else None,
            notes=notes,
        )

    async def _board(self) -> tuple[ForecastBoard, list[str]]:
        try:
            with self._store.reads.page():
                return await self._store.reads.ask(self._records.board), []
        except SourceError as error:
            return self._records.known, [f"Forecasts could not be read: {placeless(error.detail)}."]

    def _rows(self, board: ForecastBoard) -> list[RiskRow]:
        lake, rows = self._store.reading.lake, list[RiskRow]()
        for uuid, found in board.by_table.items():
            table = lake.tables.get(uuid)
            if table is not None and table.name is not None and not table.dropped:
                rows += self._rows_of(uuid, table.name, found)
        return rows

    def _rows_of(self, uuid: str, name: TableName, found: Sequence[MetricForecast]) -> list[RiskRow]:
        context = self._context
        findings = context.findings().by_table.get(uuid, ())
        owner, readers = context.owners.of_table(uuid, name), context.readers(name)
        return [row_of(each, name, owner, readers, _finding_id(findings, each.shown.metric)) for each in found]


class _RiskFilter(NamedTuple):
    """What a query selects, apart from the state."""

    query: ForecastsQuery

    def admits(self, row: RiskRow) -> bool:
        """Whether a row matches."""
        query = self.query
        return (
            query.metric in {None, row.metric}
            and query.table in {"", f"{row.catalog}.{row.namespace}.{row.table}"}
            and query.owner in {"", row.owner}
        )


def _is_shown(row: RiskRow, state: RiskState | None) -> bool:
    return row.state == state if state else row.state != "not_at_risk"


def _place(row: RiskRow) -> tuple[int, float, str, str]:
    """Sort key: those at risk first, then by probability times the jobs that are harmed."""
    return _STATES.index(row.state), -(row.p_cross or 0.0) * max(row.readers or 1, 1), row.table_uuid, row.metric


def _finding_id(findings: Sequence[FindingFact], metric: str) -> str | None:
    return next(
        (
            fact.finding_id
            for fact in findings
            if fact.code == AT_RISK and fact.state == "open" and fact.subject == metric
        ),
        None,
    )
