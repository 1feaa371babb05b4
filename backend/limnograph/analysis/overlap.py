"""How many files cover one value of a field, from their lower and upper bounds: 1 is clustered, many is not."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Longs = npt.NDArray[np.int64]


class Overlap(NamedTuple):
    """`depth_max`: most files of one partition that cover one value. `depth_mean`: mean over the distinct bounds of
    each partition. None without a file that has bounds. `left_out`: files whose bounds are missing or crossed.
    """

    depth_max: int | None
    depth_mean: float | None
    left_out: int


def overlap(partition: Longs, lower: Longs, upper: Longs, unbounded: int = 0) -> Overlap:
    """Sweep over closed intervals [lower, upper], each partition by itself.

    Values need only compare as the field does. `unbounded`: files that have no bounds at all.
    """
    ordered = lower <= upper
    left_out = unbounded + int(np.count_nonzero(~ordered))
    partition, lower, upper = partition[ordered], lower[ordered], upper[ordered]
    if not partition.size:
        return Overlap(None, None, left_out)
    _, values = np.unique(np.concatenate([lower, upper]), return_inverse=True)
    # One number line with a stretch per partition: what lies in earlier stretches has begun and ended before.
    stretch = values.reshape(2, -1) + np.unique(partition, return_inverse=True)[1].reshape(-1) * (values.max() + 1)
    begins, ends = np.sort(stretch[0]), np.sort(stretch[1])
    points = np.unique(stretch)
    depth = np.searchsorted(begins, points, side="right") - np.searchsorted(ends, points, side="left")
    return Overlap(int(depth.max()), float(depth.mean()), left_out)
