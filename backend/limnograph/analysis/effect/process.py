"""How durations vary where nothing is done: correlated noise, a wandering level, a daily and weekly cycle.

A Gaussian process over runs. Its parts are relative to the variance of the noise, so that this variance has a closed
form. Which parts a job needs is decided by the likelihood of its own history over a small grid (noise x drift x cycle),
with weights, not by one winner: with few runs several remain possible, and the bounds show it.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

DAY_MS = 86_400_000
LEVEL = 1e4
"""Variance of the unknown level, in variances of the noise: practically no prior."""


class Process(NamedTuple):
    """One grid point. `carry`: correlation of neighbouring runs; `part`: share of the noise that is correlated;
    `wander`: standard deviation of the level's step from run to run, `trend` of its slope a run, `cycle` of the daily
    shape, all in those of the noise; `weight`: prior.
    """

    carry: float
    part: float
    wander: float
    trend: float
    cycle: float
    weight: float


_NOISE = ((0.0, 1.0, 0.15), (0.3, 1.0, 0.3), (0.6, 1.0, 0.25), (0.88, 1.0, 0.15), (0.9, 0.5, 0.15))
_DRIFT = ((0.0, 0.0, 0.45), (0.04, 0.0, 0.2), (0.12, 0.0, 0.13), (0.35, 0.0, 0.1), (0.0, 0.04, 0.12))
_CYCLE = ((0.0, 0.45), (0.8, 0.3), (2.5, 0.25))
GRID = tuple(
    Process(carry, part, wander, trend, cycle, a * b * c)
    for (carry, part, a), (wander, trend, b), (cycle, c) in itertools.product(_NOISE, _DRIFT, _CYCLE)
)
TYPICAL = Process(0.3, 1.0, 0.1, 0.0, 1.5, 1.0)
"""For cleaning and weighing before a job's own process is known."""


class Kernels:
    """Correlations of runs at `at` (rising epoch milliseconds), from which every process is a weighted sum."""

    def __init__(self, at: Floats) -> None:
        apart = at[:, None] - at[None, :]
        index = np.arange(at.size, dtype=float)
        weekend = (at // DAY_MS + 3) % 7 >= 5  # 1970-01-01 was a Thursday
        self.lag = np.abs(index[:, None] - index[None, :])
        self.walk = np.minimum(index[:, None], index[None, :])
        self.line = np.outer(index, index)
        shape = np.exp(-2 * np.sin(np.pi * apart / DAY_MS) ** 2 / 0.7**2)
        self.cycle = shape + 0.5 * (weekend[:, None] == weekend[None, :])

    def noise(self, process: Process) -> Floats:
        """Covariance of the noise and the unknown level alone."""
        if process.carry == 0:
            return np.eye(len(self.lag)) + LEVEL
        matrix: Floats = process.part * process.carry**self.lag
        matrix[np.diag_indices(len(matrix))] += 1 - process.part
        return matrix + LEVEL

    def covariance(self, process: Process) -> Floats:
        """Of all runs, in variances of the noise."""
        drift = process.wander**2 * self.walk + process.trend**2 * self.line
        return np.asarray(self.noise(process) + drift + process.cycle**2 * self.cycle)


def cholesky(covariance: Floats) -> Floats:
    """The lower factor."""
    return np.asarray(np.linalg.cholesky(covariance), np.float64)


def whiten(factor: Floats, values: Floats) -> Floats:
    """Values as independent innovations of unit variance, by a Cholesky factor."""
    return np.asarray(np.linalg.solve(factor, values))
