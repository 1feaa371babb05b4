"""Bounds at 95 % of a predicted change, and the number of further runs until a verdict is likely."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import NamedTuple

from limnograph.analysis.effect.prediction import Prediction, expected_deviations
from limnograph.analysis.effect.process import Floats

_Z = 1.959964
_EXACT_RUNS, _MOST_RUNS = 128, 1_000
_NORMAL = NormalDist()


class EffectBounds(NamedTuple):
    """A change of log durations.

    quantile    97.5 % quantile for `deviation`
    fixed       the part of half the width that further runs do not narrow
    prediction  the source of these numbers
    """

    change: float
    low: float
    high: float
    quantile: float
    deviation: float
    fixed: float
    prediction: Prediction


def bounds_of(prediction: Prediction, response_sd: float) -> EffectBounds:
    """`response_sd`: standard deviation added by the response to other jobs."""
    quantile = student_quantile(prediction.freedom)
    fixed = _Z * response_sd
    half = math.hypot(quantile * prediction.deviation, fixed)
    low, high = prediction.change - half, prediction.change + half
    return EffectBounds(prediction.change, low, high, quantile, prediction.deviation, fixed, prediction)


def student_quantile(freedom: float) -> float:
    """The 97.5 % quantile, by Cornish-Fisher expansion (Abramowitz and Stegun 26.7.5), for 3 degrees or more."""
    z = _Z
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
    )
    return z + sum(term / freedom**power for power, term in enumerate(terms, 1))


def runs_until_verdict(bounds: EffectBounds, at: Floats, before: int, no_effect: float) -> int | None:
    """Minimum number of further runs after which a verdict is more likely than not; None if 1,000 are not enough.

    The estimate may move by as much as the variance that further runs remove. Deviations for up to 128 further runs
    come from the process; beyond, they follow a power law with the rate of the second half.
    """
    expected = expected_deviations(at, before, bounds.prediction, _EXACT_RUNS)
    after = at.size - before
    half = _EXACT_RUNS // 2
    pace = math.log(expected[_EXACT_RUNS] / expected[half]) / math.log((after + _EXACT_RUNS) / (after + half))
    more = 1
    while more <= _MOST_RUNS:
        beyond = (after + max(more, _EXACT_RUNS)) / (after + _EXACT_RUNS)
        relative = float(expected[min(more, _EXACT_RUNS)]) * beyond**pace
        then = bounds.deviation * min(1.0, relative)
        moves = math.sqrt(bounds.deviation**2 - then**2)
        if _chance(bounds, then, moves, no_effect) > 0.5:
            return more
        more = more + 1 if more < 64 else math.ceil(more * 1.05)
    return None


def _chance(bounds: EffectBounds, deviation: float, moves: float, no_effect: float) -> float:
    """Probability that bounds of that deviation yield a verdict, if the estimate moves by a normal step of `moves`."""
    half = math.hypot(bounds.quantile * deviation, bounds.fixed)

    def below(bound: float) -> float:
        if moves < 1e-9:
            return float(bounds.change < bound)
        return _NORMAL.cdf((bound - bounds.change) / moves)

    decided = below(-half) + 1 - below(half)
    narrow = below(math.log1p(no_effect) - half) - below(math.log1p(-no_effect) + half)
    return decided + max(0.0, narrow)
