"""What came of a forecast: whether and when the level reached its threshold, and whether maintenance ran. Pure."""

from __future__ import annotations

from typing import NamedTuple, cast

import numpy as np

from limnograph.analysis.forecast.drops import find_drops
from limnograph.analysis.forecast.grid import HOUR_MS
from limnograph.analysis.forecast.series import HistoryGrid, crossed_at, level_of
from limnograph.analysis.forecast_rows.request import PendingForecast, ReadingJob
from limnograph.analysis.forecast_rows.table_rows import HOUR, TableRows
from limnograph.domain.facts.forecasts import TOTAL_BYTES
from limnograph.domain.forecasts.cases import ForecastMetric
from limnograph.domain.time import Micros, Millis, to_micros, to_millis

_WINDOW_H = 28 * 24
_MORE = 1.5
"""Maintenance that is this much more frequent than before was a reaction."""
_OVERDUE = 2.0
"""Times the usual gap since the last maintenance, from which any maintenance was one."""


class ForecastOutcome(NamedTuple):
    """Columns of `forecasts` that are filled in when the horizon has passed."""

    crossed: bool | None
    crossed_at: Micros | None
    level_at_horizon: float | None
    maintained: bool | None


def outcome_of(table: TableRows, pending: PendingForecast, reader: ReadingJob | None = None) -> ForecastOutcome:
    """The outcome of one forecast. The runs of a reader metric must be those of its job."""
    end = Micros(pending.as_of + pending.hours * HOUR)
    of_reader = pending.metric.startswith("reader")
    if of_reader and (reader is None or reader.runs.job != pending.job_name):
        return ForecastOutcome(None, None, None, None)
    case = table.case(end, reader.runs if reader is not None and of_reader else None)
    if pending.metric == TOTAL_BYTES:
        known = [value for value in case.facts.total_bytes or () if value is not None]
        return ForecastOutcome(None, None, known[-1] if known else None, None)
    metric = cast(ForecastMetric, pending.metric)
    level = level_of(metric, case)
    if pending.red or pending.threshold is None or level is None:
        return ForecastOutcome(None, None, level, None)
    crossed = crossed_at(metric, pending.threshold, case, to_millis(pending.as_of), to_millis(end))
    until = to_millis(end) if crossed is None else crossed
    return ForecastOutcome(
        crossed is not None,
        None if crossed is None else to_micros(crossed),
        level,
        was_maintained(HistoryGrid(case), metric, to_millis(pending.as_of), until),
    )


def was_maintained(series: HistoryGrid, metric: ForecastMetric, since: Millis, until: Millis) -> bool:
    """Whether maintenance ran in `(since, until]` that was not the table's routine: more of it than before, or any once
    it was overdue. Maintenance: commits `replace`, and drops of the level.
    """
    hours = np.flatnonzero(series.sums("replaces") > 0)
    drops = find_drops(series.states(metric)).hours
    done = np.union1d(hours, drops) + series.start
    first, last = since // HOUR_MS, until // HOUR_MS
    before = done[(done >= first - _WINDOW_H) & (done < first)]
    after = done[(done >= first) & (done < last)]
    if not after.size:
        return False
    if before.size < 2:
        return True
    gap = float(np.median(np.diff(before)))
    if first - before[-1] > _OVERDUE * gap:
        return True
    usual = before.size * (last - first) / min(_WINDOW_H, max(first - series.start, 1))
    return bool(after.size > _MORE * usual + 1)
