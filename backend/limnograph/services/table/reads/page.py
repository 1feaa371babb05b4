"""The page of a table's reads: who reads it, how long planning and queries take, how much scans skip and why not more.

Cost: reads of the range once, grouped in memory; for ranges before the last two days a cold read of reports or hours.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from limnograph.domain.answers.partitions import SpanMs
from limnograph.domain.answers.reads import ReadPoint, ReadsPage
from limnograph.domain.answers.structure import Note
from limnograph.domain.ids import TableName
from limnograph.domain.time import MICROS_PER_SECOND, Micros, Millis, to_micros, to_millis
from limnograph.ports.clock import Clock
from limnograph.services.lake.history import History
from limnograph.services.lake.store import HotStore
from limnograph.services.reads.attempts import AttemptSource, TableAttempts
from limnograph.services.reads.of_history import live_files, names_of
from limnograph.services.reads.source import ReadSource, TableReads
from limnograph.services.rollups.fold import DAY, HOUR
from limnograph.services.table.histories import TableHistories
from limnograph.services.table.reads.contention import contention_of
from limnograph.services.table.reads.filters import filters_of
from limnograph.services.table.reads.merges import merge_on_read
from limnograph.services.table.reads.numbers import NOTHING, engines_of, numbers_of, readers_of, skipped_share
from limnograph.services.table.reads.stale import stale_reads

WIDTHS_US = (5 * 60 * MICROS_PER_SECOND, 15 * 60 * MICROS_PER_SECOND, HOUR, 6 * HOUR, DAY, 7 * DAY)
MOST_POINTS = 100
_READER = ("engine", "engine_version", "job_name")
_HOURS = "The range reaches further back than single reports are kept: the numbers are of whole hours."


class ReadPages:
    """Reads of one table. Immutable after construction."""

    def __init__(self, store: HotStore, source: ReadSource, attempts: AttemptSource, clock: Clock) -> None:
        self._store, self._source, self._attempts = store, source, attempts
        self._tables = TableHistories(store, clock)

    async def page(self, name: TableName, start: Millis, end: Millis) -> ReadsPage:
        """Reads in a range. Raises NotFound; SourceError if the meta tables cannot be read."""
        return await self._store.reads.ask(self._page, name, SpanMs(start=start, end=end))

    def read(self, name: TableName, start: Micros, end: Micros) -> tuple[History, TableReads]:
        """The table's history and its reads in `[start, end)`. Blocks. Raises NotFound, SourceError."""
        history = self._tables.since(name, start)
        return history, self._source.read(history.uuid, names_of(history), live_files(history), start, end)

    def attempts(self, name: TableName, start: Micros, end: Micros) -> TableAttempts:
        """The table's reported commits in `[start, end)`. Blocks. Raises NotFound, SourceError."""
        return self._attempts.read(self._tables.since(name, start), start, end)

    def _page(self, name: TableName, span: SpanMs) -> ReadsPage:
        start, end = to_micros(span.start), to_micros(span.end)
        history, reads = self.read(name, start, end)
        total = next(reads.summed().iter_rows(named=True), None)
        by_reader = reads.summed(_READER)
        numbers = numbers_of(total) if total else NOTHING
        known = total["filters_known"] or 0 if total else 0
        width_us = _width_us(start, end, exact=reads.exact)
        notes = [] if reads.exact else [Note(code="reads_by_hour", sentence=_HOURS)]
        return ReadsPage(
            **self._tables.head(name, history, notes),
            range=span,
            resolution="raw" if reads.exact else "hour",
            total=numbers,
            engines=engines_of(reads.summed(("engine",))),
            step_s=width_us // MICROS_PER_SECOND,
            points=_points(reads, history, width_us),
            filters_known=known,
            filters=filters_of((total["filter_columns"] if total else None) or (), known, history),
            readers=readers_of(by_reader),
            stale=stale_reads(by_reader, history),
            merges=merge_on_read(history, numbers, start, end),
            contention=contention_of(self._attempts.read(history, start, end)),
        )


def _width_us(start: Micros, end: Micros, *, exact: bool) -> int:
    """The shortest width with at most MOST_POINTS points; hours cannot be divided."""
    fitting = [
        width_us for width_us in WIDTHS_US if (end - start) / width_us <= MOST_POINTS and (exact or width_us >= HOUR)
    ]
    return fitting[0] if fitting else WIDTHS_US[-1]


def _points(reads: TableReads, history: History, width_us: int) -> list[ReadPoint]:
    """One point for every span with a read."""
    depths = zip(history.main_times, history.column("overlap_depth_max"), strict=True)
    known = [(at, depth) for at, depth in depths if depth is not None]
    times, values = [at for at, _ in known], [depth for _, depth in known]
    rows = reads.summed((), width_us).sort("begin")
    return [_point(row, width_us, times, values) for row in rows.iter_rows(named=True)]


def _point(row: dict[str, Any], width_us: int, times: Sequence[Micros], depths: Sequence[float]) -> ReadPoint:
    place = bisect_right(times, row["begin"] + width_us - 1) - 1
    return ReadPoint(
        t=to_millis(Micros(row["begin"])),
        scans=row["scans"],
        queries=row["queries"],
        planning_p95=row["planning_seconds_p95"],
        query_p95=row["query_seconds_p95"],
        skipped_share=skipped_share(row),
        overlap_depth=depths[place] if place >= 0 else None,
    )
