"""Lanes of what engines reported of reads: planning and query times, skipped files, delete files merged. A value is of
all reads of the span around its instant; without a read there is none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from limnograph.domain.answers.lane_specs import empty_lane, head_of
from limnograph.domain.answers.timeline import Lane, LineLane
from limnograph.domain.errors import SourceError
from limnograph.domain.ids import TableName
from limnograph.domain.time import MICROS_PER_SECOND, TimeRange, to_micros
from limnograph.services.jobs.lanes import problem_of
from limnograph.services.lake.store import HotStore
from limnograph.services.reads.source import TableReads
from limnograph.services.rollups.fold import DAY, HOUR
from limnograph.services.table.reads.numbers import Row, ratio, skipped_share
from limnograph.services.table.reads.page import ReadPages

WIDTHS_US = (*(minutes * 60 * MICROS_PER_SECOND for minutes in (1, 5, 15)), HOUR, 6 * HOUR, DAY, 7 * DAY)
MOST_SPANS = 96
VALUES: Mapping[str, Callable[[Row], float | None]] = {
    "planning": lambda row: row["planning_seconds_p95"],
    "query_p95": lambda row: row["query_seconds_p95"],
    "skipped_share": skipped_share,
    "read_amplification": lambda row: ratio(row["delete_files"], row["files_opened"]),
}
"""Lane -> its value in a row of sums."""


async def draw(
    pages: ReadPages | None, store: HotStore, name: TableName, span: TimeRange, asked: tuple[str, ...]
) -> list[Lane]:
    """The requested lanes of reads."""
    wanted = [lane for lane in asked if lane in VALUES]
    points = len(span.instants())
    if not wanted:
        return []
    if pages is None:
        return [empty_lane(lane, points, "absent") for lane in wanted]
    try:
        _, reads = await store.reads.ask(pages.read, name, to_micros(span.start), to_micros(span.end))
    except SourceError as error:
        return [empty_lane(lane, points, "error", problem_of(error)) for lane in wanted]
    width_us = width_of(span, exact=reads.exact)
    rows = {row["begin"]: row for row in reads.summed((), width_us).iter_rows(named=True)}
    return [_line(lane, reads, rows, span, width_us) for lane in wanted]


def width_of(span: TimeRange, *, exact: bool) -> int:
    """The shortest width of at least a step with at most MOST_SPANS spans; hours cannot be divided."""
    least = max(span.step_s * MICROS_PER_SECOND, (to_micros(span.end) - to_micros(span.start)) / MOST_SPANS)
    return next((width for width in WIDTHS_US if width >= least and (exact or width >= HOUR)), WIDTHS_US[-1])


def _line(lane: str, reads: TableReads, rows: Mapping[int, Any], span: TimeRange, width_us: int) -> LineLane:
    begins = (to_micros(at) // width_us * width_us for at in span.instants())
    values = [VALUES[lane](rows[begin]) if begin in rows else None for begin in begins]
    known = any(value is not None for value in values)
    return LineLane(
        **head_of(lane),
        status="ok" if known else "absent",
        resolution="raw" if reads.exact else "hour",
        v=values,
    )
