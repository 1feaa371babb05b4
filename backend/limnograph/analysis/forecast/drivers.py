"""What moves a target. Of a reader: how much it follows each structural metric, times how much that will grow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import get_args

from limnograph.analysis.forecast.following import STRUCTURE
from limnograph.analysis.forecast.series import READERS
from limnograph.domain.forecasts.answers import DriverWeight, ForecastDriver

_USUAL = {
    "small_files": 0.4,
    "total_bytes": 1.2,
    "manifests": 0.05,
    "total_delete_files": 0.4,
    "skew_max_over_median": 0.35,
}
_TRUST = 0.4
"""Weight of the table's own response: over four weeks, the structure of most tables moves too little to tell."""


def driver_weights(metric: str, response: Mapping[str, float], growth: Mapping[str, float]) -> list[DriverWeight]:
    """Drivers of a target, strongest first. A structural metric moves itself.

    growth  expected log growth of each structural metric
    """
    if metric not in READERS:
        return [DriverWeight(metric=_driver(metric), weight=1.0)]
    usual_of = {**_USUAL, "total_bytes": 0.0} if metric == "reader_seconds_per_gib" else _USUAL
    scores = {
        name: (_TRUST * response.get(name, 0.0) + (1 - _TRUST) * usual_of[name]) * max(growth.get(name, 0.0), 0.0)
        for name in STRUCTURE
    }
    total = sum(scores.values())
    if total <= 0:
        usual = {name: value for name, value in response.items() if value > 0} or {"small_files": 1.0}
        scores, total = usual, sum(usual.values())
    ranked: Sequence[tuple[str, float]] = sorted(scores.items(), key=lambda each: -each[1])
    return [DriverWeight(metric=_driver(name), weight=score / total) for name, score in ranked if score > 0]


def _driver(metric: str) -> ForecastDriver:
    found: ForecastDriver = next(each for each in get_args(ForecastDriver) if each == metric)
    return found
