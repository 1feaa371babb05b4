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
_LEAST_GAP = 0.1
"""Of two runs, in usual gaps: runs at the same time are not the same run."""


class Process(NamedTuple):
    """One grid point; deviations are in units of the noise's.

    carry   correlation of neighbouring runs
    part    share of the noise that is correlated
    wander  standard deviation of the level's step from run to run
    trend   standard deviation of the change of its slope per run
    cycle   standard deviation of the daily shape
    weight  prior
    """

    carry: float
    part: float
    wander: float
    trend: float
    cycle: float
    weight: float


_NOISE = ((0.0, 1.0, 0.15), (0.3, 1.0, 0.3), (0.6, 1.0, 0.25), (0.88, 1.0, 0.15), (0.9, 0.5, 0.15))
_DRIFT = ((0.0, 0.0, 0.33), (0.04, 0.0, 0.2), (0.12, 0.0, 0.12), (0.35, 0.0, 0.08), (0.0, 0.04, 0.27))
_CYCLE = ((0.0, 0.45), (0.8, 0.3), (2.5, 0.25))
GRID = tuple(
    Process(carry, part, wander, trend, cycle, a * b * c)
    for (carry, part, a), (wander, trend, b), (cycle, c) in itertools.product(_NOISE, _DRIFT, _CYCLE)
)
TYPICAL = Process(0.3, 1.0, 0.1, 0.0, 1.5, 1.0)
"""For cleaning and weighting before a job's own process is known."""


class Kernels:
    """Correlations of runs at `at` (ascending epoch milliseconds), `before` of them before the operation; every process
    is a weighted sum of them. `clock`: position of each run, in usual gaps of the history.
    """

    def __init__(self, at: Floats, before: int) -> None:
        apart = at[:, None] - at[None, :]
        index = _run_clock(at, before)
        self.clock = index
        weekend = is_weekend(at)
        self.lag = np.abs(index[:, None] - index[None, :])
        self.walk = np.minimum(index[:, None], index[None, :])
        self.line = np.outer(index, index)
        shape = np.exp(-2 * np.sin(np.pi * apart / DAY_MS) ** 2 / 0.7**2)
        self.cycle = shape + 0.5 * (weekend[:, None] == weekend[None, :])

    def noise(self, process: Process) -> Floats:
        """Covariance of the noise and the unknown level only."""
        if process.carry == 0:
            return np.eye(len(self.lag)) + LEVEL
        matrix: Floats = process.part * process.carry**self.lag
        matrix[np.diag_indices(len(matrix))] += 1 - process.part
        return matrix + LEVEL

    def covariance(self, process: Process) -> Floats:
        """Covariance of all runs, in variances of the noise."""
        drift = process.wander**2 * self.walk + process.trend**2 * self.line
        return np.asarray(self.noise(process) + drift + process.cycle**2 * self.cycle)


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
