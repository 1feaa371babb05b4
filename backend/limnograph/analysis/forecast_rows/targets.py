"""What is asked about a table: the metrics that are known of it, with their thresholds. Pure."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import numpy as np

from limnograph.analysis.forecast.series import HistoryGrid
from limnograph.domain.forecasts.cases import ForecastCase, ForecastTarget
from limnograph.domain.forecasts.limits import ForecastLimits

_USUAL_H = 28 * 24
_LEAST_RUNS = 8


def with_targets(case: ForecastCase, limits: ForecastLimits, seconds_limit: float | None) -> ForecastCase:
    """The case with its targets. `seconds_limit`: promised duration of the job."""
    return msgspec.structs.replace(case, targets=list(_targets(case, limits, seconds_limit)))


def _targets(case: ForecastCase, limits: ForecastLimits, seconds_limit: float | None) -> Iterator[ForecastTarget]:
    series = HistoryGrid(case)
    for metric, threshold in limits.thresholds.items():
        if metric == "skew_max_over_median" and not _has_skew(series, case.target_file_bytes, limits.skew_partitions):
            continue
        if np.isfinite(series.levels(metric)[-1]):
            yield ForecastTarget(metric=metric, threshold=threshold)
    if case.runs is None or len(case.runs.times) < _LEAST_RUNS:
        return
    if seconds_limit is not None:
        yield ForecastTarget(metric="reader_seconds", threshold=seconds_limit)
    levels = series.levels("reader_seconds_per_gib")[-_USUAL_H:]
    known = levels[np.isfinite(levels)]
    if known.size and np.isfinite(levels[-1]) and np.median(known) > 0:
        threshold = limits.reader_factor * float(np.median(known))
        yield ForecastTarget(metric="reader_seconds_per_gib", threshold=threshold)


def _has_skew(series: HistoryGrid, target_bytes: float, partitions: float) -> bool:
    """Whether skew can matter: as for the finding `partition_skew`, not among few partitions or in a small table."""
    count, size = series.levels("partitions_total")[-1], series.levels("total_bytes")[-1]
    return bool(count >= partitions and size >= target_bytes)
