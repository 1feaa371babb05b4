"""Growth: a job that slows a little with every day climbs no stairs, though stairs can be drawn through it."""

from __future__ import annotations

import numpy as np

from limnograph.analysis.explain.case import Floats
from limnograph.analysis.explain.changes import Levels

COLUMNS = 2
"""A slope, and its bend."""
DRIFT_PARAMETERS = 4
"""What a drift costs: as much as two changes, so that a rise of hours is not taken for one."""


def without_drift(at: Floats, values: Floats, found: Levels) -> Floats:
    """The values without the slope and bend over time that they have beside their levels (least squares)."""
    if not found.places:
        return values
    since = 2 * (at - at[0]) / max(float(at[-1] - at[0]), 1.0) - 1
    drift = np.column_stack([since, since**2])
    levels = np.arange(values.size)[:, None] >= np.array([0, *found.places])[None, :]
    full = np.column_stack([drift, levels])
    coefficients = np.linalg.lstsq(full.T @ full, full.T @ values, rcond=None)[0]
    slow = drift @ coefficients[:COLUMNS]
    return np.asarray(values - slow + slow.mean())
