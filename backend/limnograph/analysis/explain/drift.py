"""Growth: a job that slows a little every day has no steps, although steps can be fitted to it."""

from __future__ import annotations

import numpy as np

from limnograph.analysis.explain.case import Floats
from limnograph.analysis.explain.changes import Levels

COLUMNS = 2
"""A slope, and its curvature."""
DRIFT_PARAMETERS = 4
"""Cost of a drift in the BIC: as much as two changes, so that a rise over hours is not mistaken for one."""


def without_drift(at: Floats, values: Floats, found: Levels) -> Floats:
    """The values without the slope and curvature over time that they have besides their levels (least squares)."""
    if not found.places:
        return values
    since = 2 * (at - at[0]) / max(float(at[-1] - at[0]), 1.0) - 1
    drift = np.column_stack([since, since**2])
    levels = np.arange(values.size)[:, None] >= np.array([0, *found.places])[None, :]
    full = np.column_stack([drift, levels])
    coefficients = np.linalg.lstsq(full.T @ full, full.T @ values, rcond=None)[0]
    slow = drift @ coefficients[:COLUMNS]
    return np.asarray(values - slow + slow.mean())
