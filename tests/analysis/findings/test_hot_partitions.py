"""`hot_partition`: opens for a new partition that is far larger than usual, and closes when it is merged or old."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from limnograph.analysis.findings.episodes import Episode, episodes
from limnograph.analysis.findings.table_state import TableState, advance, due
from limnograph.domain.finding_limits import FindingLimits
from limnograph.domain.time import Micros
from table_facts import DAY, GIB, HOUR, MINUTE, START, FactsBuilder

LIMITS = FindingLimits()
FIRST = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=START)


def day(number: int) -> str:
    return f"day={(FIRST + timedelta(days=number)).date()}"


def month(number: int) -> str:
    first = (FIRST.replace(day=1) + timedelta(days=31 * number)).replace(day=1)
    return f"month={first:%Y-%m}"


def history(*rows: tuple[int, str, float], **defaults: float) -> FactsBuilder:
    table = FactsBuilder(**defaults)
    for when, partition, ratio in rows:
        table.commit(when, hot_partition=partition, hot_partition_ratio=ratio)
    return table


def found(table: FactsBuilder, instant: int, state: TableState | None = None) -> list[Episode]:
    every = episodes(table.facts, LIMITS, Micros(START + instant), state)
    return [each for each in every if each.code == "hot_partition"]


def hot(table: FactsBuilder, instant: int) -> set[str]:
    return {each.subject for each in found(table, instant) if each.stretch.closed is None}


def test_a_partition_ten_times_as_large_as_usual_opens_and_a_compaction_closes_it() -> None:
    table = history((HOUR, day(0), 4.0), (5 * HOUR, day(0), 12.0), (6 * HOUR, day(0), 14.0))
    assert hot(table, 5 * HOUR + 9 * MINUTE) == set()
    assert hot(table, 6 * HOUR) == {day(0)}
    (episode,) = found(table, 7 * HOUR)
    assert (episode.severity, episode.evidence) == ("warning", {"peak": 14, "threshold": 10})
    assert episode.cause is not None
    assert episode.cause.snapshot_ids == (2,)
    table.commit(9 * HOUR, "replace", hot_partition=day(0), hot_partition_ratio=1.1)
    (closed,) = found(table, 10 * HOUR)
    assert (closed.stretch.closed, closed.stretch.closed_by) == (START + 9 * HOUR, "4")


def test_it_ends_when_the_next_period_is_over() -> None:
    table = history((5 * HOUR, day(0), 12.0), (6 * HOUR, day(0), 12.0))
    assert hot(table, 2 * DAY - 1) == {day(0)}
    (closed,) = found(table, 2 * DAY)
    assert (closed.stretch.closed, closed.stretch.closed_by) == (START + 2 * DAY, "expired")
    assert found(table, 20 * DAY) == [closed]


def test_each_partition_has_its_own_finding() -> None:
    table = history((5 * HOUR, day(0), 12.0), (6 * HOUR, day(0), 12.0))
    table.commit(DAY + HOUR, hot_partition=day(1), hot_partition_ratio=20.0)
    table.commit(DAY + 2 * HOUR, hot_partition=day(1), hot_partition_ratio=21.0)
    assert hot(table, DAY + 3 * HOUR) == {day(0), day(1)}
    assert hot(table, 2 * DAY + 3 * HOUR) == {day(1)}


def test_where_the_hottest_is_not_hot_no_partition_is() -> None:
    table = history((5 * HOUR, day(0), 12.0), (6 * HOUR, day(0), 12.0), (DAY + HOUR, day(1), 2.0))
    assert hot(table, DAY + 2 * HOUR) == set()


def test_a_long_period_opens_in_its_first_two_days_and_stays_until_it_is_merged() -> None:
    begin = (FIRST.replace(day=1) + timedelta(days=31)).replace(day=1) - FIRST
    first = begin // timedelta(microseconds=1)
    late = history((first + 3 * DAY, month(1), 12.0), (first + 4 * DAY, month(1), 12.0))
    assert hot(late, first + 5 * DAY) == set(), "half a month is expected to be large"
    table = history((first + HOUR, month(1), 12.0), (first + 2 * HOUR, month(1), 12.0))
    assert hot(table, first + 20 * DAY) == {month(1)}
    table.commit(first + 21 * DAY, "replace", hot_partition=month(1), hot_partition_ratio=1.0)
    assert hot(table, first + 22 * DAY) == set()


def test_a_commit_whose_partitions_were_not_compared_neither_opens_nor_closes() -> None:
    table = history((5 * HOUR, day(0), 12.0)).commit(6 * HOUR).commit(7 * HOUR)
    assert hot(table, 8 * HOUR) == {day(0)}
    assert hot(FactsBuilder().commit(0).commit(HOUR), DAY) == set()


def test_a_small_table_is_not_a_problem_by_itself() -> None:
    table = history((5 * HOUR, day(0), 12.0), (6 * HOUR, day(0), 12.0), total_bytes=GIB - 1)
    assert [each.severity for each in found(table, 7 * HOUR)] == ["info"]


@st.composite
def histories(draw: st.DrawFn) -> FactsBuilder:
    table, now = FactsBuilder(), 0
    for _ in range(draw(st.integers(1, 30))):
        now += draw(st.sampled_from([0, MINUTE, 7 * MINUTE, HOUR, 5 * HOUR, 2 * DAY]))
        days = now // DAY
        partition = draw(st.sampled_from([day(days), day(days - 1), day(days + 1), month(0), month(1), None]))
        ratio = draw(st.sampled_from([1.0, 7.9, 8.1, 10.1, 30.0]))
        if partition is None:
            table.commit(now)
        else:
            table.commit(now, hot_partition=partition, hot_partition_ratio=ratio)
    return table


@given(histories(), st.lists(st.integers(0, 30 * 24 * 60), max_size=12))
@settings(max_examples=200, deadline=None)
def test_findings_are_the_same_for_any_instants_of_evaluation(table: FactsBuilder, instants: list[int]) -> None:
    state, end = TableState(), 31 * DAY
    for minute in sorted(instants):
        state = advance(state, table.facts, until=Micros(START + minute * MINUTE))
    assert found(table, end, state) == found(table, end)


@given(histories())
@settings(max_examples=100, deadline=None)
def test_nothing_changes_before_the_instant_that_is_due(table: FactsBuilder) -> None:
    end = Micros(int(table.facts.times[-1]))
    state = advance(TableState(), table.facts, until=end)
    ends = due(state)
    if ends <= end:
        return
    early = min(ends - 1, end + 40 * DAY) - START
    shown = [(each.subject, each.stretch) for each in found(table, early, state)]
    assert shown == [(each.subject, each.stretch) for each in found(table, end - START)]


@pytest.mark.parametrize("ratio", [5.0, 50.0])
def test_the_threshold_is_a_setting(ratio: float) -> None:
    table = history((5 * HOUR, day(0), 12.0), (6 * HOUR, day(0), 12.0))
    every = episodes(table.facts, LIMITS._replace(hot_ratio=ratio), Micros(START + 7 * HOUR))
    assert [each.code for each in every] == (["hot_partition"] if ratio < 12 else [])
