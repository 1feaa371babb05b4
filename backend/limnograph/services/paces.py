"""How fast readers of tables are at the start and at the end of a range: one computation for fleet and table page."""

from __future__ import annotations

from limnograph.domain.errors import SourceError
from limnograph.domain.ids import TableName
from limnograph.domain.series import Matrix, RangeQuery
from limnograph.services import templates
from limnograph.services.metrics import Metrics
from limnograph.services.thresholds import JobPace

_LEAST_WINDOW_S = 300
_MOST_WINDOW_S = 3_600


async def slowest_readers(metrics: Metrics | None, start_ms: int, end_ms: int) -> dict[TableName, JobPace]:
    """Slowest reader of every table, by one query with two instants. A failing source measures nothing."""
    if metrics is None:
        return {}
    width_s = (end_ms - start_ms) // 1000
    window = max(_LEAST_WINDOW_S, min(_MOST_WINDOW_S, width_s // 6))
    step = max(1, width_s - window)
    promql = templates.median_duration_by_table(window)
    # Pages that people open together ask the same, and equal questions go out once.
    end_ms = templates.snapped(end_ms)
    try:
        return slowest(await metrics.everywhere(RangeQuery(promql, end_ms - step * 1000, end_ms, step)))
    except SourceError:
        return {}


def slowest(matrix: Matrix) -> dict[TableName, JobPace]:
    """Per table the reader whose second sample is most times its first."""
    found: dict[TableName, JobPace] = {}
    for series in matrix.series:
        if (
            len(series.values) != 2
            or not 0 < series.values[0] < float("inf")
            or not 0 <= series.values[1] < float("inf")
        ):
            continue
        label = series.labels.get
        name = TableName(label("catalog", ""), label("table_namespace", ""), label("table", ""))
        pace = JobPace(label("job_name", ""), series.values[0], series.values[1])
        if name not in found or pace.ratio > found[name].ratio:
            found[name] = pace
    return found
