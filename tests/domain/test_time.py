"""Ranges snap to their step, stay within the point limit, and refuse nonsense by field."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from limnograph.domain.errors import InvalidInput
from limnograph.domain.time import MAX_POINTS, STEPS, TimeRange, choose_step

HOUR = 3_600_000


def test_ends_snap_outwards_to_the_step() -> None:
    assert TimeRange.parse(61_000, 119_000, 60) == (60_000, 120_000, 60)


def test_instants_start_at_the_start_and_leave_out_the_end() -> None:
    assert list(TimeRange.parse(0, 180_000, 60).instants()) == [0, 60_000, 120_000]


@given(st.integers(0, 4_000_000_000_000), st.integers(1, 400 * 24 * HOUR))
def test_a_chosen_step_covers_the_range_within_the_limit(start: int, width: int) -> None:
    found = TimeRange.parse(start, start + width, None)
    assert found.start <= start < start + width <= found.end
    assert len(found.instants()) <= MAX_POINTS
    assert found.start % (found.step_s * 1000) == 0


@pytest.mark.parametrize(
    ("start", "end", "step", "field"),
    [
        (-1, HOUR, None, "from"),
        (0, 99_999_999_999_999, None, "to"),
        (HOUR, HOUR, None, "to"),
        (HOUR, 0, 60, "to"),
        (0, HOUR, 0, "step"),
        (0, HOUR, 86_401, "step"),
        (0, 24 * HOUR, 1, "step"),
        (0, 10_000 * 24 * HOUR, None, "from"),
        (0, 10_000 * 24 * HOUR, 86_400, "from"),
    ],
)
def test_a_malformed_range_names_its_field(start: int, end: int, step: int | None, field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        TimeRange.parse(start, end, step)
    assert caught.value.field == field


def test_steps_divide_a_day_so_that_buckets_repeat() -> None:
    assert all(86_400 % step == 0 for step in STEPS)
    assert choose_step(24 * HOUR) == 120
