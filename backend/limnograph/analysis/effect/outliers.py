"""Runs cut off at three deviations from what their neighbours predict, before and after the operation alike."""

from __future__ import annotations

import numpy as np

from limnograph.analysis.effect.process import LEVEL, TYPICAL, Floats, Kernels

DEVIATIONS = 3.0
LEAST_SPREAD = 1e-4
_DRIFT_OF_EFFECT = 0.15
"""An effect may grow or fade from run to run; that is no outlier."""


def clip_outliers(y: Floats, before: int, kernels: Kernels) -> Floats:
    """`y` with each run at most three deviations from its leave-one-out prediction. The runs from `before` on have a
    level and a drift of their own, so that an effect is never taken for outliers. O(n^3).
    """
    middle = np.median(y[:before])
    after = (np.arange(y.size) >= before).astype(float)
    since = np.maximum(np.arange(y.size) - before, 0.0)
    drift = LEVEL + _DRIFT_OF_EFFECT**2 * np.minimum(since[:, None], since[None, :])
    precision = np.linalg.inv(kernels.covariance(TYPICAL) + drift * np.outer(after, after))
    scale = 1 / np.sqrt(np.diag(precision))
    clipped = y - middle
    for _ in range(3):
        residual = (precision @ clipped) * scale**2
        deviation = residual / scale
        usual = max(spread(deviation[:before]), LEAST_SPREAD)
        late = max(usual, spread(deviation[before:])) if y.size - before >= 5 else usual
        most = DEVIATIONS * scale * np.where(after > 0, late, usual)
        clipped = clipped - residual + np.clip(residual, -most, most)
    return np.asarray(clipped + middle)


def spread(values: Floats) -> float:
    """Standard deviation around zero by the median and the ninth decile of absolute values, the larger of both: rounded
    durations have a median of 0, and heavy tails are no outliers.
    """
    middle, high = np.quantile(np.abs(values), (0.5, 0.9))
    return max(1.4826 * float(middle), 0.608 * float(high))
