"""Predicts the durations after the operation without it, with their uncertainty.

The process of the history predicts the later runs; the effect is the mean of measured minus predicted, so it may differ
from run to run. With the Cholesky factor L of all runs, the block of L for the later runs times their innovations is
exactly that difference, and the block's column sums give its deviation. The same holds for every cut inside the history
(placebo): there the effect is zero, so the size of those differences, in units of their own deviations, shows whether
the bounds are honest. They widen the bounds, never narrow them.

Cost: O(g h^3 + k n^3) for g = 90 grid points over h <= 168 runs before and k <= 6 likely processes over n <= 296 runs.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from limnograph.analysis.effect.outliers import spread
from limnograph.analysis.effect.process import GRID, Floats, Kernels, Process, cholesky, priors, whiten

MOST_BEFORE, MOST_AFTER = 168, 128
_LIKELY = 0.03
_MOST_LIKELY = 6
_LEAST_VARIANCE = 1e-7
_LEAST_SCATTER = 5
_BORDER = 1e4
"""Above the sum of squared innovations per sum of squares: noise is never correlated that closely."""
_BEYOND_CHANCE = 3.2
_PLACEBO_PRIOR = 8.0
"""Weight of the prior that the process is right, in placebo cuts."""


class Covariate(NamedTuple):
    """A column that contributes to `y` in addition to the process: by `mean` with deviation `sd`."""

    column: Floats
    mean: float
    sd: float


class Prediction(NamedTuple):
    """Predicted difference of the later runs.

    change     mean difference, natural log
    deviation  its standard deviation, widened by placebo cuts
    freedom    degrees of freedom
    response   the same linear measure of each given column
    processes  the likely ones with weight and variance of the noise, likeliest first
    """

    change: float
    deviation: float
    freedom: float
    response: Floats
    processes: tuple[tuple[float, float, Process], ...]


def predict(
    y: Floats,
    before: int,
    kernels: Kernels,
    known: tuple[Covariate, ...],
    columns: Floats,
    *,
    measured: Floats | float = 0.0,
) -> Prediction:
    """`y`: log durations in order of time, `before` of them before the operation. `columns`: (n, k) series for the same
    linear measure. `measured`: covariance of the noise that what was subtracted from `y` has brought into it.
    """
    usual = y - np.median(y[:before]) - sum((each.column * each.mean for each in known), np.zeros(y.size))
    scale = max(_rough_noise(usual[:before]), math.sqrt(_LEAST_VARIANCE))
    extra = sum(((each.sd / scale) ** 2 * np.outer(each.column, each.column) for each in known), np.zeros((1, 1)))
    extra = extra + np.asarray(measured) / scale**2
    likely = _likely(usual[:before], before, kernels, np.broadcast_to(extra, kernels.lag.shape))
    count = y.size - before
    steps, variances, responses, placebos = [], [], [], []
    for _, variance, process in likely:
        factor = cholesky(kernels.covariance(process) + extra)
        innovations = whiten(factor, np.column_stack([usual, columns]))
        block = factor[before:, before:]
        differences = (block @ innovations[before:]).mean(0)
        steps.append(differences[0])
        responses.append(differences[1:])
        variances.append(variance * float(np.square(block.sum(0)).sum()) / count**2)
        placebos.append(_placebo(factor, innovations[:, 0], before, count, math.sqrt(variance)))
    weight = np.array([each for each, _, _ in likely])
    weight /= weight.sum()
    change = float(weight @ steps)
    variance = float(weight @ (np.array(variances) + np.square(steps)) - change**2)
    widen = sum(each * _widening(cuts, before, count) for each, cuts in zip(weight, placebos, strict=True))
    return Prediction(
        change=change,
        deviation=math.sqrt(max(variance, _LEAST_VARIANCE / count) * max(1.0, widen) * _noisier(usual, before)),
        freedom=max(3.0, min(before - 2.0, max(24.0, 0.6 * before))),
        response=np.asarray(weight @ np.array(responses)),
        processes=tuple(likely),
    )


def expected_deviations(at: Floats, before: int, prediction: Prediction, more: int) -> Floats:
    """Deviation of the mean of the later runs, with the existing number of runs and with up to `more` further ones at
    the pace of the later ones, relative to the first. O(k n^3) for k likely processes.
    """
    gap = float(np.median(np.diff(at[before:])))
    kernels = Kernels(np.concatenate([at, at[-1] + gap * np.arange(1, more + 1)]), before)
    variances = np.zeros(more + 1)
    for weight, noise, process in prediction.processes:
        block = cholesky(kernels.covariance(process))[before:, before:]
        means = np.linalg.norm(np.cumsum(block, axis=0), axis=1) / np.arange(1, len(block) + 1)
        variances += weight * noise * np.square(means[at.size - before - 1 :])
    return np.asarray(np.sqrt(variances / variances[0]))


def _noisier(y: Floats, before: int) -> float:
    """Factor on the variance if the later runs scatter more than the earlier ones, beyond chance."""
    count = y.size - before
    if count < _LEAST_SCATTER:
        return 1.0
    ratio = (spread(np.diff(y[before:])) / max(spread(np.diff(y[:before])), 1e-9)) ** 2
    return ratio if ratio > 1 + _BEYOND_CHANCE * math.sqrt(3 / count) else 1.0


def _rough_noise(y: Floats) -> float:
    """Deviation of a run from its neighbours."""
    return spread(np.diff(y)) / math.sqrt(2)


def _likely(y: Floats, before: int, kernels: Kernels, extra: Floats) -> list[tuple[float, float, Process]]:
    """Weight, variance of the noise and process, likeliest first, from the runs of the history."""
    size, early = before, y[:before]
    bordered = np.empty((len(GRID), size + 1, size + 1))
    for covariance, each in zip(bordered, GRID, strict=True):
        covariance[:size, :size] = kernels.covariance(each)[:size, :size] + extra[:size, :size]
    # A Cholesky factor's row for one more variable is that variable in innovations: no system is solved for them.
    bordered[:, size, :size] = early
    bordered[:, size, size] = 1 + _BORDER * float(early @ early)
    factors = np.linalg.cholesky(bordered)
    innovations = factors[:, size, :size]
    variance = np.maximum(np.square(innovations).sum(1) / (size - 1), _LEAST_VARIANCE)
    volume = np.log(np.diagonal(factors, axis1=1, axis2=2)[:, :size]).sum(1)
    score = -(size - 1) / 2 * np.log(variance) - volume + np.log(priors(kernels.days))
    weight = np.exp(score - score.max())
    weight /= weight.sum()
    order = [k for k in np.argsort(-weight)[:_MOST_LIKELY] if weight[k] > _LIKELY]
    return [(float(weight[k]), float(variance[k]), GRID[k]) for k in order]


def _placebo(factor: Floats, innovations: Floats, before: int, count: int, noise: float) -> list[tuple[float, float]]:
    """Differences and their deviations at cuts in the history, over windows as long as the time after if four fit."""
    width = min(count, before // 4)
    if width < 2:
        return []
    found = []
    for cut in range(max(8, before // 4), before - width + 1, max(1, width // 3)):
        block = factor[cut : cut + width, cut : cut + width]
        difference = float((block @ innovations[cut : cut + width]).mean())
        found.append((difference, noise * float(np.linalg.norm(block.sum(0))) / width))
    return found


def _widening(cuts: list[tuple[float, float]], before: int, count: int) -> float:
    """Factor on the variance. Overlapping windows count as the number of windows that fit without overlap."""
    if not cuts:
        return 1.0
    independent = max(1.0, (before - max(8, before // 4)) / min(count, before // 4))
    squares = sum((difference / deviation) ** 2 for difference, deviation in cuts) / len(cuts)
    return (squares * independent + _PLACEBO_PRIOR) / (independent + _PLACEBO_PRIOR)
