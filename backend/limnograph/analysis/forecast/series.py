"""History of one case on a grid of hours: states, levels and sums, with nothing from the cut-off on.

An hour's state is the one after its last commit; it lasts until the next commit. NaN: not known.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from limnograph.analysis.forecast.grid import DAY_H, HOUR_MS, Floats, Longs
from limnograph.analysis.forecast.load import NO_LOAD, FleetLoad
from limnograph.domain.forecasts.cases import ForecastCase, ForecastMetric, ReaderRuns
from limnograph.domain.time import Millis

GIB = 2**30
LEAST_RUNS = 3
READERS = frozenset({"reader_seconds", "reader_seconds_per_gib"})
_KEPT_H = 120 * DAY_H


class HistoryGrid:
    """Immutable after construction, but for what it computed before. `end` is the hour of the cut-off, in hours since
    the epoch; `hours` hours before it are known.
    """

    def __init__(self, case: ForecastCase, at: Millis | None = None, load: FleetLoad = NO_LOAD) -> None:
        self.case = case
        self._load = load
        cut = case.as_of if at is None else at
        self.end = cut // HOUR_MS
        times = np.asarray(case.facts.at, np.int64)
        spans = np.maximum(np.asarray(case.facts.span_hours, np.int64), 1)
        seen = times + spans * HOUR_MS <= cut
        self._rows = np.flatnonzero(seen)
        self.row_hour = times[seen] // HOUR_MS
        self._state_hour = np.minimum(self.row_hour + spans[seen] - 1, self.end - 1)
        begun = min([case.first_seen // HOUR_MS, *self.row_hour[:1].tolist(), *_first_run(case.runs, cut)])
        self.start = max(min(begun, self.end), self.end - _KEPT_H)
        self.hours = self.end - self.start
        self._states: dict[str, Floats] = {}
        self._levels: dict[str, Floats] = {}
        self._sums: dict[str, Floats] = {}
        self._runs: tuple[Longs, Floats, Floats] | None = None
        self._cut = cut

    def column(self, name: str) -> Floats:
        """A column of the facts, one value per row before the cut-off."""
        values: Sequence[float | None] | None = getattr(self.case.facts, name)
        if values is None:
            return np.full(self._rows.size, np.nan)
        found: Floats = np.array(values, np.float64)[self._rows]
        return found

    def states(self, metric: str) -> Floats:
        """State of each hour of the grid. Of readers: their level, because a single run is noise."""
        if metric not in self._states:
            self._states[metric] = self.levels(metric)[1:] if metric in READERS else self._structural(metric)
        return self._states[metric]

    def levels(self, metric: str) -> Floats:
        """Level at each full hour, from the first of the grid to the cut-off: `hours` + 1 values."""
        if metric not in self._levels:
            found = self._reader_levels(metric) if metric in READERS else daily_means(self.states(metric))
            self._levels[metric] = found
        return self._levels[metric]

    def sums(self, name: str) -> Floats:
        """Sum of a column per hour of the grid; a daily row is spread over its day."""
        if name not in self._sums:
            self._sums[name] = self._spread(name)
        return self._sums[name]

    def mean_load(self, cut: int, days: int) -> float:
        """Mean log of the cluster's load over the days before index `cut`."""
        last = self.start + cut
        return self._load.mean(last - days * DAY_H, last)

    def load_at(self, times: Longs) -> Floats:
        """Log of the cluster's load at instants in ms."""
        return self._load.at(times)

    def _spread(self, name: str) -> Floats:
        values = np.nan_to_num(self.column(name))
        found = np.zeros(self.hours)
        place = self.row_hour - self.start
        spread = self._state_hour - self.row_hour + 1
        for span in np.unique(spread).tolist():
            rows = spread == span
            hours = place[rows][:, None] + np.arange(span)
            share = np.repeat(values[rows] / span, span)
            inside = (hours.ravel() >= 0) & (hours.ravel() < self.hours)
            np.add.at(found, hours.ravel()[inside], share[inside])
        return found

    def runs(self) -> tuple[Longs, Floats, Floats]:
        """Start in ms, seconds, and bytes read of the runs that started before the cut-off and have a duration."""
        if self._runs is None:
            runs = self.case.runs
            times = np.asarray(runs.times if runs else (), np.int64)
            seconds = np.array(runs.duration_seconds if runs else (), np.float64)
            read = np.array(runs.read_bytes if runs else (), np.float64)
            known = (times < self._cut) & np.isfinite(seconds)
            self._runs = times[known], seconds[known], read[known]
        return self._runs

    def _runs_per_day(self) -> int:
        """By the times of all runs: one whose duration or bytes are not known was scheduled too."""
        times = np.asarray(self.case.runs.times if self.case.runs else (), np.int64)
        return runs_per_day(times[times < self._cut])

    def _structural(self, metric: str) -> Floats:
        if metric == "delete_ratio":
            records = self.column("total_records")
            values = self.column("total_position_deletes") / np.where(records > 0, records, np.nan)
        else:
            values = self.column(metric)
        known = np.isfinite(values)
        if not known.any():
            return np.full(self.hours, np.nan)
        hours, values = self._state_hour[known] - self.start, values[known]
        last = np.searchsorted(hours, np.arange(self.hours), side="right") - 1
        return np.where(last >= 0, values[np.maximum(last, 0)], np.nan)

    def _reader_levels(self, metric: str) -> Floats:
        times, values, read = self.runs()
        count = self._runs_per_day()
        if metric == "reader_seconds_per_gib":
            known = read > 0
            times, values = times[known], values[known] / (read[known] / GIB)
        if not times.size:
            return np.full(self.hours + 1, np.nan)
        medians = _running_median(values, count)
        edges = (self.start + np.arange(self.hours + 1)) * HOUR_MS
        last = np.searchsorted(times, edges, side="left") - 1
        return np.where(last >= 0, medians[np.maximum(last, 0)], np.nan)


