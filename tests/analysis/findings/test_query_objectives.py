"""`objective_missed` of queries: the 95th percentile of an hour against its limit."""

from __future__ import annotations

import numpy as np
import pytest

from limnograph.analysis.findings.queries import LEAST_QUERIES, LOOK_BACK, slow_queries
from limnograph.domain.finding_limits import DAY, HOUR, MINUTE
from limnograph.domain.objectives import PromisedLimit
from limnograph.domain.time import Micros

SECOND = 1_000_000
START = 1_795_000_020 * SECOND
LIMIT = PromisedLimit(5 * SECOND, 10 * MINUTE)


def episodes(queries: list[tuple[int, float]], until: int):
    """Episodes of queries `(microseconds after START, seconds)`."""
    times, seconds = zip(*sorted(queries), strict=True)
    return slow_queries(np.array(times, np.int64) + START, np.array(seconds), Micros(START + until), LIMIT)


def each_minute(first: int, last: int, seconds: float) -> list[tuple[int, float]]:
    return [(at * MINUTE, seconds) for at in range(first, last)]


def test_queries_within_the_limit_open_nothing_and_a_rare_slow_one_neither() -> None:
    quick = each_minute(0, 120, 1.0)
    assert episodes(quick, 2 * HOUR) == []
    assert episodes([*quick, (61 * MINUTE, 90.0), (62 * MINUTE, 90.0)], 2 * HOUR) == []


def test_a_limit_that_is_exceeded_for_its_window_is_missed_until_it_is_kept_for_one() -> None:
    slow = [*each_minute(0, 60, 1.0), *each_minute(60, 90, 8.0)]
    assert episodes(slow, 70 * MINUTE) == []
    (open_one,) = episodes(slow, 90 * MINUTE)
    began = open_one.stretch.began - START
    assert 60 * MINUTE < began <= 65 * MINUTE
    assert open_one.stretch.opened == open_one.stretch.began + 10 * MINUTE
    assert open_one.stretch.closed is None
    assert (open_one.subject, open_one.severity) == ("queries", "critical")
    assert open_one.evidence == {"threshold_seconds": 5.0, "seconds": 8.0, "queries": 59}
    (closed,) = episodes([*slow, *each_minute(90, 300, 1.0)], 300 * MINUTE)
    assert closed.stretch.began == open_one.stretch.began
    last_slow_leaves = START + (89 + 60) * MINUTE
    assert closed.stretch.closed is not None
    assert closed.stretch.closed <= last_slow_leaves + 11 * MINUTE
    assert closed.stretch.closed_by is None


def test_few_queries_say_nothing_and_silence_ends_a_miss() -> None:
    assert episodes(each_minute(0, LEAST_QUERIES - 1, 90.0), 40 * MINUTE) == []
    (missed,) = episodes(each_minute(0, 30, 90.0), 5 * HOUR)
    assert missed.stretch.closed is not None
    assert missed.evidence == {"threshold_seconds": 5.0}


def test_unknown_durations_are_left_out() -> None:
    queries = [*each_minute(0, 30, 90.0), *each_minute(0, 30, float("nan"))]
    (missed,) = episodes(queries, 30 * MINUTE)
    assert missed.evidence["queries"] == 30


def test_a_miss_from_before_the_look_back_is_truncated() -> None:
    (missed,) = episodes(each_minute(0, 3 * 24 * 60, 90.0), 3 * DAY)
    assert missed.stretch.truncated
    assert missed.stretch.began >= START + 3 * DAY - LOOK_BACK


@pytest.mark.parametrize("count", [5, 19, 20, 21, 100])
def test_the_percentile_is_a_duration_that_95_percent_do_not_exceed(count: int) -> None:
    slow = count // 20 + (count % 20 > 0)
    queries = [(n * SECOND, 9.0 if n < slow + 1 else 1.0) for n in range(count)]
    assert len(episodes(queries, 30 * MINUTE)) == 1
    within = [(n * SECOND, 9.0 if n < count // 20 else 1.0) for n in range(count)]
    assert episodes(within, 30 * MINUTE) == []
