"""Commits of a few rows, hundreds of times a day: at each edge of the definition, and after a restart."""

from __future__ import annotations

from limnograph.analysis.findings.episodes import Episode, episodes
from limnograph.analysis.findings.table_state import TableState, advance, due
from limnograph.domain.finding_limits import FindingLimits
from limnograph.domain.time import Micros
from table_facts import DAY, HOUR, MIB, MINUTE, START, FactsBuilder

LIMITS = FindingLimits()


def table(commits: int, rows: int = 1, size: int = 2_000, gap: int = 5 * MINUTE, writer: str = "api") -> FactsBuilder:
    made, total = FactsBuilder(), 1_000_000
    for place in range(commits):
        total += rows
        row = {"added_data_files": 1, "added_bytes": size, "added_records": rows, "total_records": total}
        made.commit(place * gap, writer=writer, **row)
    return made


def found(made: FactsBuilder, until: int) -> list[Episode]:
    return [each for each in episodes(made.facts, LIMITS, Micros(START + until)) if each.code == "tiny_commits"]


def test_two_hundred_commits_of_a_day_open_and_one_less_does_not() -> None:
    assert found(table(199), 199 * 5 * MINUTE) == []
    (episode,) = found(table(200), 200 * 5 * MINUTE)
    assert (episode.subject, episode.severity, episode.evidence["commits"]) == ("api", "warning", 200)
    assert (episode.stretch.began, episode.stretch.opened) == (START, START + 199 * 5 * MINUTE)
    assert episode.cause is not None
    assert episode.cause.writer == "api"


def test_a_hundred_rows_are_few_and_more_are_not() -> None:
    assert len(found(table(250, rows=100), 250 * 5 * MINUTE)) == 1
    assert found(table(250, rows=101), 250 * 5 * MINUTE) == []


def test_slower_commits_never_fill_a_day() -> None:
    assert found(table(1_000, gap=10 * MINUTE), 1_000 * 10 * MINUTE) == []


def test_files_of_a_quarter_of_the_target_are_no_waste() -> None:
    assert found(table(250, size=128 * MIB), 250 * 5 * MINUTE) == []
    assert len(found(table(250, size=127 * MIB), 250 * 5 * MINUTE)) == 1


def test_a_merge_of_unknown_extent_does_not_count() -> None:
    made = FactsBuilder()
    for place in range(300):
        row = {"added_data_files": 1, "removed_data_files": 1, "added_records": 5_000, "total_records": 1_000_000}
        made.commit(place * 4 * MINUTE, "overwrite", **row)
    assert found(made, 300 * 4 * MINUTE) == []


def test_rows_deleted_by_position_count_too() -> None:
    made = FactsBuilder()
    for place in range(300):
        row = {"added_records": 1, "total_records": 1_000_000 + place, "total_position_deletes": place}
        made.commit(place * 4 * MINUTE, "overwrite", added_delete_files=1, **row)
    assert len(found(made, 300 * 4 * MINUTE)) == 1


def test_it_closes_a_day_after_the_last_such_commit_without_another_one() -> None:
    made, last = table(250), 249 * 5 * MINUTE
    (open_,) = found(made, last + DAY - MINUTE)
    assert open_.stretch.closed is None
    (closed,) = found(made, last + DAY)
    assert closed.stretch.closed == START + last + DAY
    state = advance(TableState(), made.facts, until=Micros(START + last), limits=LIMITS)
    assert due(state, LIMITS) <= START + last + DAY


def test_two_writers_are_two_findings_and_their_commits_are_not_added_up() -> None:
    made = table(250)
    for place in range(150):
        made.commit(place * 5 * MINUTE + MINUTE, writer="other", added_records=1, total_records=1_000_000)
    assert [each.subject for each in found(made, 250 * 5 * MINUTE)] == ["api"]


def test_portions_change_nothing() -> None:
    made, until = table(400), Micros(START + 400 * 5 * MINUTE + 2 * DAY)
    whole = advance(TableState(), made.facts, until=until, limits=LIMITS).tiny
    state = TableState()
    for at in range(0, until - START + HOUR, 7 * HOUR):
        state = advance(state, made.facts, until=Micros(min(START + at, until)), limits=LIMITS)
    state = advance(state, made.facts, until=until, limits=LIMITS)
    assert list(state.tiny.stretches) == list(whole.stretches)