def daily_means(states: Floats) -> Floats:
    """Mean of the 24 states before each full hour; of fewer where fewer are known."""
    known = np.isfinite(states)
    sums = np.concatenate([[0.0], np.cumsum(np.where(known, states, 0.0))])
    counts = np.concatenate([[0], np.cumsum(known)])
    low = np.maximum(np.arange(sums.size) - DAY_H, 0)
    count = counts - counts[low]
    return np.where(count > 0, (sums - sums[low]) / np.maximum(count, 1), np.nan)


def runs_per_day(times: Longs) -> int:
    """Runs that a schedule starts in 24 hours, by the median gap of its runs; at least 3."""
    gaps = np.diff(times)
    gaps = gaps[gaps > 0]
    if not gaps.size:
        return LEAST_RUNS
    return max(LEAST_RUNS, round(DAY_H * HOUR_MS / float(np.median(gaps))))


def _running_median(values: Floats, count: int) -> Floats:
    padded = np.concatenate([np.full(count - 1, np.nan), values])
    windows = np.lib.stride_tricks.sliding_window_view(padded, count)
    found: Floats = np.median(windows, axis=1)
    young = min(count - 1, values.size)
    found[:young] = [float(np.median(values[: place + 1])) for place in range(young)]
    return found


def _first_run(runs: ReaderRuns | None, cut: int) -> list[int]:
    return [runs.times[0] // HOUR_MS] if runs and len(runs.times) and runs.times[0] < cut else []


def level_of(metric: ForecastMetric, case: ForecastCase, at: Millis | None = None) -> float | None:
    """Level of a metric at `at` (default: the cut-off), by rows before it; None if nothing is known."""
    levels = HistoryGrid(case, at).levels(metric)
    return float(levels[-1]) if np.isfinite(levels[-1]) else None


def crossed_at(
    metric: ForecastMetric, threshold: float, case: ForecastCase, since: Millis, until: Millis
) -> Millis | None:
    """First full hour in (since, until] at which the level is at or above the threshold; None if there is none."""
    series = HistoryGrid(case, until)
    levels = series.levels(metric)
    hours = series.start + np.arange(levels.size)
    crossed = np.flatnonzero((levels >= threshold) & (hours * HOUR_MS > since))
    return Millis(int(hours[crossed[0]]) * HOUR_MS) if crossed.size else None
