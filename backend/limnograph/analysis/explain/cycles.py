"""The part of a series that comes back every day (and every week): a few harmonics that bursts do not bend."""

from __future__ import annotations

import numpy as np

from limnograph.analysis.explain.case import Floats
from limnograph.analysis.explain.smoothing import scale

DAY_MS = 86_400_000.0
WEEK_MS = 7 * DAY_MS
HARMONICS = 4
"""Of a day. Four draw a clipped sine to within 1 % of its height."""
WORTH = 0.05
"""Share of the spread that cycles must explain to be taken out (measured: correlation benchmark, law of section 7)."""
WEEKS = 1.9
PARAMETER_POINTS = 8
"""Points of the series that each parameter needs."""


def cycles(at: Floats, values: Floats, *, weekly: bool = False) -> tuple[Floats, int]:
    """The cyclic part of the values (mean 0) and its parameters; zeros and 0 in less than two days or without one.

    `weekly`: days of the week differ too; only with enough weeks can they be told from a change.
    """
    none = np.zeros_like(values), 0
    if at.size < 3 * PARAMETER_POINTS or at[-1] - at[0] < 2 * DAY_MS:
        return none
    design = _waves(at, at[-1] - at[0])
    if weekly:
        design = np.concatenate([_weekdays(at), design], axis=1)
    design = design[:, : at.size // PARAMETER_POINTS]
    if design.shape[1] == 0:
        return none
    fitted = _robust_fit(design, values)
    fitted = fitted - fitted.mean()
    before, after = scale(values), scale(values - fitted)
    spent = 1 + 2 * design.shape[1] / at.size
    return (fitted, design.shape[1]) if before > 0 and after * spent < (1 - WORTH) * before else none


def has_weeks(at: Floats) -> bool:
    """Whether every day of the week was seen twice, but for a few hours."""
    return bool(at[-1] - at[0] >= WEEKS * WEEK_MS)


def _waves(at: Floats, span: float) -> Floats:
    """Sines and cosines of a day, the slow ones first; faster ones than 2.5 gaps of the series are not told apart."""
    gap = span / max(at.size - 1, 1)
    periods = [DAY_MS / k for k in range(1, HARMONICS + 1) if DAY_MS / k > 2.5 * gap]
    angles = [2 * np.pi * at / period for period in periods]
    columns = [wave(angle) for angle in angles for wave in (np.sin, np.cos)]
    return np.column_stack(columns) if columns else np.empty((at.size, 0))


def _weekdays(at: Floats) -> Floats:
    """Which day of the week each is, but for the first (the constant)."""
    day = np.floor(at / DAY_MS) % 7
    return np.column_stack([day == k for k in range(1, 7)]).astype(np.float64)


def _robust_fit(design: Floats, values: Floats) -> Floats:
    """Least squares with Huber's weights, three rounds."""
    weights = np.ones_like(values)
    full = np.column_stack([np.ones_like(values), design])
    fitted = np.zeros_like(values)
    for _ in range(3):
        weighted = full * weights[:, None]
        coefficients = np.linalg.lstsq(weighted.T @ full, weighted.T @ values, rcond=None)[0]
        fitted = full @ coefficients
        off = np.abs(values - fitted)
        spread = max(scale(values - fitted), 1e-9)
        weights = np.minimum(1.0, 1.5 * spread / np.maximum(off, 1e-12))
    return np.asarray(fitted - full[:, 0] * coefficients[0])
