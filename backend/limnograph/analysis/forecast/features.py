"""Features of a question (view, threshold, hours) for the classifier, and of (view, hours) for the quantiles.

All are free of scale: ratios to the threshold, to the room below it, or to the level of now.
"""

from __future__ import annotations

import numpy as np

from limnograph.analysis.forecast.grid import DAY_H, Floats, Longs
from limnograph.analysis.forecast.paths import draw_paths
from limnograph.analysis.forecast.views import TABLE_NUMBERS, ViewBlock, row_median

CHANGE_D = (1, 2, 3, 7, 14, 28)
PEAK_D = (2, 7, 14, 28)
INFLOW_D = (1, 3, 7, 28)
WEEK_H = 168
_FAR = 6.0

SHARED = (
    "metric",
    "hours",
    "since_drop",
    "usual_drop",
    "longest_drop",
    "drop_share",
    "drops",
    "overdue",
    "overdue_most",
    "since_fall",
    "fall_overdue",
    "volatility",
    *TABLE_NUMBERS,
)
QUANTILE_FEATURES = (
    *SHARED,
    *(f"change_{days}d" for days in CHANGE_D),
    *(f"peak_{days}d" for days in PEAK_D),
    "state_now",
    "lowest_28d",
    "path_p10",
    "path_p50",
    "path_p90",
    "trend_7d",
    "trend_28d",
    "week_ago",
    "spread_7d",
)
CROSS_FEATURES = (
    *SHARED,
    "room",
    "room_state",
    *(f"used_{days}d" for days in CHANGE_D),
    *(f"inflow_{days}d" for days in INFLOW_D),
    *(f"peak_{days}d" for days in PEAK_D),
    "state_peak_28d",
    "lowest_28d",
    "next_peak",
    "next_peak_most",
    "path_p",
    "path_peak",
    "path_p50",
    "path_p90",
    "trend_7d_z",
    "trend_28d_z",
    "trend_7d_used",
    "trend_28d_used",
    "season_peak",
    "week_ahead",
)


class Futures:
    """Day bootstrap of a block of views. Immutable after construction."""

    def __init__(self, ends: Floats) -> None:
        self.ends = ends
        self.peaks: Floats = np.maximum.accumulate(ends, axis=2)

    @classmethod
    def drawn(cls, block: ViewBlock, days: int) -> Futures:
        """Futures of a block for `days` days."""
        return cls(draw_paths(block.blocks, block.state, days))

    def of(self, rows: Longs) -> Futures:
        """The futures of some of the views."""
        return Futures(self.ends[rows])

    def quantiles(self, hours: int) -> Floats:
        """10 %, 50 % and 90 % of the level at `hours`: `[3, view]`; NaN where nothing is known."""
        ends = np.sort(self.ends[:, :, _day(hours)], axis=1)
        places = [int(share * (ends.shape[1] - 1)) for share in (0.1, 0.5, 0.9)]
        return ends[:, places].T


def quantile_features(block: ViewBlock, futures: Futures, hours: int) -> Floats:
    """`[view, QUANTILE_FEATURES]`."""
    level, floor = block.level, block.floor
    drawn = futures.quantiles(hours)
    columns = [
        *_shared(block, hours),
        *(_log(level + floor, block.levels[:, -1 - days * DAY_H] + floor) for days in CHANGE_D),
        *(_log(_highest(block.levels, days) + floor, level + floor) for days in PEAK_D),
        _log(block.state + floor, level + floor),
        _log(np.fmin.reduce(block.levels, axis=1) + floor, level + floor),
        *(_log(each + floor, level + floor) for each in drawn),
        *(_log(np.maximum(level + slope * hours, 0) + floor, level + floor) for slope in block.slopes.T),
        _log(block.levels[:, -1 - WEEK_H + min(hours, WEEK_H)] + floor, level + floor),
        _clip(block.spread[:, 0] / (level + floor)),
    ]
    return np.stack(columns, axis=1)


def path_scale(block: ViewBlock, futures: Futures, hours: int) -> tuple[Floats, Floats]:
    """Centre and width of the quantiles' unit: log ratio of the bootstrap's median, and of its 80 % range."""
    low, middle, high = (_log(each + block.floor, block.level + block.floor) for each in futures.quantiles(hours))
    centre = np.where(np.isfinite(middle), middle, 0.0)
    width = np.where(np.isfinite(high - low), high - low, 0.3)
    return centre, np.clip(width, 0.03, 2.5)


