"""The grid of hours that forecasts are computed on."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Longs = npt.NDArray[np.int64]

HOUR_MS = 3_600_000
DAY_H = 24


def middle(values: Floats) -> float:
    """Median of known values: of few, several times faster than numpy's."""
    ordered = np.sort(values)
    return float(ordered[(ordered.size - 1) // 2] + ordered[ordered.size // 2]) / 2
