"""Turns the numbers of a model into the answer of the contract and into what pages show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from limnograph.analysis.forecast.drops import find_drops, growth_per_day
from limnograph.analysis.forecast.grid import HOUR_MS, Floats
from limnograph.analysis.forecast.results import TargetSignals
from limnograph.analysis.forecast.series import HistoryGrid
from limnograph.domain.forecasts.answers import (
    AbstainReason,
    DriverWeight,
    HorizonForecast,
    HorizonRisk,
    TableForecast,
    TargetForecast,
)
from limnograph.domain.forecasts.cases import ForecastCase, ForecastMetric
from limnograph.domain.time import Millis

ALERT_H = 168
_LIKELY = 0.5
_TOGETHER = 0.5
"""How independent the targets of one table are: 0: the largest probability is the risk, 1: fully."""


class TargetNumbers(NamedTuple):
    """What the model says about one target. `quantiles`: of the level by horizon; `curve`: probability of crossing by
    hours; `maintained`: the same after maintenance, None if that is not known or changes nothing (`unchanged`).
    """

    metric: ForecastMetric
    threshold: float
    level: float
    quantiles: Mapping[int, Floats]
    curve: Mapping[int, float]
    maintained: Mapping[int, float] | None
    unchanged: bool
    drivers: list[DriverWeight]

    @property
    def red(self) -> bool:
        """Whether the level is at or above the threshold already."""
        return bool(np.isfinite(self.level) and self.level >= self.threshold)

    @property
    def known(self) -> bool:
        """Whether there is a level to forecast from."""
        return bool(np.isfinite(self.level))


def table_answer(
    case: ForecastCase, numbers: Sequence[TargetNumbers], why: Sequence[AbstainReason | None], alert: float
) -> TableForecast:
    """The answer to a case. `alert`: least risk within a week of a table on the list."""
    targets = [_target(case, each, reason) for each, reason in zip(numbers, why, strict=True)]
    open_curves = [each.curve for each in numbers if not each.red and each.known]
    risk = [
        HorizonRisk(hours=hours, p=_joint([curve[hours] for curve in open_curves])) for hours in case.horizons_hours
    ]
    within = [each.p for each in risk if each.hours <= ALERT_H]
    return TableForecast(id=case.id, risk=risk, alert=bool(within and max(within) >= alert), targets=targets)


def target_signals(series: HistoryGrid, numbers: TargetNumbers) -> TargetSignals:
    """What pages show beside the answer."""
    drops = find_drops(series.states(numbers.metric))
    start, end = _range(series.case, numbers)
    return TargetSignals(
        level=_known(numbers.level),
        crosses_from=start,
        crosses_to=end,
        growth_per_day=_known(growth_per_day(series.states(numbers.metric))),
        usual_drop_hours=_known(drops.usual_h),
        last_drop_hours=_known(drops.since_h),
        last_drops=[Millis((series.start + hour) * HOUR_MS) for hour in drops.hours[-5:].tolist()],
    )


def crossing_hour(curve: Mapping[int, float], p: float) -> float | None:
    """Hours at which the probability of having crossed reaches `p`, between horizons; None if it does not."""
    hours, level = [0.0, *map(float, curve)], [0.0, *curve.values()]
    for place in range(1, len(hours)):
        if level[place] >= p:
            rise = level[place] - level[place - 1]
            share = (p - level[place - 1]) / rise if rise > 0 else 1.0
            return max(1.0, hours[place - 1] + share * (hours[place] - hours[place - 1]))
    return None


def median_crossing(numbers: TargetNumbers) -> float | None:
    """Hours until the crossing is as likely as not; None if it is less likely within the longest horizon, or red.

    Before the first horizon the probabilities say nothing of the hour: one that is certain is halfway at every level.
    The median path, a line from the level to the median of that horizon, does.
    """
    if numbers.red or not numbers.known:
        return None
    at = crossing_hour(numbers.curve, _LIKELY)
    first = min(numbers.quantiles, default=0)
    if at is None or at > first:
        return at
    middle = float(numbers.quantiles[first][1])
    if middle < numbers.threshold:
        return at
    return max(1.0, first * (numbers.threshold - numbers.level) / (middle - numbers.level))


def _target(case: ForecastCase, numbers: TargetNumbers, reason: AbstainReason | None) -> TargetForecast:
    at = median_crossing(numbers)
    return TargetForecast(
        metric=numbers.metric,
        horizons=[_horizon(hours, numbers) for hours in case.horizons_hours],
        crosses_at=None if at is None else Millis(case.as_of + round(at) * HOUR_MS),
        drivers=numbers.drivers,
        abstained=reason,
    )


def _horizon(hours: int, numbers: TargetNumbers) -> HorizonForecast:
    if not numbers.known:
        return HorizonForecast(hours=hours, p10=None, p50=None, p90=None, p_cross=None, p_cross_if_maintained=None)
    low, middle, high = map(float, numbers.quantiles[hours])
    p = 1.0 if numbers.red else numbers.curve[hours]
    if numbers.red:
        cared = None
    elif numbers.unchanged:
        cared = p
    else:
        cared = min(p, numbers.maintained[hours]) if numbers.maintained else None
    return HorizonForecast(hours=hours, p10=low, p50=middle, p90=high, p_cross=p, p_cross_if_maintained=cared)


def _joint(each: Sequence[float]) -> float:
    """Probability that at least one happens, of events that often happen together."""
    if not each:
        return 0.0
    ordered = sorted(each, reverse=True)
    missed = 1 - ordered[0]
    for p in ordered[1:]:
        missed *= (1 - p) ** _TOGETHER
    return 1 - missed


def _range(case: ForecastCase, numbers: TargetNumbers) -> tuple[Millis | None, Millis | None]:
    """80 % range of the crossing, if it happens within the longest horizon."""
    if numbers.red or not numbers.known or not numbers.curve:
        return None, None
    final = list(numbers.curve.values())[-1]
    if final < _LIKELY:
        return None, None
    found = [crossing_hour(numbers.curve, share * final) for share in (0.1, 0.9)]
    known = [each for each in (*found, median_crossing(numbers)) if each is not None]
    return Millis(case.as_of + round(min(known)) * HOUR_MS), Millis(case.as_of + round(max(known)) * HOUR_MS)


def _known(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
