"""Durations of the tables' readers at the start and at the end of a range, computed once for fleet and table page."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from limnograph.domain.errors import SourceError
from limnograph.domain.ids import TableName
from limnograph.domain.metrics.series import Matrix, RangeQuery
from limnograph.domain.thresholds import JobPace
from limnograph.domain.time import MS_PER_SECOND, Millis
from limnograph.services.sources import templates
from limnograph.services.sources.metrics import Metrics

_LEAST_WINDOW_S = 300
_MOST_WINDOW_S = 3_600


_Reader = tuple[TableName, str]


async def slowest_readers(metrics: Metrics | None, start_ms: Millis, end_ms: Millis) -> dict[TableName, JobPace]:
    """The slowest reader of every table, by two queries with two instants each. A failing source returns no readers."""
    if metrics is None:
        return {}
    width_s = (end_ms - start_ms) // MS_PER_SECOND
    window_s = max(_LEAST_WINDOW_S, min(_MOST_WINDOW_S, width_s // 6))
    step_s = max(1, width_s - window_s)
    # Pages that are opened together send equal queries, and equal queries are sent once.
    end_ms = templates.snapped(end_ms)

    async def measured(promql: str) -> dict[_Reader, tuple[float, float]]:
        try:
            return ends(await metrics.everywhere(RangeQuery(promql, end_ms - step_s * MS_PER_SECOND, end_ms, step_s)))
        except SourceError:
            return {}

    medians, p95s = await asyncio.gather(
        measured(templates.median_duration_by_table(window_s)), measured(templates.p95_duration_by_table(window_s))
    )
    return slowest(medians, p95s)


def ends(matrix: Matrix) -> dict[_Reader, tuple[float, float]]:
    """The samples of each reader at both instants."""
    found: dict[_Reader, tuple[float, float]] = {}
    for series in matrix.series:
        if (
            len(series.values) != 2
            or not 0 < series.values[0] < float("inf")
            or not 0 <= series.values[1] < float("inf")
        ):
            continue
        label = series.labels.get
        name = TableName.from_plain(label("catalog", ""), label("table_namespace", ""), label("table", ""))
        found[name, label("job_name", "")] = series.values[0], series.values[1]
    return found


def slowest(
    medians: Mapping[_Reader, tuple[float, float]], p95s: Mapping[_Reader, tuple[float, float]]
) -> dict[TableName, JobPace]:
    """For each table, the reader whose median grew by the largest factor."""
    found: dict[TableName, JobPace] = {}
    for (name, job), samples in medians.items():
        pace = JobPace(job, *samples, *p95s.get((name, job), (None, None)))
        if name not in found or pace.ratio > found[name].ratio:
            found[name] = pace
    return found
