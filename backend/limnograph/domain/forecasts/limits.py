"""Thresholds that forecasts ask about, by metric."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from limnograph.domain.forecasts.cases import ForecastMetric

WARN_FROM, WARN_BELOW = 0.5, 0.3
"""A warning begins at the first probability and ends below the second."""
WARNED_HOURS = 168
"""The horizon of warnings, hours."""
HORIZONS_HOURS, LONG_HORIZONS_HOURS = (24, 168), (24, 168, 720)
LONG_HISTORY_DAYS = 45
"""Days of history from which the long horizon is forecast too."""
DEFAULT_THRESHOLDS: Mapping[ForecastMetric, float] = MappingProxyType(
    {
        "small_files": 10_000.0,
        "total_delete_files": 1_000.0,
        "delete_ratio": 0.1,
        "manifests": 1_000.0,
        "live_snapshots": 500.0,
        "metadata_bytes": 5.0 * 2**20,
        "skew_max_over_median": 10.0,
    }
)


class ForecastLimits(NamedTuple):
    """`thresholds`: of metrics of files. `skew_partitions`: skew is forecast for tables with so many partitions or
    more, and the bytes of a file of their target size. `reader_factor`: a job that reads a table is slow when its
    seconds per GiB reach this multiple of their median over the last 28 days.
    """

    thresholds: Mapping[ForecastMetric, float] = DEFAULT_THRESHOLDS
    reader_factor: float = 1.5
    skew_partitions: float = 10.0
