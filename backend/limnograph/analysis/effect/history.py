"""Checks of the history: shifts of the level that no known event explains, and the kinds of day it covers."""

from __future__ import annotations

import math

import numpy as np

from limnograph.analysis.effect.process import LEVEL, Floats, Kernels, cholesky, is_weekend, whiten

_CARRIES = (0.3, 0.6)
_LEFT_OVER = 0.1
"""Correlation of neighbours remaining with the first value of carry, above which the second one is tried."""
_EDGE = 3
_CYCLE = 2.0
_LEAST_STEP = 0.06
_LONG, _LONG_DEVIATIONS, _SHORT_DEVIATIONS = 8, 3.4, 3.9
"""Minimum deviations of a stretch of eight runs or more, and of a shorter one, which chance produces more often."""
_LEAST_RUNS = 12
_STILL = (0.0, 0.2, 0.4, 0.6)
"""Correlations of neighbours under which a level that stays and one that wanders are compared."""
_WANDERS = (0.12, 0.35)
"""Step of a wandering level from run to run, in deviations of the noise."""
_LEAST_EVIDENCE = 0.7
"""Natural log of how much likelier the history is with a level that wanders."""
_LEAST_DAYS = 14.0
"""Shortest history in which a weekly cycle is detected. A shorter one cannot distinguish a weekend from a shift."""


def has_shift(y: Floats, before: int, kernels: Kernels, events: Floats) -> bool:
    """Whether some stretch of the history is at another level than the rest, or the level wanders, beyond noise and
    cycles. `events`: columns of steps at known events, which explain their level. O(h^3).
    """
    if before < _LEAST_RUNS:
        return False
    y = y[:before] - np.median(y[:before])
    steady = _steady(before, kernels, events)
    found, left_over = _scan(y, kernels, steady, _CARRIES[0])
    if left_over > _LEFT_OVER:
        found, _ = _scan(y, kernels, steady, _CARRIES[1])
    return found or _wanders(y, kernels, steady)


def _steady(before: int, kernels: Kernels, events: Floats) -> Floats:
    """Covariance of what the level may do without a shift: its value, known events, cycles that the history shows."""
    cycle = kernels.cycle if kernels.days >= _LEAST_DAYS else kernels.daily
    known = events[:before]
    return np.asarray(LEVEL + _CYCLE**2 * cycle[:before, :before] + LEVEL * known @ known.T)


def _correlated(size: int, kernels: Kernels, carry: float) -> Floats:
    return np.asarray(carry ** kernels.lag[:size, :size]) if carry else np.eye(size)


def _wanders(y: Floats, kernels: Kernels, steady: Floats) -> bool:
    """Whether a level that wanders is likelier than one that stays, over the possible correlations of the noise."""
    walk = kernels.walk[: y.size, : y.size]
    noises = [_correlated(y.size, kernels, carry) + steady for carry in _STILL]
    still = [_evidence(y, noise) for noise in noises]
    wandering = [_evidence(y, noise + wander**2 * walk) for noise in noises for wander in _WANDERS]
    return _mean_of_logs(wandering) - _mean_of_logs(still) > _LEAST_EVIDENCE


def _evidence(y: Floats, covariance: Floats) -> float:
    """Log likelihood up to a constant, with the noise's variance at its best."""
    factor = cholesky(covariance)
    squares = max(float(np.square(whiten(factor, y)).sum()), 1e-12)
    return -(y.size - 1) / 2 * math.log(squares) - float(np.log(np.diag(factor)).sum())


def _mean_of_logs(logs: list[float]) -> float:
    """The log of the mean of what these are logs of."""
    most = max(logs)
    return most + math.log(sum(math.exp(each - most) for each in logs) / len(logs))


def _scan(y: Floats, kernels: Kernels, steady: Floats, carry: float) -> tuple[bool, float]:
    size = y.size
    factor = cholesky(_correlated(size, kernels, carry) + steady)
    edges = np.array([0, *range(_EDGE, size - _EDGE + 1), size])
    since = (np.arange(size)[:, None] >= edges[None, :]).astype(float)
    white = whiten(factor, np.column_stack([y, since]))
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
