"""Limits runs to three deviations from the prediction by their neighbours, both before and after the operation."""

from __future__ import annotations

import numpy as np

from limnograph.analysis.effect.process import LEVEL, TYPICAL, Floats, Kernels

DEVIATIONS = 3.0
LEAST_SPREAD = 1e-4
_DRIFT_OF_EFFECT = 0.15
"""An effect may increase or fade from run to run; that is not an outlier."""


def clip_outliers(y: Floats, before: int, kernels: Kernels) -> Floats:
    """`y` with each run at most three deviations from its leave-one-out prediction. Runs from `before` onward have a
    separate level and drift, so that an effect is never treated as outliers. O(n^3).
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
    """Standard deviation around zero: the larger of the estimates from the median and the ninth decile of absolute
    values. Rounded durations have a median of 0, and heavy tails are not outliers.
    """
    middle, high = np.quantile(np.abs(values), (0.5, 0.9))
    return max(1.4826 * float(middle), 0.608 * float(high))
