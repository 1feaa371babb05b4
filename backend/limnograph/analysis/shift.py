"""How much one group of values exceeds another, with bounds: Hodges-Lehmann estimate and Moses interval.

Makes no assumption about the distribution, so a few slow runs among many do not dominate. O(n m log n m).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

_Z = 1.96
"""Normal quantile for bounds at 95 %."""


class Shift(NamedTuple):
    """Median of all differences, and its bounds at 95 %; None: too few values for bounds."""

    change: float | None
    low: float | None
    high: float | None


def shift(before: Sequence[float], after: Sequence[float]) -> Shift | None:
    """How much `after` exceeds `before`; None if a group is empty."""
    differences = sorted(late - early for late in after for early in before)
    if not differences:
        return None
    size, spread = len(differences), math.sqrt(len(differences) * (len(before) + len(after) + 1) / 12)
    middle = (differences[(size - 1) // 2] + differences[size // 2]) / 2
    outside = math.floor(size / 2 - _Z * spread)
    if outside < 1:
        return Shift(middle, None, None)
    return Shift(middle, differences[outside - 1], differences[size - outside])
