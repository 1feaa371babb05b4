"""Aligns event series with a regular time axis: the value at an instant, and the extremes within a bucket.

Instants are integers in one unit of the caller's choice; an unknown value is None. A value holds from its event until
the next one; nothing is interpolated. Plain lists: 2,000 points of ten lanes take milliseconds.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from limnograph.domain.time import Micros

Value = float | None


class Envelope(NamedTuple):
    """Minimum and maximum known value per bucket."""

    low: list[Value]
    high: list[Value]

    @property
    def varies(self) -> bool:
        """Whether any bucket contains more than one value."""
        return self.low != self.high


def held(times: Sequence[Micros], values: Sequence[Value], at: Sequence[Micros]) -> list[Value]:
    """The value at each instant of `at`; None before the first event. `times` ascends."""
    indexes = (bisect_right(times, instant) - 1 for instant in at)
    return [values[index] if index >= 0 else None for index in indexes]


def envelope(times: Sequence[Micros], values: Sequence[Value], starts: Sequence[Micros], width_us: int) -> Envelope:
    """Extremes in each bucket `[start, start + width_us)`, including the value at its start.

    A bucket with an unknown value still shows the extremes of its known values.
    """
    low = held(times, values, starts)
    high = list(low)
    if not starts:
        return Envelope(low, high)
    for time, value in zip(times, values, strict=True):
        bucket = (time - starts[0]) // width_us
        if value is None or not 0 <= bucket < len(starts):
            continue
        least, most = low[bucket], high[bucket]
        low[bucket] = value if least is None else min(least, value)
        high[bucket] = value if most is None else max(most, value)
    return Envelope(low, high)


def since_last_us(times: Sequence[Micros], at: Sequence[Micros]) -> list[int | None]:
    """Microseconds from the last event to each instant; None before the first event."""
    indexes = (bisect_right(times, instant) - 1 for instant in at)
    return [instant - times[index] if index >= 0 else None for instant, index in zip(at, indexes, strict=True)]


def finite(value: float) -> Value:
    """The value; None for NaN and infinities."""
    return value if math.isfinite(value) else None


def median(values: Sequence[float]) -> float | None:
    """Middle value, mean of the two middle ones for an even count; None if empty."""
    if not values:
        return None
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2
