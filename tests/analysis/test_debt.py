"""Debt equals what Iceberg's planner would select: cases by hand, and the planner's own steps written out slowly."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from limnograph.analysis.debt import Debt, debt, expected_outputs
from limnograph.domain.metadata.targets import GIB, MIB, Targets, targets_of

ICEBERG = targets_of("iceberg", {})
assert ICEBERG
TINY = Targets(target=100, small_below=75, large_above=180, min_input_files=5, max_group_bytes=400, rule="")
UPPERLESS = TINY._replace(large_above=None, min_input_files=2)


def of(sizes: list[int], rule: Targets, groups: list[int] | None = None, deleted: list[bool] | None = None) -> Debt:
    group = np.array(groups or [0] * len(sizes), np.int64)
    flags = None if deleted is None else np.array(deleted, np.bool_)
    return debt(group, np.array(sizes, np.int64), rule, flags)


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ([], Debt(0, 0, 0, 0, 0)),
        ([MIB] * 4, Debt(0, 0, 0, 0, 0)),
        ([MIB] * 5, Debt(5, 5 * MIB, 1, 1, 4)),
        ([300 * MIB, 300 * MIB], Debt(2, 600 * MIB, 1, 2, 0)),
        ([384 * MIB] * 9, Debt(0, 0, 0, 0, 0)),
        ([384 * MIB - 1] * 2, Debt(2, 768 * MIB - 2, 1, 2, 0)),
        ([2 * GIB], Debt(1, 2 * GIB, 1, 4, 0)),
        ([921 * MIB], Debt(0, 0, 0, 0, 0)),
        ([922 * MIB], Debt(1, 922 * MIB, 1, 2, 0)),
    ],
)
def test_debt_is_computed_with_the_default_target(sizes: list[int], expected: Debt) -> None:
    assert of(sizes, ICEBERG) == expected


def test_partitions_are_planned_independently() -> None:
    assert of([10] * 8, TINY, [1, 2] * 4) == Debt(0, 0, 0, 0, 0)
    assert of([10] * 9, TINY, [1, 2] * 4 + [1]) == Debt(5, 50, 1, 1, 4)


def test_a_file_with_many_deletes_alone_is_debt() -> None:
    assert of([100, 100], TINY, None, [True, False]) == Debt(1, 100, 1, 1, 0)


def test_a_group_is_closed_by_the_first_file_that_does_not_fit() -> None:
    # 200 + 190 fit into 400; 30 opens the next group, into which the rest goes.
    assert of([200, 190, 30, 200], TINY) == Debt(4, 620, 2, 7, 0)


@pytest.mark.parametrize(
    ("total", "files"),
    [(99, 1), (100, 1), (109, 1), (111, 2), (175, 2), (176, 2), (309, 3), (329, 3), (333, 4), (376, 4)],
)
def test_a_lesser_remainder_is_spread_while_files_stay_below_a_tenth_more(total: int, files: int) -> None:
    assert expected_outputs(total, TINY) == files


def planned(sizes: list[int], groups: list[int], deleted: list[bool], rule: Targets) -> Debt:
    """BinPackRewriteFilePlanner, step by step."""
    found = [0, 0, 0, 0, 0]
    for partition in sorted(set(groups)):
        bins: list[list[tuple[int, bool]]] = []
        for size, group, by_delete in zip(sizes, groups, deleted, strict=True):
            too_large = rule.large_above is not None and size > rule.large_above
            if group != partition or not (size < rule.small_below or too_large or by_delete):
                continue
            if not bins or sum(s for s, _ in bins[-1]) + size > rule.max_group_bytes:
                bins.append([])
            bins[-1].append((size, by_delete))
        for files in bins:
            total, count = sum(size for size, _ in files), len(files)
            enough = count > 1 and (count >= rule.min_input_files or total > rule.target)
            too_much = rule.large_above is not None and total > rule.large_above
            if enough or too_much or any(by_delete for _, by_delete in files):
                outputs = expected_outputs(total, rule)
                saved = count - outputs if outputs <= count / 2 else 0
                found = [a + b for a, b in zip(found, (count, total, 1, outputs, saved), strict=True)]
    return Debt(*found)


FILES = st.lists(st.tuples(st.integers(0, 500), st.integers(0, 3), st.booleans()), max_size=60)


@given(FILES, st.sampled_from([TINY, UPPERLESS]))
def test_plans_equal_those_of_the_planner_for_any_files(files: list[tuple[int, int, bool]], rule: Targets) -> None:
    sizes, groups, deleted = (list(column) for column in zip(*files, strict=True)) if files else ([], [], [])
    assert of(sizes, rule, groups, deleted) == planned(sizes, groups, deleted, rule)
