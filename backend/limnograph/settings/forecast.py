"""Section `[forecast]`: which tables are at risk."""

from __future__ import annotations

from typing import Annotated

import msgspec

from limnograph.domain.forecasts.cases import ForecastMetric
from limnograph.domain.forecasts.limits import DEFAULT_THRESHOLDS, ForecastLimits
from limnograph.settings.base import FrozenSettings
from limnograph.settings.findings import FindingsSettings

Positive = Annotated[float, msgspec.Meta(gt=0)]


class ForecastSettings(FrozenSettings, frozen=True, kw_only=True):
    """Forecasts of the metrics of every table that had commits lately ([forecast](at-risk.md)). Thresholds of
    snapshots, metadata, deleted rows and skew are those of the findings `snapshots_unbounded`, `metadata_large`,
    `deletes_not_materialized` and `partition_skew`; of a job's duration, its objective.
    """

    enabled: bool = True
    """Forecast in the pipeline."""
    every_hours: Annotated[float, msgspec.Meta(ge=1, le=168)] = 24.0
    """Time between two passes, in hours."""
    train: bool = True
    """Train the model on your own tables once a week, if 1,000 of them had commits lately. The new model is used if it
    is better on the newest week.
    """
    budget: Annotated[int, msgspec.Meta(ge=1, le=1_000)] = 10
    """Number of tables at risk that the list names before the rest."""
    small_files: Positive = DEFAULT_THRESHOLDS["small_files"]
    """Small files of a table that are too many: data files below three quarters of its target size."""
    delete_files: Positive = DEFAULT_THRESHOLDS["total_delete_files"]
    """Delete files of a table that are too many."""
    manifests: Positive = DEFAULT_THRESHOLDS["manifests"]
    """Manifests of a table that are too many."""
    reader_factor: Annotated[float, msgspec.Meta(gt=1)] = ForecastLimits().reader_factor
    """A job that reads a table is slow when its seconds per GiB read reach this multiple of their median over the last
    28 days.
    """


def forecast_limits_of(settings: ForecastSettings, findings: FindingsSettings) -> ForecastLimits:
    """Thresholds by metric."""
    thresholds: dict[ForecastMetric, float] = {
        "small_files": settings.small_files,
        "total_delete_files": settings.delete_files,
        "delete_ratio": findings.deletes_not_materialized.share,
        "manifests": settings.manifests,
        "live_snapshots": float(findings.snapshots_unbounded.snapshots),
        "metadata_bytes": float(findings.metadata_large.metadata_bytes),
        "skew_max_over_median": findings.partition_skew.ratio,
    }
    return ForecastLimits(thresholds, settings.reader_factor, float(findings.partition_skew.partitions))
