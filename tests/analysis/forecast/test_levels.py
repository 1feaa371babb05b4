"""Levels by the definition of the contract, and when they crossed."""

from __future__ import annotations

import msgspec
import pytest

from forecast_cases import AS_OF, HOUR_MS, case, rising, runs
from limnograph.analysis.forecast import crossed_at, level_of
from limnograph.domain.forecasts.cases import FactColumns


def test_a_structural_level_is_the_mean_of_the_last_24_states() -> None:
    values = rising(10)
    assert level_of("small_files", case(values)) == pytest.approx(sum(values[-24:]) / 24)


def test_a_state_lasts_until_the_next_commit_and_unknown_hours_do_not_count() -> None:
    facts = FactColumns(at=[AS_OF - 12 * HOUR_MS, AS_OF - 6 * HOUR_MS], span_hours=[1, 1], small_files=[10.0, 40.0])
    assert level_of("small_files", case([], facts=facts)) == pytest.approx(25.0)


def test_a_null_is_not_zero() -> None:
    facts = FactColumns(at=[AS_OF - 12 * HOUR_MS, AS_OF - 6 * HOUR_MS], span_hours=[1, 1], small_files=[10.0, None])
    assert level_of("small_files", case([], facts=facts)) == 10.0
    assert level_of("manifests", case([], facts=facts)) is None


def test_a_readers_level_is_the_median_of_a_days_runs() -> None:
    seconds = [100.0] * 24 * 2 + [1.0] * 13 + [200.0] * 11
    given = case(rising(3), runs=runs(3, seconds, 2.0**31))
    assert level_of("reader_seconds", given) == 1.0
    assert level_of("reader_seconds_per_gib", given) == 0.5


def test_runs_of_unknown_bytes_do_not_change_how_many_runs_a_day_has() -> None:
    seconds = [100.0] * 24 * 2 + [1.0] * 12 + [200.0] * 12
    given = runs(3, seconds, 2.0**30)
    read = [size if place % 3 == 0 else None for place, size in enumerate(given.read_bytes)]
    known = case(rising(3), runs=msgspec.structs.replace(given, read_bytes=read))
    assert level_of("reader_seconds_per_gib", known) == 100.0  # of 24 known ones: 4, 16 and 4


def test_a_crossing_is_the_first_full_hour_at_or_above_the_threshold() -> None:
    values = rising(4)
    given = case(values)
    crossed = crossed_at("small_files", 300.0, given, given.first_seen, AS_OF)
    assert crossed is not None
    assert level_of("small_files", given, crossed) >= 300.0  # type: ignore[operator]
    assert level_of("small_files", given, crossed - HOUR_MS) < 300.0  # type: ignore[operator]
    assert crossed_at("small_files", 1e6, given, given.first_seen, AS_OF) is None
    assert crossed_at("small_files", 300.0, given, crossed, AS_OF) == crossed + HOUR_MS


def test_daily_rows_know_the_state_at_the_end_of_their_day() -> None:
    day = AS_OF - 72 * HOUR_MS
    facts = FactColumns(at=[day, day + 24 * HOUR_MS], span_hours=[24, 24], small_files=[5.0, 9.0])
    given = msgspec.structs.replace(case([], facts=facts), first_seen=day)
    assert level_of("small_files", given) == pytest.approx(9.0)
    assert level_of("small_files", given, day + 47 * HOUR_MS) == pytest.approx(5.0)
