"""A level as seen from a cut-off: its last 28 days, and the numbers that features are made of.

All arrays have one row per view; nothing in them is later than the view's cut-off.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from limnograph.analysis.forecast.drops import SMALL_SHARE, find_drops
from limnograph.analysis.forecast.following import STRUCTURE, responses
from limnograph.analysis.forecast.grid import DAY_H, Floats, Longs
from limnograph.analysis.forecast.paths import HISTORY_D, DayBlocks, day_blocks
from limnograph.analysis.forecast.series import READERS, HistoryGrid
from limnograph.domain.forecasts.cases import ForecastMetric

WINDOW_H = HISTORY_D * DAY_H + 1
METRICS: tuple[str, ...] = (*get_args(ForecastMetric), "total_bytes")
"""In the order of the arrays of a stored model."""


class LevelView(NamedTuple):
    """A metric of a case at `cut`, an index of its levels. `reset`: state that maintenance at the cut-off leaves."""

    series: HistoryGrid
    cut: int
    metric: str
    reset: float | None = None


class ViewBlock(NamedTuple):
    """Numbers of many views. `states` and `levels`: `[view, WINDOW_H]`, NaN where not known; `floor`: what is added
    before logs are taken; `drops`: hours since the last drop, usual gap, longest gap, share taken away,
    number; the first two again, of small drops too. `reset`: whether maintenance changes the state at the cut-off.
    """

    states: Floats
    levels: Floats
    floor: Floats
    metric: Longs
    drops: Floats
    slopes: Floats
    spread: Floats
    table: Floats
    reset: npt.NDArray[np.bool_]
    blocks: DayBlocks

    def of(self, rows: Longs) -> ViewBlock:
        """The block of some of the views."""
        own = {name: getattr(self, name)[rows] for name in self._fields if name != "blocks"}
        parts: Any = [each[rows] for each in self.blocks]
        return ViewBlock(**own, blocks=DayBlocks(*parts))

    @property
    def level(self) -> Floats:
        """Level at the cut-off."""
        return self.levels[:, -1]

    @property
    def state(self) -> Floats:
        """State at the cut-off."""
        return self.states[:, -1]

    @property
    def start(self) -> Floats:
        """Where the future starts: the level, or what maintenance leaves."""
        return np.where(self.reset, self.state, self.level)


def view_block(views: Sequence[LevelView]) -> ViewBlock:
    """The numbers of these views."""
    states, levels = _windows(views)
    top = np.fmax.reduce(levels, axis=1)
    floor = 0.02 * np.where(np.isfinite(top) & (top > 0), top, 0.0) + 1e-6
    metric = np.array([METRICS.index(view.metric) for view in views], np.int64)
    blocks = day_blocks(states)  # of the table's own days, not of the reset
    states[:, -1] = [states[row, -1] if view.reset is None else view.reset for row, view in enumerate(views)]
    drops = np.array([_drop_numbers(row) for row in states]).reshape(len(views), 7)
    slopes, spread = _slopes(levels)
    table = _table_rows(views)
    reset = np.array([view.reset is not None for view in views], bool)
    return ViewBlock(states, levels, floor, metric, drops, slopes, spread, table, reset, blocks)


def row_median(values: Floats) -> Floats:
    """Median of each row without its NaN."""
    ordered = np.sort(values, axis=1)
    count = np.isfinite(ordered).sum(axis=1)
    row, some = np.arange(len(values)), np.maximum(count, 1)
    found: Floats = (ordered[row, (some - 1) // 2] + ordered[row, some // 2]) / 2
    return np.where(count > 0, found, np.nan)


def _windows(views: Sequence[LevelView]) -> tuple[Floats, Floats]:
    states = np.full((len(views), WINDOW_H), np.nan)
    levels = np.full((len(views), WINDOW_H), np.nan)
    for row, (series, cut, metric, _) in enumerate(views):
        known = series.states(metric)[max(0, cut - WINDOW_H) : cut]
        states[row, WINDOW_H - known.size :] = known
        seen = series.levels(metric)[max(0, cut + 1 - WINDOW_H) : cut + 1]
        levels[row, WINDOW_H - seen.size :] = seen
    return states, levels


def _drop_numbers(states: Floats) -> tuple[float, ...]:
    drops = find_drops(states)
    longest = float(np.diff(drops.hours).max()) if drops.hours.size > 1 else np.nan
    falls = find_drops(states, SMALL_SHARE)
    return drops.since_h, drops.usual_h, longest, drops.share, float(drops.hours.size), falls.since_h, falls.usual_h


def _slopes(levels: Floats) -> tuple[Floats, Floats]:
    """Theil-Sen slopes per hour over 7 and 28 days, and the spread of the levels around them."""
    slopes, spreads = [], []
    for days, step in ((7, 1), (28, 2)):
        back = np.arange(0, days + 1, step) * DAY_H
        points = levels[:, -1 - back]
        first, second = np.triu_indices(back.size, 1)
        slope = row_median((points[:, first] - points[:, second]) / (back[second] - back[first]))
        rest = points - points[:, :1] + slope[:, None] * back
        middle = row_median(rest)
        slopes.append(slope)
        spreads.append(1.4826 * row_median(np.abs(rest - middle[:, None])))
    return np.stack(slopes, axis=1), np.stack(spreads, axis=1)


TABLE_NUMBERS = (
    "hours_since_commit",
    "silence",
    "busier",
    "history_days",
    "unknown_share",
    "replaces_7d",
    "replaces_28d",
    "since_replace",
    "replace_overdue",
    "file_size",
    "load_1d",
    "load_7d",
    "pull_7d",
    "pull_28d",
    "small_overdue",
    *(f"growth_7d_{name}" for name in STRUCTURE),
    *(f"growth_1d_{name}" for name in STRUCTURE),
)


def _table_rows(views: Sequence[LevelView]) -> Floats:
    """Numbers of the table of each view. Views of one table and cut-off share all but those of their metric."""
    shared: dict[tuple[int, int], tuple[tuple[float, ...], ...]] = {}
    rows = []
    for view in views:
        key = id(view.series), view.cut
        if key not in shared:
            shared[key] = _activity(view.series, view.cut), _upkeep(view.series, view.cut), _growths(*view[:2])
        activity, upkeep, growths = shared[key]
        rows.append((*activity, _unknown_share(view), *upkeep, *_reader_numbers(view), *growths))
    return np.array(rows).reshape(len(views), len(TABLE_NUMBERS))


def _activity(series: HistoryGrid, cut: int) -> tuple[float, ...]:
    commits = series.sums("commits")[max(cut - 28 * DAY_H, 0) : cut]
    active = np.flatnonzero(commits)
    since = float(commits.size - 1 - active[-1]) if active.size else float(commits.size)
    gaps = np.diff(active)
    usual = float(np.quantile(gaps, 0.9)) if gaps.size > 2 else np.nan
    recent, longer = commits[-3 * DAY_H :].mean() if cut else 0.0, commits.mean() if cut else 0.0
    return (
        since,
        since / usual if usual else np.nan,
        float(np.log((recent + 1e-3) / (longer + 1e-3))),
        min(cut / DAY_H, 60.0),
    )


def _upkeep(series: HistoryGrid, cut: int) -> tuple[float, ...]:
    month = slice(max(cut - 28 * DAY_H, 0), cut)
    replaces = series.sums("replaces")[month]
    files = series.sums("added_data_files")[month].sum()
    size = series.sums("added_bytes")[month].sum() / files if files else np.nan
    return (
        float(replaces[-7 * DAY_H :].sum()),
        float(replaces.sum()),
        *_rhythm(replaces),
        float(np.log(size / series.case.target_file_bytes))
        if size > 0 and series.case.target_file_bytes > 0
        else np.nan,
        series.mean_load(cut, 1),
        series.mean_load(cut, 7),
    )


def _growths(series: HistoryGrid, cut: int) -> tuple[float, ...]:
    return tuple(log_growth(series, name, cut, days) for days in (7, 1) for name in STRUCTURE)


def _unknown_share(view: LevelView) -> float:
    states = view.series.states(view.metric)[max(0, view.cut - 7 * DAY_H) : view.cut]
    return float(1 - np.isfinite(states).mean()) if states.size else 1.0


def _rhythm(counts: Floats) -> tuple[float, float]:
    """Log hours since the last event, and that over the median gap between events."""
    at = np.flatnonzero(counts)
    if at.size < 2:
        return np.nan, np.nan
    since = float(counts.size - 1 - at[-1])
    return float(np.log1p(since)), since / float(np.median(np.diff(at)))


def _reader_numbers(view: LevelView) -> tuple[float, float, float]:
    """Of readers: what the structure's growth of 7 and 28 days did to them, and how overdue a compaction is."""
    series, cut, metric, _ = view
    if metric not in READERS:
        return np.nan, np.nan, np.nan
    response = responses(series, metric, cut)
    week, month = (
        float(np.nansum([response[name] * log_growth(series, name, cut, days) for name in STRUCTURE]))
        for days in (7, 28)
    )
    drops = find_drops(series.states("small_files")[max(0, cut - WINDOW_H) : cut])
    return week, month, drops.since_h / drops.usual_h


def log_growth(series: HistoryGrid, metric: str, cut: int, days: int) -> float:
    """Log growth of a level over the days before index `cut`; NaN where it is not known."""
    levels = series.levels(metric)
    before = levels[max(cut - days * DAY_H, 0)]
    floor = 0.02 * max(before, levels[cut]) + 1e-6
    return float(np.log((levels[cut] + floor) / (before + floor)))
