"""Running medians, bins and robust scales: what the other steps share about rough series."""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from limnograph.analysis.explain.case import Floats, Ints

MAD_TO_SIGMA = 1.4826
"""Of a normal law: its deviation is this often its median absolute deviation."""


def running_median(values: Floats, width: int) -> Floats:
    """Median of the `width` (odd) values around each; the ends repeat theirs."""
    if values.size < 2 or width < 2:
        return values
    half = width // 2
    return np.median(sliding_window_view(np.pad(values, half, mode="edge"), 2 * half + 1), axis=1)


def scale(values: Floats) -> float:
    """Standard deviation of the bulk of the values, by their median absolute deviation."""
    return MAD_TO_SIGMA * float(np.median(np.abs(values - np.median(values)))) if values.size else 0.0


def bins(size: int, most: int) -> Ints:
    """Edges of at most `most` bins over `size` values, each of equally many but the last."""
    each = max(1, -(-size // most))
    return np.append(np.arange(0, size, each), size)


def binned(values: Floats, edges: Ints) -> Floats:
    """Mean of each bin between neighbouring edges."""
    return np.add.reduceat(values[: edges[-1]], edges[:-1]) / np.diff(edges)
