"""How unevenly bytes are distributed over partitions. Four numbers, because no single one shows both a giant and an
empty partition.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt


class Skew(NamedTuple):
    """Skew of partitions. `max_over_median` is None if the median is 0, the others if there are no bytes.

    cv          population standard deviation over mean
    gini        0: all equal; near 1: all bytes in one
    top1_share  share of the largest in all bytes
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
        # Rounding may leave -1e-17 if all are equal.
        gini=max(0.0, float(ranks @ ordered) / (count * total)),
        top1_share=float(ordered[-1]) / total,
    )
