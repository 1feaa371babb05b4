"""Periods of partitions by their texts, and the partition that exceeds the same period of other days by most."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from limnograph.analysis.hot_partition import HotPartition, PartitionSize, hottest
from limnograph.analysis.partition_periods import period_of
from limnograph.domain.time import Micros

FRIDAY = datetime(2026, 11, 20, tzinfo=UTC)


def micros(instant: datetime) -> Micros:
    return Micros(int(instant.timestamp()) * 1_000_000)


@pytest.mark.parametrize(
    ("text", "start", "hours"),
    [
        ("ts_day=2026-11-20/region=eu", FRIDAY, 24),
        ("region=eu/dt=20261120", FRIDAY, 24),
        ("ts_month=2026-11", FRIDAY.replace(day=1), 720),
        ("ts_hour=2026-11-20-05/id_bucket=3", FRIDAY.replace(hour=5), 1),
        ("year=2026/month=11/day=20/hour=05", FRIDAY.replace(hour=5), 1),
        ("yyyy=2026/mm=2", datetime(2026, 2, 1, tzinfo=UTC), 672),
        ("dt=2026-11-20/hour=5", FRIDAY.replace(hour=5), 1),
        ("2026/11/20", FRIDAY, 24),
    ],
)
def test_a_partition_has_the_period_that_its_text_names(text: str, start: datetime, hours: int) -> None:
    found = period_of(text)
    assert found is not None
    assert (found.start, found.end) == (micros(start), micros(start + timedelta(hours=hours)))


@pytest.mark.parametrize(
    "text", ["", "region=eu", "dt=null", "id=12345678", "d=2026-13-40", "month=11", "n=202611", "year=2026"]
)
def test_a_partition_without_a_date_has_no_period(text: str) -> None:
    assert period_of(text) is None


def test_peers_differ_in_their_period_only() -> None:
    eu, us = period_of("day=2026-11-20/region=eu"), period_of("day=2026-11-19/region=us")
    other_day, hour = period_of("day=2026-11-19/region=eu"), period_of("day=2026-11-20-05/region=eu")
    assert eu
    assert us
    assert other_day
    assert hour
    assert eu.peers == other_day.peers
    assert len({eu.peers, us.peers, hour.peers}) == 3


def days(*sizes: tuple[int, int], last: datetime = FRIDAY, other: str = "") -> list[PartitionSize]:
    """A partition a day, the last one on `last`: data files and bytes of each."""
    first = last - timedelta(days=len(sizes) - 1)
    return [PartitionSize(f"day={(first + timedelta(days=n)).date()}{other}", *size) for n, size in enumerate(sizes)]


NOON = micros(FRIDAY + timedelta(hours=12))


def test_the_ratio_is_that_of_bytes_or_of_files_whichever_is_less() -> None:
    usual = [(10, 1_000)] * 8
    assert hottest(days(*usual, (200, 12_000)), NOON) == HotPartition("day=2026-11-20", 12.0)
    assert hottest(days(*usual, (30, 50_000)), NOON) == HotPartition("day=2026-11-20", 3.0)


def test_fewer_than_eight_peers_say_nothing() -> None:
    assert hottest(days(*[(10, 1_000)] * 7, (200, 12_000)), NOON) is None
    assert hottest([], NOON) is None


def test_the_peers_of_a_day_are_its_weekday_where_eight_weeks_are_known() -> None:
    weeks = [(100, 10_000) if day % 7 == 6 else (10, 1_000) for day in range(63)]
    assert hottest(days(*weeks), NOON) == HotPartition("day=2026-11-20", 1.0)
    found = hottest(days(*weeks[7 * 2 :]), NOON)
    assert found is not None
    assert found.ratio == 10, "with seven weeks, the last days are its peers"


def test_yesterday_counts_and_the_day_before_does_not() -> None:
    sizes = [*[(10, 1_000)] * 8, (200, 20_000), (150, 15_000), (10, 1_000)]
    assert hottest(days(*sizes), NOON) == HotPartition("day=2026-11-19", 15.0)


def test_a_partition_far_in_the_future_is_not_compared() -> None:
    sizes = [*days(*[(10, 1_000)] * 9), PartitionSize("day=2030-01-01", 900, 900_000)]
    assert hottest(sizes, NOON) == HotPartition("day=2026-11-20", 1.0)


def test_other_values_have_their_own_peers() -> None:
    eu = days(*[(100, 10_000)] * 9, other="/region=eu")
    us = days(*[(10, 1_000)] * 8, (40, 4_000), other="/region=us")
    assert hottest([*eu, *us], NOON) == HotPartition("day=2026-11-20/region=us", 4.0)
