"""Forecasts of the cases of one fleet. Entry: `load_model().forecast(cases)` (docs/forecast.md)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from limnograph.analysis.forecast.drops import find_drops, growth_per_day
from limnograph.analysis.forecast.load import FleetLoad
from limnograph.analysis.forecast.paths import HISTORY_D, day_blocks, draw_paths
from limnograph.analysis.forecast.results import BytesQuantiles, Forecasted, TargetSignals
from limnograph.analysis.forecast.series import DAY_H, HOUR_MS, CaseSeries, Floats
from limnograph.domain.forecasts.answers import (
    DriverWeight,
    HorizonForecast,
    HorizonRisk,
    TableForecast,
    TargetForecast,
)
from limnograph.domain.forecasts.cases import ForecastCase


class Forecaster:
    """Immutable after construction. Thread-safe."""

    name = "bootstrap"

    def forecast(self, cases: Sequence[ForecastCase], load: FleetLoad | None = None) -> list[Forecasted]:  # noqa: ARG002
        """Answers to the cases of one fleet, in order. `load`: default: of the runs of these cases."""
        return [_forecast(case) for case in cases]


def load_model() -> Forecaster:
    """The forecaster that ships with the product."""
    return Forecaster()


def read_model(path: Path) -> Forecaster:  # noqa: ARG001
    """The forecaster of a model file."""
    return Forecaster()


def _forecast(case: ForecastCase) -> Forecasted:
    series = CaseSeries(case)
    days = max(case.horizons_hours, default=DAY_H) // DAY_H
    targets, signals = [], []
    for target in case.targets:
        levels = series.levels(target.metric)
        level = float(levels[-1])
        paths = _paths(series.states(target.metric), days)
        peaks = np.maximum.accumulate(paths, axis=1)
        red = bool(level >= target.threshold)
        horizons = []
        for hours in case.horizons_hours:
            low, middle, high = _quantiles(paths[:, hours // DAY_H - 1])
            p = float((peaks[:, hours // DAY_H - 1] >= target.threshold).mean()) if np.isfinite(level) else 0.0
            horizons.append(
                HorizonForecast(
                    hours=hours, p10=low, p50=middle, p90=high, p_cross=1.0 if red else p, p_cross_if_maintained=None
                )
            )
        crossing = np.quantile(np.argmax(peaks >= target.threshold, axis=1) + 1, (0.1, 0.5, 0.9)) * DAY_H * HOUR_MS
        likely = not red and (horizons[-1].p_cross or 0) >= 0.5
        targets.append(
            TargetForecast(
                metric=target.metric,
                horizons=horizons,
                crosses_at=case.as_of + int(crossing[1]) if likely else None,
                drivers=[DriverWeight(metric="small_files", weight=1.0)],
                abstained="short_history" if series.hours < 3 * DAY_H else None,
            )
        )
        drops = find_drops(series.states(target.metric))
        signals.append(
            TargetSignals(
                level=_known(level),
                crosses_from=case.as_of + int(crossing[0]) if likely else None,
                crosses_to=case.as_of + int(crossing[2]) if likely else None,
                growth_per_day=_known(growth_per_day(levels)),
                usual_drop_hours=_known(drops.usual_h),
                last_drop_hours=_known(drops.since_h),
                last_drops=[(series.start + int(hour)) * HOUR_MS for hour in drops.hours[-5:]],
            )
        )
    risk = [HorizonRisk(hours=hours, p=_risk(targets, place)) for place, hours in enumerate(case.horizons_hours)]
    alert = any(each.p >= 0.5 for each in risk if each.hours <= 168)
    answer = TableForecast(id=case.id, risk=risk, alert=alert, targets=targets)
    return Forecasted(answer, signals, _bytes(series, case.horizons_hours, days))


def _risk(targets: Sequence[TargetForecast], place: int) -> float:
    return max(((each.horizons[place].p_cross or 0.0) for each in targets), default=0.0)


def _bytes(series: CaseSeries, horizons: Sequence[int], days: int) -> list[BytesQuantiles]:
    states = series.states("total_bytes")
    if not states.size or not np.isfinite(states[-1]):
        return []
    paths = _paths(states, days)
    return [
        BytesQuantiles(hours, *map(float, np.quantile(paths[:, hours // DAY_H - 1], (0.1, 0.5, 0.9))))
        for hours in horizons
    ]


def _paths(states: Floats, days: int) -> Floats:
    window = np.full((1, HISTORY_D * DAY_H + 1), np.nan)
    recent = states[-window.shape[1] :]
    window[0, window.shape[1] - recent.size :] = recent
    found: Floats = draw_paths(day_blocks(window), window[:, -1], days)[0]
    return found


def _quantiles(values: Floats) -> tuple[float | None, float | None, float | None]:
    if not np.isfinite(values).all():
        return None, None, None
    low, middle, high = np.quantile(values, (0.1, 0.5, 0.9))
    return float(low), float(middle), float(high)


def _known(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
