"""Why a forecast should not be shown: its interval says nothing, or what it rests on is missing."""

from __future__ import annotations

import numpy as np

from limnograph.analysis.forecast.answering import TargetNumbers
from limnograph.analysis.forecast.grid import DAY_H, HOUR_MS, Floats
from limnograph.analysis.forecast.series import READERS, HistoryGrid
from limnograph.analysis.forecast.views import TABLE_NUMBERS
from limnograph.domain.forecasts.answers import AbstainReason

SHORT_H = 3 * DAY_H
WIDE = 2.2
"""Log ratio of the interval's ends at a week, from which on the interval says nothing."""
WIDE_SHORT = 1.4
_SHORT_D = 5
_BUSIER = TABLE_NUMBERS.index("busier")
_HISTORY = TABLE_NUMBERS.index("history_days")
_UNKNOWN = TABLE_NUMBERS.index("unknown_share")


def reasons(series: HistoryGrid, target: TargetNumbers, table: Floats) -> AbstainReason | None:
    """The reason, None if the forecast can be shown."""
    if not np.isfinite(target.level) or (table[_UNKNOWN] > 0.7 and table[_HISTORY] > 7):
        return "missing"
    if target.metric in READERS and _stale(series):
        return "stale"
    return "short_history" if series.hours < SHORT_H else _too_wide(target, table)


def _too_wide(target: TargetNumbers, table: Floats) -> AbstainReason | None:
    width = interval_width(target)
    if table[_HISTORY] < _SHORT_D and width > WIDE_SHORT:
        return "short_history"
    if width <= WIDE:
        return None
    return "regime_change" if abs(table[_BUSIER]) > 1.0 else "unpredictable"


def interval_width(target: TargetNumbers) -> float:
    """Log ratio of the ends of the interval at the horizon nearest to a week."""
    if not target.quantiles:
        return 0.0
    low, _, high = target.quantiles[min(target.quantiles, key=lambda each: abs(each - 168))]
    floor = 0.05 * max(target.level, target.threshold) + 1e-9
    return float(np.log((high + floor) / (low + floor)))


def _stale(series: HistoryGrid) -> bool:
    """The job has not run for five of its usual gaps, and two days."""
    times = series.runs()[0]
    if times.size < 3:
        return False
    waited = series.end - float(times[-1]) / HOUR_MS
    usual = float(np.median(np.diff(times))) / HOUR_MS
    return waited > max(5 * usual, 2 * DAY_H)
