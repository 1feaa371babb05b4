"""The lane of stream lag, from the gauges of `limnograph.spark_streams`: how long the last batch took from its
checkpoint to its commit, or how long the last progress is ago where that is longer. Of several streams, the one that
lags most.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from limnograph.analysis.alignment import Value, finite
from limnograph.domain.answers.lane_specs import head_of
from limnograph.domain.answers.timeline import LaneQuery, LineLane
from limnograph.domain.errors import SourceError
from limnograph.domain.ids import TableName
from limnograph.domain.metrics.series import Matrix, RangeQuery
from limnograph.domain.time import MS_PER_SECOND, Millis, TimeRange
from limnograph.services.jobs.discovery import Jobs
from limnograph.services.jobs.lanes import problem_of
from limnograph.services.sources import templates

LANE = "stream_lag"


async def draw(jobs: Jobs, name: TableName, span: TimeRange, asked: tuple[str, ...]) -> list[LineLane]:
    """The lane, if it is requested. Absent without a metrics source, or if no stream of the table is measured."""
    if LANE not in asked:
        return []
    nothing: list[Value] = [None] * len(span.instants())
    if jobs.metrics is None:
        return [LineLane(**head_of(LANE), status="absent", v=nothing)]
    promql = templates.stream_lag(name, span.step_s)
    try:
        matrix = await jobs.metrics.range(RangeQuery(promql, span.start, span.end, span.step_s))
        problem = None
    except SourceError as error:
        matrix, problem = Matrix([]), problem_of(error)
    lags = dict(_lags(matrix))
    return [
        LineLane(
            **head_of(LANE),
            status="error" if problem else "partial" if matrix.truncated else "ok" if lags else "absent",
            age_s=jobs.metrics.age_s(),
            resolution=None if problem else f"{span.step_s} s",
            problem=problem,
            query=LaneQuery(promql=promql, prometheus=jobs.graph(None)),
            v=[lags.get(at) for at in span.instants()],
        )
    ]


def _lags(matrix: Matrix) -> Iterator[tuple[Millis, float]]:
    """The largest lag at each instant at which any stream has one."""
    found: dict[Millis, list[float]] = defaultdict(list)
    for series in matrix.series:
        is_instant = series.labels.get(templates.STAT) == "progress"
        for at_ms, sample in zip(series.times, series.values, strict=True):
            if (value := finite(sample)) is not None:
                found[at_ms].append(max(0.0, at_ms / MS_PER_SECOND - value) if is_instant else value)
    for at_ms, values in found.items():
        yield at_ms, max(values)
