"""Forecasts of the cases of one fleet. Entry: `load_model().forecast(cases)` (docs/forecast.md)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import resources
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from limnograph.analysis.forecast.abstention import reasons
from limnograph.analysis.forecast.adaptation import NO_ADAPTATION, Adaptation
from limnograph.analysis.forecast.answering import TargetNumbers, table_answer, target_signals
from limnograph.analysis.forecast.choice import ReaderAsk, choose_drivers
from limnograph.analysis.forecast.drivers import PartMove, PartMoves, state_spread, usual_share, usual_share_of_all
from limnograph.analysis.forecast.features import Futures, cross_features, path_scale, quantile_features
from limnograph.analysis.forecast.following import STRUCTURE, RunFit, response_fit
from limnograph.analysis.forecast.grid import DAY_H, Floats
from limnograph.analysis.forecast.load import FleetLoad, common_load
from limnograph.analysis.forecast.maintained import reset_state
from limnograph.analysis.forecast.model import NO_TUNING, Model, parse_model, step_of
from limnograph.analysis.forecast.results import BytesQuantiles, Forecasted
from limnograph.analysis.forecast.series import READERS, HistoryGrid
from limnograph.analysis.forecast.shares import NO_SHARE, CostShare, cost_shares
from limnograph.analysis.forecast.tuning import ALERT_P, Tuning
from limnograph.analysis.forecast.views import LevelView, ViewBlock, log_growth, view_block
from limnograph.domain.forecasts.answers import DriverWeight
from limnograph.domain.forecasts.cases import ForecastCase, ForecastTarget

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

    def reader_asks(
        self, cases: Sequence[ForecastCase], targets: Sequence[Sequence[ForecastTarget]]
    ) -> list[list[ReaderAsk]]:
        """What drivers are chosen from: for each case of one fleet, by targets of metrics that the case asks about."""
        common = common_load([case.runs for case in cases if case.runs])
        fleet = [HistoryGrid(case, load=common) for case in cases]
        chunk = self._chunk(fleet, _case_rows(fleet))
        return [[chunk.ask(fleet[case], case, each) for each in own] for case, own in enumerate(targets)]

    def _answers(self, fleet: Sequence[HistoryGrid]) -> list[Forecasted]:
        rows = _case_rows(fleet)
        if not rows.views:
            return [_empty(series) for series in fleet]
        chunk = self._chunk(fleet, rows)
        asked = [chunk.ask(series, case, target) for case, series in enumerate(fleet) for target in series.case.targets]
        drivers = iter(choose_drivers(asked, self.model.drivers, self.model.driver_trees))
        return [
            _forecast(series, chunk, place, list(islice(drivers, len(series.case.targets))))
            for place, series in enumerate(fleet)
        ]

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
    threshold, state after maintenance. `response`: of readers, by case and metric, and the regression behind it.
    `shares`: of their costs, by case.
    """

    views: list[LevelView]
    place: dict[tuple[int, str], int]
    targets: list[int]
    thresholds: Floats
    resets: list[float | None]
    response: dict[tuple[int, str], tuple[dict[str, float], RunFit | None]]
    shares: dict[int, dict[str, CostShare]]


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

    def numbers(self, series: HistoryGrid, case: int, drivers: Sequence[list[DriverWeight]]) -> list[TargetNumbers]:
        """Numbers of each target of a case, whose drivers are these."""
        row_of = {place: row for row, place in enumerate(self.rows.targets)}
        horizons = list(series.case.horizons_hours)
        found = []
        for target, own in zip(series.case.targets, drivers, strict=True):
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
                    drivers=own,
                )
            )
        return found

    def ask(self, series: HistoryGrid, case: int, target: ForecastTarget) -> ReaderAsk:
        """What its driver is chosen from."""
        horizons = sorted(series.case.horizons_hours)
        if target.metric not in READERS or not horizons:
            return ReaderAsk(target.metric, {})
        place = self.rows.place[case, target.metric]
        reached = (each for each in horizons if self.quantiles[each][2, place] >= target.threshold)
        hours = next(reached, horizons[-1])
        _, fit = self.rows.response[case, target.metric]
        return ReaderAsk(
            target.metric,
            self._moves(series, case, target.metric, hours),
            room=float(np.log(target.threshold / max(float(self.level[place]), 1e-9))),
            hours=hours,
            week=log_growth(series, target.metric, series.hours, 7),
            **({"runs": fit.runs, "noise": fit.noise, "unexplained": fit.unexplained} if fit else {}),
        )

    def _moves(self, series: HistoryGrid, case: int, metric: str, hours: int) -> PartMoves:
        """How each part of the structure moves that a reader of the case may follow: until the horizon nearest to a
        week, also by its upper end, because a crossing happens where something grows more than it usually does; and
        until `hours`, the horizon at which the reader may cross.
        """
        week = min(self.quantiles, key=lambda each: abs(each - 168))
        (response, fit), shares = self.rows.response[case, metric], self.rows.shares[case]
        seconds = float(series.levels("reader_seconds")[-1])
        found = {}
        for part, name in enumerate(STRUCTURE):
            place = self.rows.place[case, name]
            level, floor = float(self.level[place]), float(self.floor[place])
            if np.isfinite(level):
                ends = np.array([self.quantiles[each][1:, place] for each in (week, hours)])
                (middle, high), (until_middle, until_high) = ((ends - level) / (level + floor)).tolist()
                (_, rise), (rise_middle, rise_high) = np.log((ends + floor) / (level + floor)).tolist()
                share, decided = shares.get(name, NO_SHARE)
                found[name] = PartMove(
                    response=response[name],
                    share=share,
                    middle=middle,
                    high=high,
                    rise=rise,
                    week=log_growth(series, name, series.hours, 7),
                    day=log_growth(series, name, series.hours, 1),
                    seconds=usual_share(name, level, seconds),
                    month=log_growth(series, name, series.hours, 28),
                    until_middle=until_middle,
                    until_high=until_high,
                    rise_middle=rise_middle,
                    rise_high=rise_high,
                    decided=float(fit.decided[part]) if fit else float("nan"),
                    share_decided=decided,
                    usual=usual_share_of_all(name, level, seconds),
                    spread=state_spread(series, name),
                )
        return found


def _case_rows(fleet: Sequence[HistoryGrid]) -> _CaseRows:
    views: list[LevelView] = []
    place: dict[tuple[int, str], int] = {}
    targets: list[int] = []
    thresholds: list[float] = []
    resets: list[float | None] = []
    response: dict[tuple[int, str], tuple[dict[str, float], RunFit | None]] = {}
    shares: dict[int, dict[str, CostShare]] = {}
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
            fitted = response_fit(series, target.metric, series.hours) if target.metric in READERS else ({}, None)
            response[case, target.metric] = fitted
            targets.append(place[case, target.metric])
            thresholds.append(target.threshold)
            resets.append(reset_state(series, target.metric, series.hours, fitted[0]))
    return _CaseRows(views, place, targets, np.array(thresholds, np.float64), resets, response, shares)


def _forecast(
    series: HistoryGrid, chunk: _ChunkForecast, case: int, drivers: Sequence[list[DriverWeight]]
) -> Forecasted:
    numbers = chunk.numbers(series, case, drivers)
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
