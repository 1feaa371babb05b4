"""Tuning of a model on judged fleets of the first generator that it was not trained on: calibration by horizon, width
of the intervals by horizon and metric, and the risk from which on a table is on the list.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import Executor
from itertools import repeat
from typing import NamedTuple

import numpy as np

from forecast.fleets import JudgedCase
from limnograph.analysis.forecast import FleetPasts, Forecasted
from limnograph.analysis.forecast.forecaster import Forecaster
from limnograph.analysis.forecast.grid import Floats
from limnograph.analysis.forecast.model import NO_TUNING, STEPS, Model, step_of
from limnograph.analysis.forecast.series import HistoryGrid
from limnograph.analysis.forecast.tuning import Tuning
from limnograph.analysis.forecast.views import METRICS, WINDOW_H

SEEDS = range(60_001, 60_037)
TABLES = 60
PATHS = 2
"""One future is the outcome; the others would only serve an oracle."""
WEEK = 168
LEAST_PRECISION = 0.75
LEAST_RECALL = 0.6
_HALF = 200.0
"""Outcomes of a metric at which its own width counts half: widths of a metric hold less well on kinds that were left
out than widths of all.
"""
_RIDGE = (30.0, 8.0)


class TunedOutcome(NamedTuple):
    """A target at a horizon. `below`, `above`: distance of the outcome from the median, in halves of the interval."""

    step: int
    metric: int
    red: bool
    p: float
    crossed: bool
    below: float
    above: float


def tuned(model: Model, drawn: Sequence[Sequence[JudgedCase]], pool: Executor) -> Model:
    """The model with a tuning learnt on these fleets, which the pool answers."""
    plain = model._replace(tuning=NO_TUNING)
    answers = pool.map(answered, repeat(plain), drawn)
    outcomes = [each for fleet, found in zip(drawn, answers, strict=True) for each in _outcomes(fleet, found)]
    tuning = Tuning(_odds(outcomes), _sides(outcomes), NO_TUNING.alert)
    again = plain._replace(tuning=tuning)
    answers = pool.map(answered, repeat(again), drawn)
    rows = [row for fleet, found in zip(drawn, answers, strict=True) for row in _risks(fleet, found)]
    risks = np.array(rows, np.float64)
    return again._replace(tuning=tuning._replace(alert=_alert(risks[:, 0], risks[:, 1] > 0)))


def answered(model: Model, fleet: Sequence[JudgedCase]) -> list[Forecasted]:
    """Answers to a fleet, adapted to its own past."""
    cases = [each.case for each in fleet]
    pasts = FleetPasts()
    pasts.add(cases)
    return Forecaster(model, pasts.adaptation(model, cases[0].as_of)).forecast(cases)


def _outcomes(fleet: Sequence[JudgedCase], answers: Sequence[Forecasted]) -> Iterable[TunedOutcome]:
    for judged, answer in zip(fleet, answers, strict=True):
        series = HistoryGrid(judged.case)
        for target, truth in zip(answer.answer.targets, judged.truth, strict=True):
            floor = 0.02 * float(np.fmax.reduce(series.levels(target.metric)[-WINDOW_H:])) + 1e-6
            for each in target.horizons:
                if each.p10 is None or each.p50 is None or each.p90 is None or each.p_cross is None:
                    continue
                low, middle, high, true = np.log(
                    np.array([each.p10, each.p50, each.p90, truth.level[each.hours]]) + floor
                )
                yield TunedOutcome(
                    step=step_of(each.hours),
                    metric=METRICS.index(target.metric),
                    red=truth.red,
                    p=each.p_cross,
                    crossed=truth.crossed[each.hours],
                    below=float((middle - true) / (middle - low + 1e-3)),
                    above=float((true - middle) / (high - middle + 1e-3)),
                )


def _risks(fleet: Sequence[JudgedCase], answers: Sequence[Forecasted]) -> Iterable[tuple[float, float]]:
    for judged, answer in zip(fleet, answers, strict=True):
        crossed = [truth.crossed[WEEK] for truth in judged.truth if not truth.red]
        if crossed:
            yield next(each.p for each in answer.answer.risk if each.hours == WEEK), float(any(crossed))


def _odds(outcomes: Sequence[TunedOutcome]) -> Floats:
    found = {}
    for step in range(len(STEPS)):
        own = [each for each in outcomes if each.step == step and not each.red]
        if own:
            found[step] = _fit_odds(np.array([each.p for each in own]), np.array([each.crossed for each in own], float))
    return _between(found)


def _fit_odds(p: Floats, happened: Floats) -> Floats:
    """Slope and shift by Newton's method, with a prior of no correction."""
    raw = np.log(np.clip(p, 1e-4, 1 - 1e-4) / (1 - np.clip(p, 1e-4, 1 - 1e-4)))
    design = np.stack([raw, np.ones(raw.size)], axis=1)
    weights, ridge = np.array([1.0, 0.0]), np.array(_RIDGE)
    for _ in range(12):
        q = 1 / (1 + np.exp(-design @ weights))
        gradient = design.T @ (happened - q) - ridge * (weights - (1.0, 0.0))
        weights = weights + np.linalg.solve((design * (q * (1 - q))[:, None]).T @ design + np.diag(ridge), gradient)
    return weights


def _sides(outcomes: Sequence[TunedOutcome]) -> Floats:
    found = {}
    for step in range(len(STEPS)):
        own = [each for each in outcomes if each.step == step]
        if own:
            pooled = _widths(own)
            rows = [[each for each in own if each.metric == metric] for metric in range(len(METRICS))]
            shares = [len(row) / (len(row) + _HALF) for row in rows]
            logs = [
                share * np.log(_widths(row) if row else pooled) + (1 - share) * np.log(pooled)
                for share, row in zip(shares, rows, strict=True)
            ]
            found[step] = np.exp(np.stack(logs))
    return _between(found)


def _widths(own: Sequence[TunedOutcome]) -> Floats:
    """Factors with which 10 % of the outcomes are beyond each side."""
    sides = ([each.below for each in own], [each.above for each in own])
    return np.clip([np.quantile(side, 0.9) for side in sides], 0.6, 4.0)


def _between(found: dict[int, Floats]) -> Floats:
    """A value for each step: that of a step without outcomes is the mean of those beside it."""
    known = sorted(found)
    rows = []
    for step in range(len(STEPS)):
        beside = [max((each for each in known if each <= step), default=known[0])]
        beside.append(min((each for each in known if each >= step), default=known[-1]))
        rows.append((found[beside[0]] + found[beside[1]]) / 2)
    return np.stack(rows)


def _alert(risk: Floats, crossed: Floats) -> float:
    """The risk at which the lesser of recall and precision, each over what is wanted of it, is largest. At most one
    half: a table that is likelier than not to cross is on the list.
    """
    best = (0.0, NO_TUNING.alert)
    for limit in np.arange(0.5, 0.15, -0.01):
        listed = risk >= limit
        if listed.any():
            reached = min(listed[crossed].mean() / LEAST_RECALL, crossed[listed].mean() / LEAST_PRECISION)
            best = max(best, (float(reached), float(np.round(limit, 2))))
    return best[1]
