"""Depth of overlap equals counting, for every bound, the files of its partition that cover it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from limnograph.analysis import overlap as module
from limnograph.analysis.overlap import Overlap, overlap

File = tuple[int, int, int]


def of(files: Sequence[File], unbounded: int = 0) -> Overlap:
    columns = np.array(files, np.int64).reshape(-1, 3).T
    return overlap(columns[0], columns[1], columns[2], unbounded)


def counted(files: Sequence[File]) -> tuple[int | None, float | None]:
    depths: list[int] = []
    for partition in {file[0] for file in files}:
        ranges = [(low, high) for place, low, high in files if place == partition and low <= high]
        points = {bound for pair in ranges for bound in pair}
        depths += [sum(low <= point <= high for low, high in ranges) for point in points]
    return (max(depths), sum(depths) / len(depths)) if depths else (None, None)


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ([], Overlap(None, None, 0)),
        ([(0, 1, 2), (0, 3, 4)], Overlap(1, 1.0, 0)),
        ([(0, 1, 2), (0, 2, 4)], Overlap(2, 4 / 3, 0)),
        ([(0, 1, 9)] * 3, Overlap(3, 3.0, 0)),
        ([(0, 1, 9), (1, 1, 9)], Overlap(1, 1.0, 0)),
        ([(0, 9, 1)], Overlap(None, None, 1)),
    ],
)
def test_depths_by_hand(files: list[File], expected: Overlap) -> None:
    assert of(files) == expected


def test_files_without_bounds_are_counted_and_left_out() -> None:
    assert of([(0, 1, 2)], unbounded=3) == Overlap(1, 1.0, 3)


INTERVALS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 20), st.integers(0, 20)), max_size=40)


@given(INTERVALS)
def test_a_sweep_over_any_intervals_equals_plain_counting(files: list[File]) -> None:
    found = of(files)
    deepest, mean = counted(files)
    assert found.depth_max == deepest
    assert found.depth_mean == (pytest.approx(mean) if mean is not None else None)
    assert found.left_out == sum(low > high for _, low, high in files)


def test_a_sweep_in_several_batches_makes_no_difference() -> None:
    rng = np.random.default_rng(3)
    partition, low = rng.integers(0, 40, 3 * module.AT_ONCE), rng.integers(0, 2**60, 3 * module.AT_ONCE)
    found = overlap(partition, low, low + 2**53)
    parts = [overlap(partition[rows], low[rows], low[rows] + 2**53) for rows in (partition == p for p in range(40))]
    assert found.depth_max == max(part.depth_max or 0 for part in parts)
    assert found.depth_mean == pytest.approx(sum(part.depth_mean or 0 for part in parts) / 40, rel=1e-3)


def test_unsigned_keys_keep_their_order_beyond_63_bits() -> None:
    low = np.array([0, 2**63, 2**64 - 2], np.uint64)
    assert overlap(np.zeros(3, np.int64), low, low + np.uint64(1)) == Overlap(1, 1.0, 0)


def test_large_partitions_among_small_ones_are_swept_as_if_alone() -> None:
    rng = np.random.default_rng(5)
    partition = np.concatenate([np.full(2 * module.ALONE, 70_000), rng.integers(0, 9, 90), np.full(module.ALONE, 4)])
    rng.shuffle(partition)
    low = rng.integers(0, 50, partition.size)
    high = low + rng.integers(-1, 5, partition.size)
    files = [tuple(file) for file in zip(partition.tolist(), low.tolist(), high.tolist(), strict=True)]
    found, (deepest, mean) = of(files), counted(files)
    assert (found.depth_max, found.depth_mean) == (deepest, pytest.approx(mean))
