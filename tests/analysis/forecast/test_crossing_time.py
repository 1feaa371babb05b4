"""When a level crosses: by the median path before the first horizon, by the probabilities after it."""

from __future__ import annotations

import numpy as np
import pytest

from limnograph.analysis.forecast.answering import TargetNumbers, median_crossing


def numbers(level: float, middle: float, p: float) -> TargetNumbers:
    """A target with threshold 100; `middle` and `p`: median and probability of a crossing at a day."""
    late = max(p, 0.8)
    return TargetNumbers(
        metric="small_files",
        threshold=100.0,
        level=level,
        quantiles={24: np.array([level, middle, middle + 9]), 168: np.array([level, 2 * middle, 3 * middle])},
        curve={24: p, 72: late, 168: late},
        maintained=None,
        unchanged=False,
        drivers=[],
    )


@pytest.mark.parametrize(
    ("level", "middle", "p", "hours"),
    [
        (96.0, 144.0, 1.0, 2.0),  # nearly there, and certain: within hours, not at half a day
        (52.0, 100.0, 0.6, 24.0),
        (52.0, 99.0, 0.6, 20.0),  # the median path does not reach it: the probabilities decide
        (99.9, 900.0, 1.0, 1.0),
        (90.0, 95.0, 0.2, 48.0),  # after the first horizon
    ],
)
def test_the_time_of_a_crossing(level: float, middle: float, p: float, hours: float) -> None:
    assert median_crossing(numbers(level, middle, p)) == pytest.approx(hours)


def test_a_red_target_and_one_of_unknown_level_have_none() -> None:
    assert median_crossing(numbers(100.0, 120.0, 1.0)) is None
    assert median_crossing(numbers(float("nan"), 120.0, 1.0)) is None
