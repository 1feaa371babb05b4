"""Skew of partition sizes: the cases that one number alone would miss (peers §4), and bounds that always hold."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from limnograph.analysis.skew import Skew, skew


def of(*sizes: int) -> Skew:
    return skew(np.array(sizes, np.int64))


def test_without_partitions_there_is_no_skew() -> None:
    assert of() == of(0, 0) == Skew(None, None, None, None)


def test_equal_partitions_are_not_skewed() -> None:
    assert of(7, 7, 7, 7) == Skew(1.0, 0.0, 0.0, 0.25)


def test_one_hot_partition_of_a_thousand_shows_in_max_over_median() -> None:
    found = of(*[100] * 999, 2_000)
    assert found.max_over_median == 20
    assert found.gini == pytest.approx(0.0186, abs=1e-3)
    assert found.top1_share == pytest.approx(0.0196, abs=1e-3)
    assert found.cv == pytest.approx(0.59, abs=0.01)


def test_a_median_of_zero_has_no_ratio() -> None:
    found = of(0, 0, 9)
    assert (found.max_over_median, found.top1_share, found.gini) == (None, 1.0, pytest.approx(2 / 3))


@given(st.lists(st.integers(0, 2**50), min_size=1, max_size=50))
def test_shares_are_between_0_and_1(sizes: list[int]) -> None:
    found = of(*sizes)
    if sum(sizes):
        assert found.top1_share == pytest.approx(max(sizes) / sum(sizes))
        pairs = sum(abs(a - b) for a in sizes for b in sizes)
        assert found.gini == pytest.approx(pairs / (2 * len(sizes) * sum(sizes)), abs=1e-9)
