"""How much neighbouring stretches of runs differ anywhere in a series: the baseline for the size of a change.

AR(1) around levels that were just fitted misses noise that is slower than them; this measures what the series does by
itself at each length (Allan 1966: two-sample deviation), and a few true changes do not affect it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from limnograph.analysis.explain.case import Floats
from limnograph.analysis.explain.onset import Onset

LONGEST, LEAST_STRETCHES = 128, 16
"""Maximum runs of a stretch; a series must contain at least this many of the longest stretches."""
TREND = 3
"""Lengths over which the deviation's trend is measured."""
SHARE, OF_NORMAL = 0.35, 0.4538
"""Quantile of the distances to use, and its value for a standard normal law: changes are in the upper quantiles."""


@dataclass(frozen=True, slots=True)
class Wander:
    """Sums of a series, and the deviation between neighbouring stretches of 2, 4, 8 ... runs."""

    lengths: Floats
    deviations: Floats

    def deviation(self, before: int, after: int) -> float:
        """Deviation of the difference of two stretches, from the differences of all stretches of the shorter's length.

        Beyond the longest measured length, the trend continues, falling at most like white noise.
        """
        if self.lengths.size == 0:
            return 0.0
        short, long = min(before, after), max(before, after)
        logs = np.log(self.lengths)
        found = float(np.interp(np.log(max(short, 1)), logs, self.deviations))
        if short > self.lengths[-1] and self.lengths.size >= TREND:
            slope = np.log(self.deviations[-1] / self.deviations[-TREND]) / (logs[-1] - logs[-TREND])
            found *= float((short / self.lengths[-1]) ** np.clip(slope, -0.5, 0.0))
        # The mean of the longer stretch is the more certain one.
        return found * float(np.sqrt((1 + short / long) / 2))


def wander(values: Floats) -> Wander:
    """Measure a series."""
    longest = min(LONGEST, values.size // LEAST_STRETCHES)
    lengths = [length for length in (2, 4, 8, 16, 32, 64, 128) if length <= longest]
    sums = np.concatenate([[0.0], np.cumsum(values)])
    found = []
    for length in lengths:
        apart = sums[2 * length :] - 2 * sums[length:-length] + sums[: -2 * length]
        found.append(float(np.quantile(np.abs(apart), SHARE)) / (OF_NORMAL * length))
    return Wander(np.array(lengths, np.float64), np.maximum(found, 1e-9))


def sobered(onset: Onset, around: Wander, low: int, high: int) -> Onset:
    """The same change, with its support limited by how much the series wanders between such stretches.

    The probability of its index is unchanged: slow wandering makes levels uncertain, not the run at which they differ.
    """
    error = float(onset.error[onset.index])
    own = around.deviation(onset.best - low, high - onset.best)
    if own <= error:
        return onset
    lost = (1 - (error / own) ** 2) * max(onset.supported, 0.0)
    return replace(onset, support=onset.support - lost, error=onset.error * (own / error))
