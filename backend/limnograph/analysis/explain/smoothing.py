"""Running medians, bins and robust scales, shared by the other steps."""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from limnograph.analysis.explain.case import Floats, Ints

MAD_TO_SIGMA = 1.4826
"""Ratio of standard deviation to median absolute deviation in a normal law."""

NARROW = 9
"""Widest window to sort by exchanges: for wider ones numpy's sort is faster."""


def median(values: Floats) -> float:
    """Median of one or more values without NaN: numpy's, which checks for NaN, takes six times as long."""
    half = values.size // 2
    parted = np.partition(values, half)
    return float(parted[half] if values.size % 2 else (parted[:half].max() + parted[half]) / 2)


def running_median(values: Floats, width: int) -> Floats:
    """Median of the `width` (odd) values around each; the ends are repeated."""
    if values.size < 2 or width < 2:
        return values
    padded = np.pad(values, width // 2, mode="edge")
    if width > NARROW:
        return np.median(sliding_window_view(padded, width), axis=1)
    columns = [padded[k : k + values.size] for k in range(width)]
    for turn in range(width):  # odd-even transposition: all windows are sorted in parallel
        for k in range(turn % 2, width - 1, 2):
            low, high = columns[k], columns[k + 1]
            columns[k], columns[k + 1] = np.minimum(low, high), np.maximum(low, high)
    return columns[width // 2]


def scale(values: Floats) -> float:
    """Standard deviation of the bulk of the values, by their median absolute deviation."""
    return MAD_TO_SIGMA * median(np.abs(values - median(values))) if values.size else 0.0


def bins(size: int, most: int) -> Ints:
    """Edges of at most `most` bins over `size` values, of equal size except the last."""
    each = max(1, -(-size // most))
    return np.append(np.arange(0, size, each), size)


def binned(values: Floats, edges: Ints) -> Floats:
    """Mean of each bin between neighbouring edges."""
    return np.add.reduceat(values[: edges[-1]], edges[:-1]) / np.diff(edges)