def cross_features(block: ViewBlock, futures: Futures, threshold: Floats, hours: int) -> Floats:
    """`[view, CROSS_FEATURES]`."""
    level, state = block.start, block.state
    room = np.maximum(threshold - level, 1e-3 * threshold + 1e-9)
    share = hours / DAY_H
    change = [(block.level - block.levels[:, -1 - days * DAY_H]) / room * share / days for days in CHANGE_D]
    rises = np.maximum(np.diff(block.states, axis=1), 0)
    inflow = [np.nansum(rises[:, -days * DAY_H :], axis=1) / (days * DAY_H) for days in INFLOW_D]
    since, usual, longest = block.drops[:, 0], block.drops[:, 1], block.drops[:, 2]
    peaks = futures.peaks[:, :, _day(hours)]
    columns = [
        *_shared(block, hours),
        _log(threshold, level),
        _log(threshold, state),
        *(_clip(each) for each in change),
        *(_clip(each * hours / room) for each in inflow),
        *(_log(_highest(block.levels, days), threshold) for days in PEAK_D),
        _log(np.fmax.reduce(block.states, axis=1), threshold),
        _log(np.fmin.reduce(block.levels, axis=1), threshold),
        *(_log(state + inflow[2] * np.clip(gap - since, 0, hours), threshold) for gap in (usual, longest)),
        np.where(np.isfinite(state), (peaks >= threshold[:, None]).mean(axis=1), np.nan),
        _log(np.sort(peaks, axis=1)[:, peaks.shape[1] // 2], threshold),
        *(_log(each, threshold) for each in futures.quantiles(hours)[1:]),
        *(
            _clip((level + slope * hours - threshold) / (1.5 * spread + 0.01 * threshold))
            for slope, spread in zip(block.slopes.T, block.spread.T, strict=True)
        ),
        *(_clip(slope * hours / room) for slope in block.slopes.T),
        *_season(block, threshold, hours),
    ]
    return np.stack(columns, axis=1)


def _shared(block: ViewBlock, hours: int) -> list[Floats]:
    since, usual, longest, share, count, fall, usual_fall = block.drops.T
    ones = np.ones(len(block.metric))
    with np.errstate(invalid="ignore", divide="ignore"):
        logs = np.diff(np.log(block.levels[:, -1 - np.arange(29) * DAY_H] + block.floor[:, None]), axis=1)
        return [
            block.metric.astype(np.float64),
            ones * np.log(hours),
            np.log1p(since),
            np.log1p(usual),
            np.log1p(longest),
            share,
            count,
            _clip(since / usual),
            _clip(since / longest),
            np.log1p(fall),
            _clip(fall / usual_fall),
            1.4826 * _row_spread(logs),
            *block.table.T,
        ]


def _row_spread(values: Floats) -> Floats:
    """Median distance from the median, by row."""
    return row_median(np.abs(values - row_median(values)[:, None]))


def _season(block: ViewBlock, threshold: Floats, hours: int) -> tuple[Floats, Floats]:
    """Peak of the last week's course repeated with its drift, and the level of the course at `hours`."""
    level, week = block.level, block.levels[:, -WEEK_H:]
    drift = level - block.levels[:, -1 - WEEK_H]
    weeks = max(hours / WEEK_H, 1.0)
    ahead = week[:, : min(hours, WEEK_H)]
    peak = np.fmax.reduce(ahead, axis=1) + np.where(np.isfinite(drift), np.maximum(drift, 0) * weeks, 0.0)
    return _log(peak, threshold), _log(np.maximum(ahead[:, -1] + drift * weeks, 0), threshold)


def _highest(levels: Floats, days: int) -> Floats:
    found: Floats = np.fmax.reduce(levels[:, -1 - days * DAY_H :], axis=1)
    return found


def _day(hours: int) -> int:
    return max(1, -(-hours // DAY_H)) - 1


def _log(above: Floats, below: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        found = np.log(np.maximum(above, 1e-12) / np.maximum(below, 1e-12))
    return _clip(found)


def _clip(values: Floats) -> Floats:
    return np.clip(values, -_FAR, _FAR)
