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
PARAMETER_POINTS = 8
"""Points of the series that each parameter needs."""


def cycles(at: Floats, values: Floats) -> tuple[Floats, int]:
    """The cyclic part of the values (mean 0) and its parameters; zeros and 0 in less than two days or without one."""
    none = np.zeros_like(values), 0
    if at.size < 3 * PARAMETER_POINTS or at[-1] - at[0] < 2 * DAY_MS:
        return none
    design = _waves(at, at[-1] - at[0], at.size)
    if design.shape[1] == 0:
        return none
    fitted = _robust_fit(design, values)
    fitted = fitted - fitted.mean()
    before, after = scale(values), scale(values - fitted)
    spent = 1 + 2 * design.shape[1] / at.size
    return (fitted, design.shape[1]) if before > 0 and after * spent < (1 - WORTH) * before else none


def _waves(at: Floats, span: float, size: int) -> Floats:
    """Sines and cosines of the periods that the series can tell apart: faster than twice its gap are not among them."""
    gap = span / max(size - 1, 1)
    periods = [DAY_MS / k for k in range(1, HARMONICS + 1) if DAY_MS / k > 2.5 * gap]
    if span >= 2 * WEEK_MS:
        periods += [WEEK_MS / k for k in (1, 2, 3) if WEEK_MS / k > 2.5 * gap]
    periods = periods[: max(0, size // (2 * PARAMETER_POINTS))]
    angles = 2 * np.pi * at[:, None] / np.array(periods, np.float64)[None, :]
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=1)


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
