"""The forecast of a table: probabilities, quantiles, and why. The format: docs/forecast.md."""

from __future__ import annotations

from typing import Literal

import msgspec

from limnograph.domain.forecasts.cases import ForecastMetric
from limnograph.domain.time import Millis

AbstainReason = Literal["short_history", "missing", "stale", "regime_change", "unpredictable"]
"""Why numbers should not be shown as a forecast."""
ForecastDriver = Literal[
    "small_files",
    "total_bytes",
    "manifests",
    "total_delete_files",
    "skew_max_over_median",
    "delete_ratio",
    "live_snapshots",
    "metadata_bytes",
    "load",
]
"""What moves a target. `load`: the cluster."""


class HorizonForecast(msgspec.Struct, frozen=True, kw_only=True):
    """Quantiles of the level at `hours` after the cut-off; `p_cross`: probability that it reaches the threshold by
    then. `p_cross_if_maintained`: the same with maintenance at the cut-off; null: no estimate.
    """

    hours: int
    p10: float | None
    p50: float | None
    p90: float | None
    p_cross: float | None
    p_cross_if_maintained: float | None


class DriverWeight(msgspec.Struct, frozen=True, kw_only=True):
    """How much `metric` moves a target, 0 to 1."""

    metric: ForecastDriver
    weight: float


class TargetForecast(msgspec.Struct, frozen=True, kw_only=True):
    """`crosses_at`: median time of the crossing; null where a crossing within the longest horizon is less likely than
    not, or the target has crossed already. `drivers`: strongest first.
    """

    metric: ForecastMetric
    horizons: list[HorizonForecast]
    crosses_at: Millis | None
    drivers: list[DriverWeight]
    abstained: AbstainReason | None


class HorizonRisk(msgspec.Struct, frozen=True, kw_only=True):
    """Probability that at least one target that has not crossed yet crosses within `hours`."""

    hours: int
    p: float


class TableForecast(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to a case. `alert`: warn today that the table will degrade within seven days."""

    id: str
    risk: list[HorizonRisk]
    alert: bool
    targets: list[TargetForecast]
