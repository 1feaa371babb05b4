"""Jumps of columns: when they open, what is too small or too early, when they close, and whose they are."""

from __future__ import annotations

import random
from typing import Any

import pytest
from msgspec.structs import replace

from limnograph.analysis.findings.columns import ColumnCommit, ColumnWatch
from limnograph.analysis.findings.episodes import Episode
from limnograph.domain.facts.column_stats import ColumnStat
from limnograph.domain.finding_limits import DAY, MINUTE, FindingLimits
from limnograph.domain.time import Micros

START = 1_790_000_000_000_000
AMOUNT = ColumnStat(1, "amount", "double", 1000, 10, None, "0", "100")


def commit(number: int, stat: ColumnStat = AMOUNT, writer: str | None = "etl") -> ColumnCommit:
    return ColumnCommit(Micros(START + number * MINUTE), number, writer, [stat])


def found(*commits: ColumnCommit, until: int | None = None, **limits: Any) -> list[Episode]:
    watch = ColumnWatch(FindingLimits(**limits))
    for each in commits:
        watch.take(each)
    return watch.episodes(Micros(commits[-1].at if until is None else until))


def usual(count: int = 20, stat: ColumnStat = AMOUNT) -> list[ColumnCommit]:
    return [commit(number, stat) for number in range(count)]


def test_a_null_share_that_rises_opens_with_its_commit_and_closes_after_three() -> None:
    bad = replace(AMOUNT, nulls=400)
    (episode,) = found(*usual(), commit(20, bad), commit(21, bad))
    assert (episode.code, episode.subject, episode.severity) == ("null_share_jump", "amount", "warning")
    assert (episode.stretch.opened, episode.stretch.commit) == (START + 20 * MINUTE, 20)
    assert episode.cause is not None
    assert (episode.cause.snapshot_ids, episode.cause.writer) == ((20,), "etl")
    assert episode.evidence == {"null_share": 0.4, "usual_share": 0.01, "nulls": 400, "values": 1000}
    two_back = [commit(22), commit(23)]
    assert found(*usual(), commit(20, bad), *two_back)[0].stretch.closed is None
    again = found(*usual(), commit(20, bad), *two_back, commit(24))[0].stretch
    assert (again.closed, again.closed_by) == (START + 24 * MINUTE, "24")


@pytest.mark.parametrize(
    ("stat", "why"),
    [
        (replace(AMOUNT, nulls=59), "less than five points"),
        (replace(AMOUNT, values=4, nulls=1), "four rows prove nothing"),
        (replace(AMOUNT, nulls=None), "not known"),
    ],
)
def test_what_is_small_or_unproved_or_unknown_is_no_jump(stat: ColumnStat, why: str) -> None:
    assert found(*usual(), commit(20, stat)) == [], why


def test_the_first_twenty_commits_of_a_writer_are_not_judged() -> None:
    bad = replace(AMOUNT, nulls=900)
    assert found(*usual(19), commit(19, bad)) == []
    assert found(*usual(), commit(20, bad, "another")) == []
    assert [each.code for each in found(*usual(), commit(20, bad, "etl"))] == ["null_share_jump"]


def test_a_jump_that_stays_is_the_usual_after_a_week() -> None:
    bad = replace(AMOUNT, nulls=400)
    (episode,) = found(*usual(), commit(20, bad), until=START + 20 * MINUTE + 7 * DAY)
    assert (episode.stretch.closed_by, episode.stretch.closed) == ("expired", START + 20 * MINUTE + 7 * DAY)
    later = [commit(20 + 7 * 24 * 60 + number, bad) for number in range(25)]
    assert [each.stretch.closed_by for each in found(*usual(), commit(20, bad), *later)] == ["expired"]


def test_a_range_ten_times_as_wide_is_a_jump_unless_the_column_grows() -> None:
    wide = replace(AMOUNT, lower="-5000", upper="100")
    (episode,) = found(*usual(), commit(20, wide))
    assert (episode.code, episode.evidence) == ("bounds_jump", {"lower": "-5000", "upper": "100", "range_ratio": 51.0})
    assert found(*usual(), commit(20, replace(AMOUNT, upper="900"))) == []
    ids = [commit(n, replace(AMOUNT, type="long", lower=str(n * 10), upper=str(n * 10 + 9))) for n in range(20)]
    assert found(*ids, commit(20, replace(AMOUNT, type="long", lower="200", upper="999999"))) == []


def test_an_instant_in_the_future_is_a_jump_even_of_a_column_that_grows() -> None:
    def at(number: int, second: int) -> ColumnCommit:
        text = f"2026-09-21T14:{number:02}:{second:02}Z"
        return commit(number, replace(AMOUNT, type="timestamptz", lower=text, upper=text))

    ahead = replace(AMOUNT, type="timestamptz", lower="2026-09-21T14:20:00Z", upper="2062-01-01T00:00:00Z")
    (episode,) = found(*(at(number, 5) for number in range(20)), commit(20, ahead))
    assert (episode.code, episode.evidence["future"]) == ("bounds_jump", 1)
    assert found(*(at(number, 5) for number in range(20)), at(20, 6)) == []


def test_distinct_values_are_compared_with_the_last_five_estimates() -> None:
    estimates = [commit(number, replace(AMOUNT, ndv=1000 + number // 4)) for number in range(20)]
    (episode,) = found(*estimates, commit(20, replace(AMOUNT, ndv=300)))
    assert (episode.code, episode.severity) == ("cardinality_jump", "info")
    assert episode.evidence == {"distinct": 300, "usual_distinct": 1002}
    assert found(*estimates, commit(20, replace(AMOUNT, ndv=400))) == []
    assert found(*estimates[:15], commit(20, replace(AMOUNT, ndv=3))) == []  # four estimates only
    assert found(*estimates, commit(20)) == []


def test_two_writers_that_overlap_are_one_episode_until_both_are_back() -> None:
    bad = replace(AMOUNT, nulls=400)
    calm = [each for number in range(20) for each in (commit(number), commit(number, writer="other"))]
    jumps = [commit(20, bad), commit(21, bad, "other")]
    one_back = [commit(number) for number in (22, 23, 24)]
    (episode,) = found(*calm, *jumps, *one_back)
    assert (episode.stretch.closed, episode.cause and episode.cause.writer) == (None, "etl")
    both = found(*calm, *jumps, *one_back, *(commit(number, writer="other") for number in (25, 26, 27)))
    assert [each.stretch.closed for each in both] == [START + 27 * MINUTE]


def test_ordinary_columns_have_no_jumps() -> None:
    rng = random.Random(7)
    commits = [
        commit(
            number,
            replace(
                AMOUNT,
                values=(rows := rng.randrange(50, 5000)),
                nulls=sum(rng.random() < 0.1 for _ in range(rows)),
                lower=str(rng.gauss(0, 3)),
                upper=str(100 + rng.gauss(0, 30)),
            ),
        )
        for number in range(400)
    ]
    assert len(found(*commits)) <= 1
