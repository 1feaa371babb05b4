"""Forecasts of the past: what would have been said of tables at an earlier cut-off, and what happened. Pure.

A case contains only rows from before its cut-off. New thresholds are drawn at each cut-off, from the level at that
time, because the configured ones were chosen with later data in mind.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, get_args

import msgspec
import numpy as np

from limnograph.analysis.forecast import Forecasted, Forecaster
from limnograph.analysis.forecast.grid import DAY_H, HOUR_MS, Floats
from limnograph.analysis.forecast.past import draw_thresholds
from limnograph.analysis.forecast.series import HistoryGrid
from limnograph.analysis.forecast.views import LevelView, view_block
from limnograph.analysis.forecast_rows.request import ReadingJob
from limnograph.analysis.forecast_rows.table_rows import DAY, TableRows
from limnograph.domain.forecasts.cases import ForecastCase, ForecastMetric, ForecastTarget
from limnograph.domain.time import Micros, Millis, to_millis

WEEK_H = 7 * DAY_H
NOW, TREND, SEASON = "level of now", "trend of a week", "last week repeated"
_SHOWN = 8 * DAY
_STEP_H = 6
"""Hours between the levels that a trend is drawn through."""


class PlainForecast(NamedTuple):
    """What a method without a model says. `peak`: highest level until the horizon."""

    level: float
    peak: float


class ReplayedForecast(NamedTuple):
    """One target over one horizon. `waited_hours`, `wait_hours`, `trend_wait_hours`: until the crossing: as it came, as
    it was forecast, and by the trend; None: no crossing, no time was given.
    """

    table: str
    metric: str
    origin: Micros
    hours: int
    threshold: float
    p: float | None
    low: float | None
    middle: float | None
    high: float | None
    abstained: bool
    plain: Mapping[str, PlainForecast]
    level: float
    crossed: bool
    waited_hours: int | None
    wait_hours: float | None
    trend_wait_hours: float | None


class FullHistory:
    """A table with all that is known of it today. Immutable after construction, but for what it computed before."""

    def __init__(self, rows: TableRows, until: Micros, reader: ReadingJob | None = None) -> None:
        self.rows, self._reader = rows, reader
        self._grid = HistoryGrid(self._case(until))

    def known_at(self, origin: Micros) -> ForecastCase | None:
        """The table as of a cut-off, without targets; None if it was not forecast then."""
        before = [at for at in self.rows.columns["at"] if at < origin]
        return self._case(origin) if before and before[-1] >= origin - _SHOWN else None

    def levels_after(self, metric: str, origin: Micros) -> Floats:
        """Levels at the full hours after the cut-off, as far as they are known today."""
        first = to_millis(origin) // HOUR_MS - self._grid.start
        return self._grid.levels(metric)[max(first, 0) + 1 :]

    def _case(self, at: Micros) -> ForecastCase:
        return self.rows.case(at, self._reader.runs if self._reader else None)


def replay(
    tables: Sequence[FullHistory], origin: Micros, model: Forecaster, rng: np.random.Generator
) -> Iterator[ReplayedForecast]:
    """Forecasts of these tables at one cut-off whose outcome is known. Cases of one fleet."""
    asked = []
    for table in tables:
        case = table.known_at(origin)
        if case is not None and (case := _with_drawn(case, rng)).targets:
            asked.append((table, case))
    found = model.forecast([case for _, case in asked]) if asked else []
    for (table, case), answer in zip(asked, found, strict=True):
        yield from _replayed(table, case, answer, origin)


def _with_drawn(case: ForecastCase, rng: np.random.Generator) -> ForecastCase:
    """The case with a drawn threshold for every metric that is known and not 0 throughout."""
    series = HistoryGrid(case)
    metrics: list[ForecastMetric] = [
        metric
        for metric in get_args(ForecastMetric)
        if np.isfinite(series.levels(metric)[-1]) and np.fmax.reduce(series.levels(metric)) > 0
    ]
    if not metrics:
        return case
    drawn = draw_thresholds(view_block([LevelView(series, series.hours, metric) for metric in metrics]), rng)
    targets = [ForecastTarget(metric=each, threshold=float(limit)) for each, limit in zip(metrics, drawn, strict=True)]
    return msgspec.structs.replace(case, targets=targets)


def _replayed(table: FullHistory, case: ForecastCase, answer: Forecasted, origin: Micros) -> Iterator[ReplayedForecast]:
    series = HistoryGrid(case)
    limits = {target.metric: target.threshold for target in case.targets}
    for said in answer.answer.targets:
        limit, levels = limits[said.metric], series.levels(said.metric)
        after = table.levels_after(said.metric, origin)
        wait, slope = _hours_until(said.crosses_at, case.as_of), week_slope(levels)
        for each in said.horizons:
            if after.size < each.hours or not np.isfinite(after[each.hours - 1]):
                continue
            above = np.flatnonzero(after[: each.hours] >= limit)
            yield ReplayedForecast(
                table=table.rows.uuid,
                metric=said.metric,
                origin=origin,
                hours=each.hours,
                threshold=limit,
                p=each.p_cross,
                low=each.p10,
                middle=each.p50,
                high=each.p90,
                abstained=said.abstained is not None,
                plain=plain_forecasts(levels, each.hours, slope),
                level=float(after[each.hours - 1]),
                crossed=bool(above.size),
                waited_hours=int(above[0]) + 1 if above.size else None,
                wait_hours=wait,
                trend_wait_hours=max(float(limit - levels[-1]) / slope, 1.0) if slope > 0 else None,
            )


def plain_forecasts(levels: Floats, hours: int, slope: float) -> dict[str, PlainForecast]:
    """What methods without a model say, by levels up to the cut-off."""
    now = float(levels[-1])
    risen = max(now + slope * hours, 0.0)
    week = levels[-WEEK_H:]
    cycle = np.tile(np.where(np.isfinite(week), week, now), -(-hours // week.size))[:hours]
    return {
        NOW: PlainForecast(now, now),
        TREND: PlainForecast(risen, max(now, risen)),
        SEASON: PlainForecast(float(cycle[-1]), float(cycle.max())),
    }


def week_slope(levels: Floats) -> float:
    """Median slope between levels of the last week, per hour (Theil-Sen)."""
    values = levels[::-1][: WEEK_H + 1 : _STEP_H][::-1]
    hours = np.flatnonzero(np.isfinite(values)) * _STEP_H  # an unknown level shortens no distance
    values = values[np.isfinite(values)]
    first, second = np.triu_indices(values.size, 1)
    return float(np.median((values[second] - values[first]) / (hours[second] - hours[first]))) if first.size else 0.0


def _hours_until(at: Millis | None, origin: Millis) -> float | None:
    return None if at is None else (at - origin) / HOUR_MS
