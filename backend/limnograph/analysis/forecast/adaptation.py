"""Calibration by the fleets' own past: how the model's probabilities and intervals did there, pooled and shrunk.

A model that was trained elsewhere ranks well, but other laws have other base rates and other noise. Corrections are
one slope and one shift of the log odds, and one factor for each side of the interval, by horizon.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from limnograph.analysis.forecast.grid import DAY_H, Floats, Longs
from limnograph.analysis.forecast.model import QUANTILES, STEPS, Model, step_of
from limnograph.analysis.forecast.past import PastQuestions, past_questions
from limnograph.analysis.forecast.series import HistoryGrid

CUT_DAYS = (7, 14)
HORIZONS = (24, 168)
_LEAST = 60
_HALF = 150.0
"""Questions at which the own past counts half."""
_STEPS_OF_FIT = 8


class Adaptation(NamedTuple):
    """`odds[step]`: slope and shift of log odds; `sides[step]`: factors of the lower and upper side of the interval.
    `steps` of `STEPS`.
    """

    odds: Mapping[int, tuple[float, float]]
    sides: Mapping[int, tuple[float, float]]

    def shifted(self, odds: Floats, metric: Longs, hours: int) -> Floats:  # noqa: ARG002
        """Log odds after the correction."""
        slope, shift = self.odds.get(step_of(hours), (1.0, 0.0))
        return slope * odds + shift

    def scaled(self, moves: Floats, metric: Longs, hours: int) -> Floats:  # noqa: ARG002
        """Quantiles `[3, view]` after the correction."""
        low, high = self.sides.get(step_of(hours), (1.0, 1.0))
        middle = moves[1]
        return np.stack([middle - low * (middle - moves[0]), middle, middle + high * (moves[2] - middle)])


NO_ADAPTATION = Adaptation({}, {})


def own_questions(fleet: Sequence[HistoryGrid], seed: int = 7) -> PastQuestions:
    """Questions of a fleet's own past, for `adapt`."""
    cuts = [[series.hours - days * DAY_H for days in CUT_DAYS] for series in fleet]
    return past_questions(fleet, cuts, HORIZONS, seed)


def adapt(model: Model, asked: PastQuestions) -> Adaptation:
    """Corrections of `model` by these questions."""
    odds, sides = {}, {}
    raw = model.crossing(asked.cross) if len(asked.crossed) else np.zeros(0)
    for step, hours in enumerate(STEPS):
        rows = asked.cross_hours == hours
        if rows.sum() >= _LEAST:
            odds[step] = _fit_odds(raw[rows], asked.crossed[rows])
        rows = asked.quantile_hours == hours
        if rows.sum() >= _LEAST:
            moves = model.moves(asked.quantile[rows], hours)
            sides[step] = _fit_sides(moves, (asked.moved - asked.centre)[rows] / asked.width[rows])
    for target in (odds, sides):
        for step in range(max(target, default=0) + 1, len(STEPS)):
            if target:
                target[step] = target[max(target)]
    return Adaptation(odds, sides)


def _fit_odds(raw: Floats, happened: Floats) -> tuple[float, float]:
    """Slope and shift by Newton's method, with a prior of no correction."""
    weights = np.array([1.0, 0.0])
    ridge = np.array([40.0, 8.0])
    design = np.stack([raw, np.ones(raw.size)], axis=1)
    for _ in range(_STEPS_OF_FIT):
        p = 1 / (1 + np.exp(-np.clip(design @ weights, -12, 12)))
        gradient = design.T @ (happened - p) - ridge * (weights - (1.0, 0.0))
        curvature = (design * (p * (1 - p))[:, None]).T @ design + np.diag(ridge)
        weights = weights + np.linalg.solve(curvature, gradient)
    return float(np.clip(weights[0], 0.4, 2.0)), float(np.clip(weights[1], -1.5, 1.5))


def _fit_sides(moves: Floats, z: Floats) -> tuple[float, float]:
    """Factors with which 10 % of the outcomes are beyond each side."""
    share = z.size / (z.size + _HALF)
    found = []
    for side in (0, 2):
        half = np.abs(moves[side] - moves[1]) + 1e-3
        beyond = (moves[1] - z if side == 0 else z - moves[1]) / half
        factor = float(np.clip(np.quantile(beyond, 1 - QUANTILES[0]), 0.3, 4.0))
        found.append(float(np.exp(share * np.log(factor))))
    return found[0], found[1]
