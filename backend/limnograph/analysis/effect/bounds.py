"""Bounds at 95 % of a predicted step, and how many further runs would decide."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import NamedTuple

from limnograph.analysis.effect.prediction import Prediction

_Z = 1.959964
_MOST_RUNS = 1_000
_NORMAL = NormalDist()


class Bounds(NamedTuple):
    """A step of log durations. `quantile`: of 95 %, for `deviation`; `fixed`: half a width that further runs do not
    narrow. `noise`, `carry`, `wander`: what they would add.
    """

    step: float
    low: float
    high: float
    quantile: float
    deviation: float
    fixed: float
    noise: float
    carry: float
    wander: float


def bounds_of(prediction: Prediction, response_sd: float) -> Bounds:
    """`response_sd`: standard deviation that the response to other jobs adds."""
    quantile = student_quantile(prediction.freedom)
    fixed = _Z * response_sd
    half = math.hypot(quantile * prediction.deviation, fixed)
    process = prediction.process
    return Bounds(
        prediction.step,
        prediction.step - half,
        prediction.step + half,
        quantile,
        prediction.deviation,
        fixed,
        prediction.noise,
        process.carry * process.part,
        process.wander * prediction.noise,
    )


def student_quantile(freedom: float) -> float:
    """Of 97.5 %, by the expansion of Cornish and Fisher (Abramowitz and Stegun 26.7.5), for 3 degrees or more."""
    z = _Z
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
    )
    return z + sum(term / freedom**power for power, term in enumerate(terms, 1))


def runs_until_verdict(bounds: Bounds, runs: int, no_effect: float) -> int | None:
    """Least number of further runs after which a verdict is more likely than not; None when 1,000 would not do.

    The noise of the runs after shrinks with their number, the level's wandering grows, the rest stays. Where the
    estimate will lie then is as uncertain as the variance that goes away.
    """
    per_run = bounds.noise**2 * (1 + bounds.carry) / (1 - min(bounds.carry, 0.95))
    now = bounds.deviation**2
    fixed = max(now - per_run / runs - bounds.wander**2 * runs / 3, 0.05 * now)
    more = 1
    while more <= _MOST_RUNS:
        total = runs + more
        then = fixed + per_run / total + bounds.wander**2 * total / 3
        if _chance(bounds, math.sqrt(then), math.sqrt(max(now - then, 0.0)), no_effect) > 0.5:
            return more
        more = more + 1 if more < 64 else math.ceil(more * 1.05)
    return None


def _chance(bounds: Bounds, deviation: float, moves: float, no_effect: float) -> float:
    """That bounds of that deviation give a verdict, if the estimate moves by a normal step of `moves`."""
    half = math.hypot(bounds.quantile * deviation, bounds.fixed)

    def below(edge: float) -> float:
        if moves < 1e-9:
            return float(bounds.step < edge)
        return _NORMAL.cdf((edge - bounds.step) / moves)

    decided = below(-half) + 1 - below(half)
    narrow = below(math.log1p(no_effect) - half) - below(math.log1p(-no_effect) + half)
    return decided + max(0.0, narrow)
