"""How a reader follows the structure of its table: log seconds per log of each structural metric.

A regression of the reader's log level on log levels of the structure, over days of the last four weeks, with what is
usual as a prior: few tables move enough to tell more.
"""

from __future__ import annotations

import numpy as np

from limnograph.analysis.forecast.grid import DAY_H, Floats, Longs
from limnograph.analysis.forecast.series import HistoryGrid

STRUCTURE = ("small_files", "total_bytes", "manifests", "total_delete_files", "skew_max_over_median")
"""Metrics that readers may follow."""
USUAL = {
    "small_files": 0.3,
    "total_bytes": 0.8,
    "manifests": 0.15,
    "total_delete_files": 0.3,
    "skew_max_over_median": 0.25,
}
"""Responses of `reader_seconds`: log seconds per log of the metric."""
_PER_GIB = {**USUAL, "total_bytes": 0.0}
_SPREAD = 0.2
_NOISE = 0.1
_HISTORY_D = 28
_ROUNDS = 25


def responses(series: HistoryGrid, metric: str, cut: int) -> dict[str, float]:
    """Response of a reader's level to each structural metric, not negative."""
    prior = _PER_GIB if metric == "reader_seconds_per_gib" else USUAL
    back = cut - np.arange(0, min(cut, _HISTORY_D * DAY_H), DAY_H)
    level = _logs(series, metric, back) - np.array([series.mean_load(int(place), 1) for place in back])
    structure = np.stack([_logs(series, name, back) for name in STRUCTURE], axis=1)
    known = np.isfinite(level)
    found = np.array([prior[name] for name in STRUCTURE])
    if known.sum() < 4:
        return dict(zip(STRUCTURE, found.tolist(), strict=True))
    there = np.isfinite(structure) & known[:, None]
    means = np.where(there, structure, 0.0).sum(axis=0) / np.maximum(there.sum(axis=0), 1)
    x = np.nan_to_num(structure[known] - means)
    y = level[known] - level[known].mean()
    fitted = _fit(x, y, found)
    return dict(zip(STRUCTURE, fitted.tolist(), strict=True))


def _fit(x: Floats, y: Floats, prior: Floats) -> Floats:
    """Least squares with a prior around `prior`, by coordinates, not below 0."""
    found = prior.copy()
    weight = (_NOISE / _SPREAD) ** 2
    norms = (x**2).sum(axis=0)
    for _ in range(_ROUNDS):
        for place in range(found.size):
            rest = y - x @ found + x[:, place] * found[place]
            found[place] = max(0.0, (x[:, place] @ rest + weight * prior[place]) / (norms[place] + weight))
    return found


def _logs(series: HistoryGrid, metric: str, back: Longs) -> Floats:
    levels = series.levels(metric)
    top = np.fmax.reduce(levels) if levels.size else np.nan
    floor = 0.05 * top + 1e-6 if np.isfinite(top) else 1e-6
    return np.asarray(np.log(np.maximum(levels[back], 0) + floor))
