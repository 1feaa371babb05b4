"""Forecasts of the cases of one fleet. Entry: `load_model().forecast(cases)` (docs/forecast.md)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import NamedTuple

import numpy as np

from limnograph.analysis.forecast.abstention import reasons
from limnograph.analysis.forecast.adaptation import NO_ADAPTATION, Adaptation
from limnograph.analysis.forecast.answering import TargetNumbers, table_answer, target_signals
from limnograph.analysis.forecast.drivers import PartMove, driver_weights, usual_share
from limnograph.analysis.forecast.features import Futures, cross_features, path_scale, quantile_features
from limnograph.analysis.forecast.following import STRUCTURE, responses
from limnograph.analysis.forecast.grid import DAY_H, Floats
from limnograph.analysis.forecast.load import FleetLoad, common_load
from limnograph.analysis.forecast.maintained import reset_state
from limnograph.analysis.forecast.model import NO_TUNING, Model, parse_model, step_of
from limnograph.analysis.forecast.results import BytesQuantiles, Forecasted
from limnograph.analysis.forecast.series import READERS, HistoryGrid
from limnograph.analysis.forecast.shares import cost_shares
from limnograph.analysis.forecast.tuning import ALERT_P, Tuning
from limnograph.analysis.forecast.views import LevelView, ViewBlock, log_growth, view_block
from limnograph.domain.forecasts.cases import ForecastCase

SHIPPED = "forecast-model.npz"
_CURVE = (24, 48, 72, 96, 120, 168, 240, 336, 504, 720)
_CHUNK = 128


class Forecaster:
    """A model, and what the fleets' own past says about its calibration. Immutable after construction. Thread-safe."""

    def __init__(self, model: Model, adaptation: Adaptation = NO_ADAPTATION) -> None:
        self.model = model
        self.adaptation = adaptation

    @property
    def name(self) -> str:
        """Name of the model."""
        return self.model.name

    def adapted(self, adaptation: Adaptation) -> Forecaster:
        """The same model with another calibration."""
        return Forecaster(self.model, adaptation)

    def forecast(self, cases: Sequence[ForecastCase], load: FleetLoad | None = None) -> list[Forecasted]:
        """Answers to the cases of one fleet, in order. `load`: default: of the runs of these cases."""
        common = common_load([case.runs for case in cases if case.runs]) if load is None else load
        found: list[Forecasted] = []
        for first in range(0, len(cases), _CHUNK):
            found += self._answers([HistoryGrid(case, load=common) for case in cases[first : first + _CHUNK]])
        return found

    def part_moves(self, cases: Sequence[ForecastCase]) -> list[dict[str, dict[str, PartMove]]]:
        """What drivers are chosen from: by case of one fleet, by metric of readers that it asks about."""
        common = common_load([case.runs for case in cases if case.runs])
        fleet = [HistoryGrid(case, load=common) for case in cases]
        chunk = self._chunk(fleet, _case_rows(fleet))
        return [
            {
                each.metric: chunk.moves(series, case, each.metric)
                for each in series.case.targets
                if each.metric in READERS
            }
            for case, series in enumerate(fleet)
        ]

    def _answers(self, fleet: Sequence[HistoryGrid]) -> list[Forecasted]:
        rows = _case_rows(fleet)
        if not rows.views:
            return [_empty(series) for series in fleet]
        chunk = self._chunk(fleet, rows)
        return [_forecast(series, chunk, place) for place, series in enumerate(fleet)]

    def _chunk(self, fleet: Sequence[HistoryGrid], rows: _CaseRows) -> _ChunkForecast:
        hours = sorted({each for series in fleet for each in series.case.horizons_hours})
        longest = hours[-1] if hours else DAY_H
        curve = sorted({*hours, *(each for each in _CURVE if each <= longest)})
        block = view_block(rows.views)
        futures = Futures.drawn(block, -(-longest // DAY_H))
        asked = np.array(rows.targets, np.int64)
        odds = self._crossings(block.of(asked), futures.of(asked), rows.thresholds, curve, self.model.tuning)
        return _ChunkForecast(
            rows=rows,
            level=block.level,
            floor=block.floor,
            table=block.table,
            quantiles={each: self._levels(block, futures, each) for each in hours},
            odds=dict(zip(curve, odds, strict=True)),
            maintained=self._maintained(rows, curve),
            alert=self.model.tuning.alert,
            driver_weights=self.model.drivers,
        )

    def _levels(self, block: ViewBlock, futures: Futures, hours: int) -> Floats:
        """Quantiles of the level at `hours`: `[3, view]`."""
        centre, width = path_scale(block, futures, hours)
        z = self.adaptation.scaled(
            self.model.moves(quantile_features(block, futures, hours), hours), block.metric, hours
        )
        z = self.model.tuning.scaled(z, block.metric, step_of(hours))
        found = (block.level + block.floor) * np.exp(np.clip(centre + z * width, -9, 9)) - block.floor
        return np.maximum(found, 0.0)

    def _crossings(
        self, block: ViewBlock, futures: Futures, threshold: Floats, curve: Sequence[int], tuning: Tuning
    ) -> Floats:
        """Probability of crossing within each horizon of `curve`, never falling: `[horizon, view]`."""
        rows = []
        for hours in curve:
            odds = self.model.crossing(cross_features(block, futures, threshold, hours))
            adapted = self.adaptation.shifted(odds, block.metric, hours)
            rows.append(1 / (1 + np.exp(-tuning.shifted(adapted, step_of(hours)))))
        found: Floats = np.maximum.accumulate(np.stack(rows), axis=0)
        return found

    def _maintained(self, rows: _CaseRows, curve: Sequence[int]) -> dict[int, dict[int, float]]:
        """By index of the target's view: probability within each horizon after maintenance at the cut-off."""
        reset = [place for place, state in zip(rows.targets, rows.resets, strict=True) if state is not None]
        if not reset:
            return {}
        by_place = dict(zip(rows.targets, zip(rows.resets, rows.thresholds.tolist(), strict=True), strict=True))
        block = view_block([rows.views[place]._replace(reset=by_place[place][0]) for place in reset])
        futures = Futures.drawn(block, -(-curve[-1] // DAY_H))
        limits = np.array([by_place[place][1] for place in reset])
        odds = self._crossings(block, futures, limits, curve, NO_TUNING)  # a tuning is learnt without maintenance
        return {place: dict(zip(curve, odds[:, row].tolist(), strict=True)) for row, place in enumerate(reset)}


@cache
def load_model() -> Forecaster:
    """The forecaster that ships with the product."""
    return Forecaster(parse_model(resources.files(__package__).joinpath(SHIPPED).read_bytes()))


def read_model(path: Path) -> Forecaster:
    """The forecaster of a model file. Raises InvalidInput if it is not one."""
    return Forecaster(parse_model(path.read_bytes()))


class _CaseRows(NamedTuple):
    """Views of all cases of a chunk. `place`: index of a view by case and metric. Of targets: index of the view,
    threshold, state after maintenance. `response`: of readers, by case and metric. `shares`: of their costs, by case.
    """

    views: list[LevelView]
    place: dict[tuple[int, str], int]
    targets: list[int]
    thresholds: Floats
    resets: list[float | None]
    response: dict[tuple[int, str], dict[str, float]]
    shares: dict[int, dict[str, float]]


class _ChunkForecast(NamedTuple):
    """What the model says about a chunk. By horizon: `quantiles` `[3, view]`, `odds`: probability of each target.
    `maintained`: probability by horizon, by view of a target. `alert`: least risk of a table on the list.
    """

    rows: _CaseRows
    level: Floats
    floor: Floats
    table: Floats
    quantiles: dict[int, Floats]
    odds: dict[int, Floats]
    maintained: dict[int, dict[int, float]]
    alert: float
    driver_weights: Floats

    def numbers(self, series: HistoryGrid, case: int) -> list[TargetNumbers]:
        """Numbers of each target of a case."""
        row_of = {place: row for row, place in enumerate(self.rows.targets)}
        horizons = list(series.case.horizons_hours)
        found = []
        for target in series.case.targets:
            place = self.rows.place[case, target.metric]
            row = row_of[place]
            curve = {each: float(p[row]) for each, p in self.odds.items() if each <= max(horizons, default=0)}
            found.append(
                TargetNumbers(
                    metric=target.metric,
                    threshold=target.threshold,
                    level=float(self.level[place]),
                    quantiles={each: self.quantiles[each][:, place] for each in horizons},
                    curve=curve,
                    maintained=self.maintained.get(place),
                    unchanged=self.rows.resets[row] is None,
                    drivers=driver_weights(target.metric, self.moves(series, case, target.metric), self.driver_weights),
                )
            )
        return found

    def moves(self, series: HistoryGrid, case: int, metric: str) -> dict[str, PartMove]:
        """How each part of the structure moves that a reader of the case may follow: until the horizon nearest to a
        week, also by its upper end, because a crossing happens where something grows more than it usually does.
        """
        hours = min(self.quantiles, key=lambda each: abs(each - 168), default=0)
        if metric not in READERS or not hours:
            return {}
        response, shares = self.rows.response[case, metric], self.rows.shares[case]
        seconds = float(series.levels("reader_seconds")[-1])
        found = {}
        for name in STRUCTURE:
            place = self.rows.place[case, name]
            level, floor = float(self.level[place]), float(self.floor[place])
            if np.isfinite(level):
                middle, high = (float(each) for each in self.quantiles[hours][1:, place])
                found[name] = PartMove(
                    response=response[name],
                    share=shares.get(name, float("nan")),
                    middle=(middle - level) / (level + floor),
                    high=(high - level) / (level + floor),
                    rise=float(np.log((high + floor) / (level + floor))),
                    week=log_growth(series, name, series.hours, 7),
                    day=log_growth(series, name, series.hours, 1),
                    seconds=usual_share(name, level, seconds),
                )
        return found


def _case_rows(fleet: Sequence[HistoryGrid]) -> _CaseRows:
    views: list[LevelView] = []
    place: dict[tuple[int, str], int] = {}
    targets: list[int] = []
    thresholds: list[float] = []
    resets: list[float | None] = []
    response: dict[tuple[int, str], dict[str, float]] = {}
    shares: dict[int, dict[str, float]] = {}
    for case, series in enumerate(fleet):
        readers = any(each.metric in READERS for each in series.case.targets)
        if readers:
            shares[case] = cost_shares(series, series.hours)
        for metric in dict.fromkeys(
            ["total_bytes", *(STRUCTURE if readers else ()), *(each.metric for each in series.case.targets)]
        ):
            place[case, metric] = len(views)
            views.append(LevelView(series, series.hours, metric))
        for target in series.case.targets:
            own = responses(series, target.metric, series.hours) if target.metric in READERS else {}
            response[case, target.metric] = own
            targets.append(place[case, target.metric])
            thresholds.append(target.threshold)
            resets.append(reset_state(series, target.metric, series.hours, own))
    return _CaseRows(views, place, targets, np.array(thresholds, np.float64), resets, response, shares)


def _forecast(series: HistoryGrid, chunk: _ChunkForecast, case: int) -> Forecasted:
    numbers = chunk.numbers(series, case)
    place = chunk.rows.place
    why = [reasons(series, each, chunk.table[place[case, each.metric]]) for each in numbers]
    size = place[case, "total_bytes"]
    quantiles = chunk.quantiles if np.isfinite(chunk.level[size]) else {}
    return Forecasted(
        table_answer(series.case, numbers, why, chunk.alert),
        [target_signals(series, each) for each in numbers],
        [
            BytesQuantiles(each, *map(float, quantiles[each][:, size]))
            for each in series.case.horizons_hours
            if quantiles
        ],
    )


def _empty(series: HistoryGrid) -> Forecasted:
    return Forecasted(table_answer(series.case, [], [], ALERT_P), [], [])
