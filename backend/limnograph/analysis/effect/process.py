"""Variation of durations without an operation: correlated noise, a wandering level, a daily and weekly cycle.

A Gaussian process over runs. Its parts are relative to the variance of the noise, so that this variance has a closed
form. The likelihood of a job's own history selects the parts over a small grid (noise x drift x cycle), with weights
instead of one winner: with few runs several remain possible, and the bounds show it.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

DAY_MS = 86_400_000
LEVEL = 1e4
"""Variance of the unknown level, in variances of the noise: an uninformative prior."""
_WEEKEND = 0.25
"""Variance of a kind of day, in variances of the daily shape."""
_LEAST_GAP = 0.1
"""Of two runs, in usual gaps: runs at the same time are not the same run."""


class Process(NamedTuple):
    """One grid point; deviations are in units of the noise's.

    carry   correlation of neighbouring runs
    part    share of the noise that is correlated
    wander  standard deviation of the level's step from run to run
    trend   standard deviation of the change of its slope per run
    cycle   standard deviation of the daily shape
    weight  prior, apart from the trend (`priors`)
    """

    carry: float
    part: float
    wander: float
    trend: float
    cycle: float
    weight: float


_NOISE = (
    (0.0, 1.0, 0.1),
    (0.3, 1.0, 0.25),
    (0.55, 1.0, 0.2),
    (0.77, 1.0, 0.18),
    (0.92, 1.0, 0.1),
    (0.9, 0.5, 0.17),
)
_DRIFT = ((0.0, 0.0, 0.57), (0.04, 0.0, 0.04), (0.12, 0.0, 0.14), (0.35, 0.0, 0.25), (0.0, 0.04, 1.0))
"""Levels that stay or wander, by weight among each other, and one with a trend."""
_CYCLE = ((0.0, 0.45), (0.8, 0.3), (2.5, 0.25))
GRID = tuple(
    Process(carry, part, wander, trend, cycle, a * b * c)
    for (carry, part, a), (wander, trend, b), (cycle, c) in itertools.product(_NOISE, _DRIFT, _CYCLE)
)
_WEEK, _MONTH = 7.0, 28.0
_GROWS = (0.3, 0.5)
"""Prior of a trend that matters in a history of a week or less, and of four weeks: data grow by the calendar."""


def priors(days: float) -> Floats:
    """Prior of each process of GRID for a history of `days`."""
    grows = float(np.interp(days, (_WEEK, _MONTH), _GROWS))
    return np.array([each.weight * (grows if each.trend else 1 - grows) for each in GRID])


TYPICAL = Process(0.3, 1.0, 0.1, 0.0, 1.5, 1.0)
"""For cleaning and weighting before a job's own process is known."""


class Kernels:
    """Correlations of runs at `at` (ascending epoch milliseconds), `before` of them before the operation; every process
    is a weighted sum of them. `clock`: position of each run, in usual gaps of the history. `daily`: the daily part of
    `cycle`. `days`: length of the history.
    """

    def __init__(self, at: Floats, before: int) -> None:
        apart = at[:, None] - at[None, :]
        index = _run_clock(at, before)
        self.clock = index
        weekend = is_weekend(at)
        self.lag = np.abs(index[:, None] - index[None, :])
        self.walk = np.minimum(index[:, None], index[None, :])
        self.line = np.outer(index, index)
        self.daily = np.exp(-2 * np.sin(np.pi * apart / DAY_MS) ** 2 / 0.7**2)
        self.cycle = self.daily + _WEEKEND * (weekend[:, None] == weekend[None, :])
        self._noises: dict[tuple[float, float], Floats] = {}
        self.days = float(at[before - 1] - at[0]) / DAY_MS if before else 0.0

    def noise(self, carry: float, part: float) -> Floats:
        """Covariance of the noise and the unknown level only."""
        if (carry, part) not in self._noises:
            matrix = np.asarray(part * carry**self.lag if carry else np.zeros(self.lag.shape))
            matrix[np.diag_indices(len(matrix))] = 1.0
            self._noises[carry, part] = matrix + LEVEL
        return self._noises[carry, part]

    def covariance(self, process: Process) -> Floats:
        """Covariance of all runs, in variances of the noise."""
        covariance = self.noise(process.carry, process.part)
        parts = ((process.wander, self.walk), (process.trend, self.line), (process.cycle, self.cycle))
        for deviation, kernel in parts:
            if deviation:
                covariance = covariance + deviation**2 * kernel
        return covariance


def _run_clock(at: Floats, before: int) -> Floats:
    """Position of each run, in usual gaps of the history. Runs that follow each other faster than usual, because the
    job's period became shorter, are nearer to each other; after a pause they are as far apart as always.
    """
    gaps = np.diff(at)
    usual = max(float(np.median(gaps[: max(1, before - 1)])), 1.0) if gaps.size else 1.0
    return np.concatenate([[0.0], np.cumsum(np.clip(gaps / usual, _LEAST_GAP, 1.0))])


def is_weekend(at: Floats) -> npt.NDArray[np.bool_]:
    """Of each instant (epoch milliseconds): whether it is on a Saturday or Sunday, UTC."""
    return np.asarray((at // DAY_MS + 3) % 7 >= 5)  # 1970-01-01 was a Thursday


def cholesky(covariance: Floats) -> Floats:
    """The lower factor."""
    return np.asarray(np.linalg.cholesky(covariance), np.float64)


def whiten(factor: Floats, values: Floats) -> Floats:
    """Values as independent innovations of unit variance, by a Cholesky factor."""
    return np.asarray(np.linalg.solve(factor, values))
