"""The part of a series that repeats every day (and every week): a few harmonics, fitted robustly against bursts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from limnograph.analysis.explain.case import Floats
from limnograph.analysis.explain.smoothing import scale

DAY_MS = 86_400_000.0
WEEK_MS = 7 * DAY_MS
HARMONICS = (4, 10)
"""Of a day. Four fit a clipped sine to within 1 % of its height; ten fit office hours, if they are worth it."""
WORTH = 0.05
"""Share of the spread that cycles must explain to be removed (measured: correlation benchmark, law of section 7)."""
WEEKS = 1.9
PARAMETER_POINTS = 8
"""Minimum points of the series per parameter."""


def cycles(at: Floats, values: Floats, *, weekly: bool = False, places: Sequence[int] = ()) -> tuple[Floats, int]:
    """The cyclic part of the values (mean 0) and its number of parameters; zeros and 0 for less than two days.

    places  indexes of new levels, which are fitted together with the cycle: fitted one after the other, each
            would keep a part of the other
    weekly  days of the week differ too, in their level and in the strength of their daily rhythm; only with
            enough weeks can that be distinguished from a change. The model with the lowest BIC is used
    """
    none = np.zeros_like(values), 0
    if at.size < 3 * PARAMETER_POINTS or at[-1] - at[0] < 2 * DAY_MS:
        return none
    models = []
    levels = _steps(at.size, places)
    values = values - _fit(levels, values)
    for design in _designs(at, values, weekly=weekly):
        if 0 < design.shape[1] <= at.size // PARAMETER_POINTS:
            fitted, rest = _robust_fit(design, levels, values)
            fitted = fitted - fitted.mean()
            models.append((_power(rest), design.shape[1], fitted, rest))
    if not models:
        return none
    independent = _independent(min(models, key=lambda each: each[0])[3])
    unit = np.log(max(independent, 2.0))
    _, parameters, fitted, _ = min(models, key=lambda each: independent * np.log(each[0]) + unit * each[1])
    best = fitted, parameters
    before, after = scale(values), scale(values - _fit(levels, values - best[0]) - best[0])
    spent = 1 + 2 * best[1] / at.size
    return best if before > 0 and after * spent < (1 - WORTH) * before else none


def _power(rest: Floats) -> float:
    """Mean square, with extreme values cut off."""
    bound = 3 * scale(rest)
    return float(np.mean(np.clip(rest, -bound, bound) ** 2)) + 1e-12


def _independent(rest: Floats) -> float:
    """Effective number of independent values: neighbours are correlated."""
    power = float(rest @ rest)
    together = max(float(rest[1:] @ rest[:-1]) / power, 0.0) if power > 0 else 0.0
    return rest.size * (1 - together) / (1 + together)


def _designs(at: Floats, values: Floats, *, weekly: bool) -> Iterator[Floats]:
    """Columns of each model: a daily rhythm, coarse or fine; with days of the week; with a rhythm per day."""
    days = _weekdays(at) if weekly else np.empty((at.size, 0))
    for most in HARMONICS:
        waves = _waves(at, at[-1] - at[0], most)
        yield np.concatenate([waves, days], axis=1)
        if weekly and waves.shape[1]:
            rhythm = waves @ np.linalg.lstsq(waves, values - _fit(days, values), rcond=None)[0]
            yield np.concatenate([waves, days, days * rhythm[:, None]], axis=1)


def _fit(design: Floats, values: Floats) -> Floats:
    full = np.column_stack([np.ones(values.size), design])
    return np.asarray(full @ np.linalg.lstsq(full, values, rcond=None)[0])


def has_weeks(at: Floats) -> bool:
    """Whether every day of the week occurs twice, except for a few hours."""
    return bool(at[-1] - at[0] >= WEEKS * WEEK_MS)


def _waves(at: Floats, span_ms: float, most: int) -> Floats:
    """Sines and cosines of a day, lowest frequencies first; periods below 2.5 gaps cannot be distinguished."""
    gap = span_ms / max(at.size - 1, 1)
    periods = [DAY_MS / k for k in range(1, most + 1) if DAY_MS / k > 2.5 * gap]
    angles = [2 * np.pi * at / period for period in periods]
    columns = [wave(angle) for angle in angles for wave in (np.sin, np.cos)]
    return np.column_stack(columns) if columns else np.empty((at.size, 0))


def _weekdays(at: Floats) -> Floats:
    """Indicators of the day of the week, except for the first (the constant)."""
    day = np.floor(at / DAY_MS) % 7
    return np.column_stack([day == k for k in range(1, 7)]).astype(np.float64)


def _steps(size: int, places: Sequence[int]) -> Floats:
    return (np.arange(size)[:, None] >= np.array(places, np.int64)[None, :]).astype(np.float64)


def _robust_fit(design: Floats, levels: Floats, values: Floats) -> tuple[Floats, Floats]:
    """The fit and the residuals: least squares with Huber's weights, three rounds."""
    weights = np.ones_like(values)
    full = np.column_stack([design, levels, np.ones_like(values)])
    rest = values
    for _ in range(3):
        weighted = full * weights[:, None]
        coefficients = np.linalg.lstsq(weighted.T @ full, weighted.T @ values, rcond=None)[0]
        rest = values - full @ coefficients
        weights = np.minimum(1.0, 1.5 * max(scale(rest), 1e-9) / np.maximum(np.abs(rest), 1e-12))
    return np.asarray(design @ coefficients[: design.shape[1]]), rest
