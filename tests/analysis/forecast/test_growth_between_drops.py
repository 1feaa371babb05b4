"""What comes in a day, whatever maintenance takes away again."""

from __future__ import annotations

import numpy as np
import pytest

from limnograph.analysis.forecast.drops import growth_per_day

HOURS = np.arange(20 * 24, dtype=np.float64)


def test_a_table_that_is_compacted_every_night_grows_by_what_it_receives_in_a_day() -> None:
    assert growth_per_day(4_000 + 50 * (HOURS % 24)) == pytest.approx(50 * 23)


def test_a_steady_rise_is_its_rise_of_a_day() -> None:
    assert growth_per_day(1_000 + 2 * HOURS) == pytest.approx(48)


def test_small_falls_count_and_hours_before_the_first_state_do_not() -> None:
    states = 10_000 - HOURS
    states[:100] = np.nan
    assert growth_per_day(states) == pytest.approx(-24)


def test_less_than_a_day_says_nothing() -> None:
    assert np.isnan(growth_per_day(HOURS[:24]))
