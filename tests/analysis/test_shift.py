"""By how much runs became slower, and how sure that is."""

from random import Random

import pytest

from limnograph.analysis.shift import shift


def test_equal_steps_are_measured_exactly() -> None:
    assert shift([52.0] * 10, [160.0] * 10) == (108.0, 108.0, 108.0)


def test_one_slow_run_does_not_distort_the_result() -> None:
    usual = [51.0, 52.0, 53.0, 52.0, 54.0, 52.0, 51.0, 53.0, 52.0]
    found = shift([*usual, 52.0], [*usual, 900.0])
    assert found is not None
    assert found.change == 0
    assert found.low is not None
    assert found.low < 0 < found.high < 5


def test_few_runs_have_no_bounds_and_none_have_no_change() -> None:
    assert shift([1.0, 2.0, 3.0], [4.0, 5.0, 6.0]) == (3.0, None, None)
    assert shift([1.0, 2.0, 3.0, 4.0], [11.0, 12.0, 13.0, 14.0]) == (10.0, 7.0, 13.0)
    assert shift([], [1.0]) is None


@pytest.mark.parametrize("sizes", [(4, 4), (6, 12), (30, 30)])
def test_the_bounds_cover_the_truth_in_about_95_of_100_cases(sizes: tuple[int, int]) -> None:
    chance, held = Random(7), 0
    for _ in range(400):
        before = [chance.lognormvariate(4.0, 0.3) for _ in range(sizes[0])]
        after = [chance.lognormvariate(4.0, 0.3) + 20.0 for _ in range(sizes[1])]
        found = shift(before, after)
        assert found is not None
        assert found.low is not None
        assert found.high is not None
        held += found.low <= 20.0 <= found.high
    assert 0.92 <= held / 400 <= 0.995
