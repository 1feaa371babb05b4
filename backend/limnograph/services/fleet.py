"""The fleet: one row per table with the reason why it stands where it stands, sorted and paged."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, NamedTuple

from limnograph.domain.answers import Hint, TableDeltas, TableRow, TablesPage, TableValues
from limnograph.domain.asked import FleetQuery
from limnograph.domain.facts import ChangeFact
from limnograph.domain.ids import TableName
from limnograph.domain.time import MICROS_PER_MS
from limnograph.ports.clock import Clock
from limnograph.services import cursors, hints, numbers, reasons
from limnograph.services.history import History
from limnograph.services.hot import HotStore, Reading
from limnograph.services.jobs import Jobs
from limnograph.services.lake import Lake
from limnograph.services.paces import slowest_readers
from limnograph.services.reasons import JobPace, Thresholds

_SAME_MS = 10_000


class FleetService:
    """FleetPages of `services/backend.py`."""

    def __init__(self, store: HotStore, jobs: Jobs, clock: Clock, limits: Thresholds = Thresholds()) -> None:  # noqa: B008
        self._store, self._jobs, self._clock, self._limits = store, jobs, clock, limits
        self._computed: _Computed | None = None

    async def page(self, query: FleetQuery) -> TablesPage:
        """Rows that match, from the cursor on. Raises InvalidInput (cursor)."""
        question = (query.start, query.end, query.text, query.namespace, query.sort, query.direction)
        offset = cursors.decode(question, query.cursor, (int,))[0] if query.cursor else 0
        reading = self._store.reading
        if not reading.lake.reaches(query.start * MICROS_PER_MS):
            reading = await asyncio.to_thread(self._store.since, query.start * MICROS_PER_MS)
        rows = await self._rows(query, reading)
        page = rows[offset : offset + query.limit]
        more = offset + query.limit < len(rows)
        watermark = self._store.watermark
        return TablesPage(
            rows=page,
            total=len(rows),
            next_cursor=cursors.encode(question, [offset + query.limit]) if more else None,
            watermark=None if watermark is None else watermark // MICROS_PER_MS,
            namespaces=sorted({_namespace(name) for name in _listed(reading)}),
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

    async def _rows(self, query: FleetQuery, reading: Reading) -> list[TableRow]:
        now_ms = self._clock.now() // MICROS_PER_MS
        end = min(query.end, max(now_ms, query.start + 1))
        paces = await slowest_readers(self._jobs.metrics, query.start, end)
        kept = self._computed
        if kept is None or not kept.answers(reading.lake, query.start, end, paces):
            rows = await asyncio.to_thread(self._all_rows, reading.lake, query.start, end, paces)
            kept = self._computed = _Computed(reading.lake, query.start, end, paces, rows)
        wanted = [row for row in kept.rows if _matches(TableName(row.catalog, row.namespace, row.table), query)]
        return _sorted(wanted, query)

    def _all_rows(self, lake: Lake, start: int, end: int, paces: dict[TableName, JobPace]) -> list[TableRow]:
        rows = [self._row(history, start, end, paces.get(history.name)) for history in lake.current()]
        return rows + [_damaged(name, change) for name, change in lake.damaged.items()]

    def _row(self, history: History, start: int, end: int, pace: JobPace | None) -> TableRow:
        first, last = start * MICROS_PER_MS, end * MICROS_PER_MS
        seen = reasons.view(history, first, last, pace, self._limits)
        return TableRow(
            catalog=history.name.catalog,
            namespace=history.name.namespace,
            table=history.name.table,
            table_uuid=history.uuid,
            format=seen.after.format if seen.after else None,
            status=numbers.health(history, seen.after),
            reason=reasons.reason(seen),
            values=numbers.values(seen),
            deltas=numbers.deltas(seen),
            spark=numbers.spark(history, first, last),
        )


class _Computed(NamedTuple):
    """Rows of all tables for one range; good for another one that ends within the same ten seconds."""

    lake: Lake
    start: int
    end: int
    paces: dict[TableName, JobPace]
    rows: list[TableRow]

    def answers(self, lake: Lake, start: int, end: int, paces: dict[TableName, JobPace]) -> bool:
        """Whether these rows are the answer."""
        near = abs(self.start - start) < _SAME_MS and abs(self.end - end) < _SAME_MS
        return self.lake is lake and near and self.paces == paces


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


def _listed(reading: Reading) -> list[TableName]:
    return [history.name for history in reading.lake.current()] + list(reading.lake.damaged)


def _namespace(name: TableName) -> str:
    return f"{name.catalog}.{name.namespace}" if name.namespace else name.catalog


def _matches(name: TableName, query: FleetQuery) -> bool:
    if query.namespace and query.namespace not in {name.namespace, _namespace(name), name.catalog}:
        return False
    return query.text.casefold() in str(name).casefold()


def _sorted(rows: list[TableRow], query: FleetQuery) -> list[TableRow]:
    """By name first, so that equal keys stand in a stable order; unknown values last either way."""
    rows = sorted(rows, key=lambda row: (row.catalog, row.namespace, row.table))
    if query.sort == "name":
        return rows if query.direction == "asc" else rows[::-1]
    if query.sort == "attention":
        return sorted(rows, key=lambda row: reasons.attention(row.reason), reverse=query.direction == "asc")
    value = _SORTS[query.sort]
    known = [row for row in rows if value(row) is not None]
    unknown = [row for row in rows if value(row) is None]
    return sorted(known, key=value, reverse=query.direction == "desc") + unknown


_SORTS: dict[str, Callable[[TableRow], Any]] = {
    "data_files": lambda row: row.values.data_files,
    "delete_files": lambda row: row.values.delete_files,
    "records": lambda row: row.values.records,
    "bytes": lambda row: row.values.bytes,
    "small_files": lambda row: row.values.small_files,
    "file_size_p50": lambda row: row.values.file_size_p50,
    "manifests": lambda row: row.values.manifests,
    "live_snapshots": lambda row: row.values.live_snapshots,
    "commits": lambda row: row.values.commits,
    "last_commit": lambda row: row.values.last_committed_at,
    "job_duration": lambda row: row.values.job_duration_seconds,
    "delta_data_files": lambda row: row.deltas.data_files,
    "delta_delete_files": lambda row: row.deltas.delete_files,
    "delta_records": lambda row: row.deltas.records,
    "delta_bytes": lambda row: row.deltas.bytes,
    "delta_job_duration": lambda row: row.deltas.job_duration_ratio,
}
