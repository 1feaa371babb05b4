"""How far apart two neighbouring stretches of runs lie anywhere in a series: what a change has to stand out of.

AR(1) around levels that were just fitted knows no noise that is slower than them; this knows what the series does by
itself at each length (Allan 1966: two-sample deviation), and a few true changes do not move it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from limnograph.analysis.explain.case import Floats
from limnograph.analysis.explain.onset import Onset

LONGEST, LEAST_STRETCHES = 128, 16
"""Runs of a stretch, at most; and a series has this many of the longest requested."""
TREND = 3
"""Lengths over which the deviation's trend is read."""
SHARE, OF_NORMAL = 0.35, 0.4538
"""Quantile of the distances that is taken, and what it is of a standard normal law's: changes are in the upper ones."""


@dataclass(frozen=True, slots=True)
class Wander:
    """Sums of a series, and the deviation between neighbouring stretches of 2, 4, 8 ... runs."""

    lengths: Floats
    deviations: Floats

    def deviation(self, before: int, after: int) -> float:
        """Of the difference of two stretches of so many runs, from what all stretches of the shorter's length show.

        Beyond the longest that was measured it goes on as it did, at most as white noise falls.
        """
        if self.lengths.size == 0:
            return 0.0
        short, long = min(before, after), max(before, after)
        logs = np.log(self.lengths)
        found = float(np.interp(np.log(max(short, 1)), logs, self.deviations))
        if short > self.lengths[-1] and self.lengths.size >= TREND:
            slope = np.log(self.deviations[-1] / self.deviations[-TREND]) / (logs[-1] - logs[-TREND])
            found *= float((short / self.lengths[-1]) ** np.clip(slope, -0.5, 0.0))
        # The mean of the longer stretch is the surer one.
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
    """The same change, believed no more than the series' own wandering between such stretches lets one.

    Where it sets in is known as before: slow wandering makes levels doubtful, not the run at which they part.
    """
    error = float(onset.error[onset.index])
    own = around.deviation(onset.best - low, high - onset.best)
    if own <= error:
        return onset
    lost = (1 - (error / own) ** 2) * max(onset.supported, 0.0)
    return replace(onset, support=onset.support - lost, error=onset.error * (own / error))
