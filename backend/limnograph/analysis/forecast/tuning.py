"""Corrections that a model brings along, learnt on fleets that it was not trained on.

They come after those of a fleet's own past (`adaptation.py`): that past is judged by what was observed, these by what
was true. One slope and shift of the log odds by horizon, one factor for each side of the interval by horizon and
metric, and the risk from which on a table is on the list.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from limnograph.analysis.forecast.grid import Floats, Longs

ALERT_P = 0.5
"""Without a tuning: likelier than not."""


class Tuning(NamedTuple):
    """`odds[row]`: slope and shift; `sides[row, metric]`: factors of the lower and upper side; `alert`: least risk
    within a week of a table on the list. Rows are those of `model.STEPS`, metrics those of `views.METRICS`.
    """

    odds: Floats
    sides: Floats
    alert: float

    def shifted(self, odds: Floats, row: int) -> Floats:
        """Log odds after the correction."""
        slope, shift = self.odds[row]
        return np.asarray(slope * odds + shift)

    def scaled(self, moves: Floats, metric: Longs, row: int) -> Floats:
        """Quantiles `[3, view]` after the correction."""
        low, high = self.sides[row, metric].T
        middle = moves[1]
        return np.stack([middle - low * (middle - moves[0]), middle, middle + high * (moves[2] - middle)])

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Arrays to store."""
        return {"tuning.odds": self.odds, "tuning.sides": self.sides, "tuning.alert": np.array(self.alert)}


def no_tuning(steps: int, metrics: int) -> Tuning:
    """A tuning that changes nothing."""
    return Tuning(np.tile([1.0, 0.0], (steps, 1)), np.ones((steps, metrics, 2)), ALERT_P)


def stored_tuning(arrays: Mapping[str, npt.NDArray[Any]], steps: int, metrics: int) -> Tuning:
    """The tuning of a stored model; one that changes nothing if it has none for these steps and metrics."""
    plain = no_tuning(steps, metrics)
    odds, sides = arrays.get("tuning.odds", plain.odds), arrays.get("tuning.sides", plain.sides)
    if odds.shape != plain.odds.shape or sides.shape != plain.sides.shape:
        return plain
    return Tuning(odds, sides, float(arrays.get("tuning.alert", ALERT_P)))
