"""How unevenly bytes lie over partitions. Four numbers, because no single one sees both a giant and an empty one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt


class Skew(NamedTuple):
    """`max_over_median` is None when the median is 0, the others when there are no bytes at all.

    `cv`: population standard deviation over mean. `gini`: 0 all alike, towards 1 all in one. `top1_share`: part of
    the largest in all bytes.
    """

    max_over_median: float | None
    cv: float | None
    gini: float | None
    top1_share: float | None


def skew(sizes: npt.NDArray[np.int64]) -> Skew:
    """Skew of partition sizes (bytes >= 0, any order)."""
    total = float(sizes.sum(dtype=np.float64))
    if total <= 0:
        return Skew(None, None, None, None)
    ordered = np.sort(sizes).astype(np.float64)
    count, median = ordered.size, float(np.median(ordered))
    ranks = 2 * np.arange(1, count + 1) - count - 1
    return Skew(
        max_over_median=float(ordered[-1]) / median if median > 0 else None,
        cv=float(ordered.std()) / (total / count),
        # Rounding may leave -1e-17 where all are alike.
        gini=max(0.0, float(ranks @ ordered) / (count * total)),
        top1_share=float(ordered[-1]) / total,
    )
