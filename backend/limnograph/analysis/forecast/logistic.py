"""Logistic regression on features that were mapped to their quantiles: the fallback for models without trees."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from limnograph.analysis.forecast.grid import Floats

_KNOTS = 17
_RIDGE = 3.0
_STEPS = 12
_SURE = 9.0


class Logistic(NamedTuple):
    """`knots[feature]`: quantiles of the feature in training; `weights`: intercept, features, missing features."""

    knots: Floats
    weights: Floats

    def predict(self, rows: Floats) -> Floats:
        """Log odds of each row."""
        found: Floats = _design(rows, self.knots) @ self.weights
        return np.clip(found, -_SURE, _SURE)

    def arrays(self, name: str) -> dict[str, npt.NDArray[Any]]:
        """Arrays to store, with the prefix `name`."""
        return {f"{name}.knots": self.knots, f"{name}.weights": self.weights}

    @classmethod
    def stored(cls, arrays: Mapping[str, npt.NDArray[Any]], name: str) -> Logistic | None:
        """The regression of a stored model, None if it has none."""
        return cls(arrays[f"{name}.knots"], arrays[f"{name}.weights"]) if f"{name}.knots" in arrays else None


def fit_logistic(rows: Floats, happened: Floats) -> Logistic:
    """Fit by Newton's method with a ridge."""
    filled = np.where(np.isnan(rows), 0.0, rows)
    knots = np.quantile(filled, np.linspace(0, 1, _KNOTS), axis=0).T
    knots += np.arange(_KNOTS) * 1e-9  # so that interpolation has increasing knots
    design = _design(rows, knots)
    weights = np.zeros(design.shape[1])
    ridge = np.full(weights.size, _RIDGE)
    ridge[0] = 1e-6
    for _ in range(_STEPS):
        p = 1 / (1 + np.exp(-np.clip(design @ weights, -_SURE, _SURE)))
        gradient = design.T @ (happened - p) - ridge * weights
        curvature = (design * (p * (1 - p) + 1e-6)[:, None]).T @ design + np.diag(ridge)
        weights = weights + np.linalg.solve(curvature, gradient)
    return Logistic(knots, weights)


def _design(rows: Floats, knots: Floats) -> Floats:
    missing = np.isnan(rows)
    place = np.linspace(-1, 1, knots.shape[1])
    mapped = np.stack(
        [np.interp(column, row, place) for column, row in zip(np.where(missing, 0.0, rows).T, knots, strict=True)],
        axis=1,
    )
    mapped[missing] = 0.0
    return np.concatenate([np.ones((len(rows), 1)), mapped, missing.astype(np.float64)], axis=1)
