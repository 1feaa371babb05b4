"""What moves a target. Of a reader: how much it follows each structural metric, times how much that one grows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

from limnograph.analysis.forecast.following import STRUCTURE
from limnograph.analysis.forecast.series import READERS
from limnograph.domain.forecasts.answers import DriverWeight, ForecastDriver


def driver_weights(metric: str, response: Mapping[str, float], growth: Mapping[str, float]) -> list[DriverWeight]:
    """Drivers of a target, strongest first. A structural metric moves itself.

    response  log level of the reader per log of each structural metric (`following.py`)
    growth  log growth of each structural metric
    """
    if metric not in READERS:
        return [DriverWeight(metric=_driver(metric), weight=1.0)]
    candidates = [each for each in STRUCTURE if each != "total_bytes" or metric == "reader_seconds"]
    grown = {each: max(growth.get(each, 0.0), 0.0) for each in candidates}
    followed = {each: max(response.get(each, 0.0), 0.0) for each in candidates}
    for scores in ({each: followed[each] * grown[each] for each in candidates}, grown, followed):
        total = sum(scores.values())
        if total > 0:
            ranked = sorted(scores.items(), key=lambda each: -each[1])
            return [DriverWeight(metric=_driver(name), weight=score / total) for name, score in ranked if score > 0]
    return [DriverWeight(metric="small_files", weight=1.0)]


def _driver(metric: str) -> ForecastDriver:
    found: ForecastDriver = next(each for each in get_args(ForecastDriver) if each == metric)
    return found
