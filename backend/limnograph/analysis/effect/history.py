"""Checks of the history: shifts of the level that no known event explains, and the kinds of day it covers."""

from __future__ import annotations

import numpy as np

from limnograph.analysis.effect.process import LEVEL, Floats, Kernels, is_weekend, whiten

_CARRIES = (0.3, 0.6)
_LEFT_OVER = 0.1
"""Correlation of neighbours remaining with the first value of carry, above which the second one is tried."""
_EDGE = 3
_CYCLE = 2.0
_LEAST_STEP = 0.06
_LONG, _LONG_DEVIATIONS, _SHORT_DEVIATIONS = 8, 3.4, 3.9
"""Minimum deviations of a stretch of eight runs or more, and of a shorter one, which chance produces more often."""
_LEAST_RUNS = 12


def has_shift(y: Floats, before: int, kernels: Kernels, events: Floats) -> bool:
    """Whether some stretch of the history is at another level than the rest, beyond noise and a daily cycle. `events`:
    columns of steps at known events, which explain their level. O(h^3).
    """
    if before < _LEAST_RUNS:
        return False
    found, left_over = _scan(y[:before], kernels, events, _CARRIES[0])
    return _scan(y[:before], kernels, events, _CARRIES[1])[0] if left_over > _LEFT_OVER else found


def _scan(y: Floats, kernels: Kernels, events: Floats, carry: float) -> tuple[bool, float]:
    size = y.size
    lag = kernels.lag[:size, :size]
    covariance = carry**lag + LEVEL + _CYCLE**2 * kernels.cycle[:size, :size]
    covariance = covariance + LEVEL * events[:size] @ events[:size].T
    factor = np.linalg.cholesky(covariance)
    edges = np.array([0, *range(_EDGE, size - _EDGE + 1), size])
    since = (np.arange(size)[:, None] >= edges[None, :]).astype(float)
    white = whiten(factor, np.column_stack([y - np.median(y), since]))
    innovations, steps = white[:, 0], white[:, 1:]
    noise = 1.4826 * float(np.median(np.abs(innovations - np.median(innovations))))
    noise = max(noise, float(np.std(np.clip(innovations, -3 * noise, 3 * noise))), 1e-6)
    power, along = steps.T @ steps, steps.T @ innovations
    own = np.diag(power)
    # A stretch [i, j) is the difference of two steps.
    energy = own[:, None] + own[None, :] - 2 * power
    length = edges[None, :] - edges[:, None]
    whole = (edges[:, None] == 0) & (edges[None, :] == size)
    usable = (length >= _EDGE) & (energy > 1e-6) & ~whole
    lift = np.where(usable, (along[:, None] - along[None, :]) / np.where(usable, energy, 1), 0)
    deviations = np.abs(lift) * np.sqrt(np.where(usable, energy, 0)) / noise
    shorter = np.minimum(length, size - length)
    needed = np.where(shorter >= _LONG, _LONG_DEVIATIONS, _SHORT_DEVIATIONS)
    found = bool(((deviations > needed) & (np.abs(lift) > _LEAST_STEP)).any())
    best = np.unravel_index(np.argmax(deviations), deviations.shape)
    rest = innovations - (steps[:, best[0]] - steps[:, best[1]]) * lift[best]
    rest = np.clip(rest, -3 * noise, 3 * noise)
    return found, float(rest[1:] @ rest[:-1] / max(rest @ rest, 1e-12))


def saw_kind_of_day(at: Floats, before: int) -> bool:
    """Whether at least one later run is on a kind of day, weekday or weekend (UTC), that the history covers."""
    weekend = is_weekend(at)
    return bool(np.isin(weekend[before:], weekend[:before]).any())
