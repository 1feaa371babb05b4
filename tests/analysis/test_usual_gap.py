"""The usual gap between bursts of commits: for one table, and for many at once."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from limnograph.analysis.usual_gap import LAST_GAPS, breaks, usual_gap_s, usual_gaps_s

MINUTE, HOUR, DAY = 60, 3_600, 86_400


def usual(*seconds: float) -> float | None:
    return usual_gap_s(np.array(sorted(int(each * 1e6) for each in seconds), np.int64))


def test_two_commits_a_day_five_seconds_apart_are_one_burst() -> None:
    daily = [day * DAY + step for day in range(5) for step in (0, 5)]
    assert usual(*daily) == DAY - 5
    twice = [half * DAY / 2 + step for half in range(9) for step in (0, 5)]
    assert usual(*twice) == DAY / 2 - 5


def test_bursts_of_many_commits_are_one_each_even_if_a_step_takes_some_minutes() -> None:
    nightly = [day * DAY + commit * 20 for day in range(6) for commit in range(300)]
    assert usual(*nightly) == DAY - 299 * 20
    in_two = [day * DAY + step for day in range(6) for step in (0, 5, 40 * MINUTE, 40 * MINUTE + 5)]
    assert usual(*in_two) == pytest.approx(DAY - 40 * MINUTE - 5)


def test_the_longest_gaps_of_a_table_count_not_the_median_one() -> None:
    """Office hours: every ten minutes from nine to five."""
    office = [day * DAY + (9 * 60 + ten) * MINUTE for day in range(5) for ten in range(0, 8 * 60, 10)]
    assert usual(*office) == 600, "the nights are fewer than one gap in ten"
    seldom = [day * DAY + hour * HOUR for day in range(5) for hour in (9, 12, 15)]
    assert usual(*seldom) == 18 * HOUR


def test_a_stream_without_pauses_has_a_gap_of_a_minute() -> None:
    assert usual(*range(0, 2 * HOUR, 10)) == MINUTE
    assert usual(*range(0, HOUR, 10), *range(HOUR + 90, 3 * HOUR, 10)) == 100, "one pause makes it no table of bursts"


def test_an_unknown_gap_is_none() -> None:
    assert usual(0, HOUR, 2 * HOUR, 3 * HOUR) is None, "four commits"
    assert usual(*range(0, 300, 10)) is None, "one load of thirty commits, never again"
    assert usual(*range(0, 300, 10), *range(DAY, DAY + 300, 10)) is None, "two bursts"


def test_many_tables_at_once_equal_each_one_alone() -> None:
    chance = Random(18)
    tables = [np.cumsum([int(chance.lognormvariate(4, 3) * 1e6) for _ in range(n)]) for n in range(1, 200)]
    gaps = np.full((len(tables), LAST_GAPS), np.inf)
    for row, times in enumerate(tables):
        places = breaks(times)[-LAST_GAPS:]
        gaps[row, : len(places)] = times[places] - times[places - 1]
    counts, spans = np.array([len(t) for t in tables]), np.array([t[-1] - t[0] for t in tables])
    together = usual_gaps_s(gaps, counts, spans)
    alone = [usual_gap_s(times) for times in tables]
    assert [None if np.isnan(each) else float(each) for each in together] == alone
    assert sum(each is None for each in alone) < 20
