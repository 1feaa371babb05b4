"""How many files cover one value of a field, from their lower and upper bounds: 1 is clustered, many is not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Longs = npt.NDArray[np.int64]
Values = npt.NDArray[Any]

AT_ONCE = 100_000
"""Files that are swept together, and at least one partition."""


class Overlap(NamedTuple):
    """`depth_max`: most files of one partition that cover one value. `depth_mean`: mean over the distinct bounds of
    each partition. None without a file that has bounds. `left_out`: files whose bounds are missing or crossed.
    """

    depth_max: int | None
    depth_mean: float | None
    left_out: int


def overlap(partition: Longs, lower: Values, upper: Values, unbounded: int = 0) -> Overlap:
    """Sweep over closed intervals [lower, upper], each partition by itself.

    Values need only compare as the field does. `unbounded`: files that have no bounds at all.
    """
    ordered = lower <= upper
    left_out = unbounded + int(np.count_nonzero(~ordered))
    rows = np.flatnonzero(ordered)
    rows = rows[np.argsort(partition[rows], kind="stable")]
    if not rows.size:
        return Overlap(None, None, left_out)
    found = [_swept(partition[some], lower[some], upper[some]) for some in _shares(partition[rows], rows)]
    points = sum(share.points for share in found)
    return Overlap(max(share.deepest for share in found), sum(share.depths for share in found) / points, left_out)


def _shares(partition: Longs, rows: npt.NDArray[np.intp]) -> Iterator[npt.NDArray[np.intp]]:
    """Rows of whole partitions, about AT_ONCE at a time, which bounds the memory of a sweep."""
    ends = np.append(np.flatnonzero(np.diff(partition)) + 1, rows.size)
    start = 0
    while start < rows.size:
        place = int(np.searchsorted(ends, start + AT_ONCE))
        end = int(ends[place]) if place < ends.size else rows.size
        yield rows[start:end]
        start = end


class _Swept(NamedTuple):
    deepest: int
    depths: int
    points: int


def _swept(partition: Longs, lower: Values, upper: Values) -> _Swept:
    """Depths at the distinct bounds of each partition. `partition` ascends."""
    _, values = np.unique(np.concatenate([lower, upper]), return_inverse=True)
    # One number line with a stretch per partition: what lies in earlier stretches has begun and ended before.
    stretch = np.cumsum(np.append(False, partition[1:] != partition[:-1])) * (int(values.max()) + 1)
    begins, ends = np.sort(values[: lower.size] + stretch), np.sort(values[lower.size :] + stretch)
    points = np.unique(np.concatenate([begins, ends]))
    depth = np.searchsorted(begins, points, side="right") - np.searchsorted(ends, points, side="left")
    return _Swept(int(depth.max()), int(depth.sum()), points.size)
