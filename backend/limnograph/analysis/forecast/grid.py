"""The grid of hours that forecasts are computed on."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Longs = npt.NDArray[np.int64]

HOUR_MS = 3_600_000
DAY_H = 24
