"""Resources that a job used while it ran (CPU, spill, executors, memory), and what its source keeps for it: from
configured queries, else from Spark's own metrics.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping
from typing import Literal, get_args

from limnograph.analysis.alignment import Value, finite
from limnograph.domain.answers.lane_specs import head_of
from limnograph.domain.answers.timeline import LaneQuery, LineLane
from limnograph.domain.errors import SourceError
from limnograph.domain.ids import TableName
from limnograph.domain.metrics.series import Matrix, RangeQuery
from limnograph.domain.time import TimeRange
from limnograph.services.jobs.discovery import Jobs, Number
from limnograph.services.jobs.lanes import ChosenJob, problem_of
from limnograph.services.sources import templates

Signal = Literal["cpu", "spill", "executors"]
SIGNALS: tuple[Signal, ...] = get_args(Signal)
"""Those that Explain compares. Each is a lane."""
LANES = (*SIGNALS, "job_memory", "slot_lag")
_OWN: Mapping[str, Number] = {
    "cpu": "cpu",
    "spill": "spill",
    "executors": "executors",
    "job_memory": "memory",
    "slot_lag": "slot_lag",
}
"""Lane -> setting of a job with a query of its own."""
_SPARK: Mapping[str, Callable[[str, int], str]] = {
    "cpu": templates.busy_cores,
    "executors": templates.executors,
    "job_memory": templates.memory,
}
"""Queries of Spark's own endpoint, by application name."""


def promql(jobs: Jobs, job: str, signal: str, step_s: int) -> str:
    """The query for a signal of a job; empty if there is no source."""
    own, spark = jobs.own(job, _OWN[signal]), _SPARK.get(signal)
    return own or (spark(job, step_s) if spark else "")


def total(matrix: Matrix) -> dict[int, float]:
    """The sum of a signal's series; instants without any value are missing."""
    values: dict[int, float] = {}
    for series in matrix.series:
        for at, sample in zip(series.times, series.values, strict=True):
            if (value := finite(sample)) is not None:
                values[at] = values.get(at, 0.0) + value
    return values


async def lanes(
    jobs: Jobs, name: TableName, job: ChosenJob | None, span: TimeRange, asked: Collection[str]
) -> list[LineLane]:
    """The lanes of the requested signals; each fails separately."""
    chosen = None if job is None else job.name
    wanted = {signal: chosen for signal in LANES if signal in asked}
    if "slot_lag" in wanted and not (chosen is not None and jobs.own(chosen, "slot_lag")):
        # The job that is chosen reads the table; the one that a source waits for writes it.
        wanted["slot_lag"] = jobs.with_slot(name)
    return list(await asyncio.gather(*(_lane(jobs, of, signal, span) for signal, of in wanted.items())))


async def _lane(jobs: Jobs, job: str | None, signal: str, span: TimeRange) -> LineLane:
    """Absent if there is no query for the signal, or if the query for Spark's own series finds none."""
    asked = "" if job is None else promql(jobs, job, signal, span.step_s)
    nothing: list[Value] = [None] * len(span.instants())
    if jobs.metrics is None or job is None or not asked:
        return LineLane(**head_of(signal), status="absent", v=nothing)
    server = jobs.server(job)
    try:
        matrix = await jobs.metrics.range(RangeQuery(asked, span.start, span.end, span.step_s), server)
        problem = None
    except SourceError as error:
        matrix, problem = Matrix([]), problem_of(error)
    values = total(matrix)
    known = bool(values) or bool(jobs.own(job, _OWN[signal]))
    return LineLane(
        **head_of(signal),
        status="error" if problem else "partial" if matrix.truncated else "ok" if known else "absent",
        label=job,
        age_s=jobs.metrics.age_s(),
        resolution=None if problem else f"{span.step_s} s",
        problem=problem,
        query=LaneQuery(promql=asked, prometheus=jobs.graph(server)),
        v=[values.get(at) for at in span.instants()],
    )
