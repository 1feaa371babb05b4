"""Each rule opens, holds, closes and re-opens by its definition, in whatever portions it reads the history."""

from __future__ import annotations

import itertools
import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from limnograph.analysis.findings.episodes import Episode, episodes
from limnograph.analysis.findings.stretch import Stretch
from limnograph.analysis.findings.table_state import TableState, advance, due
from limnograph.domain.finding_limits import THRESHOLD_PROPERTIES, FindingLimits
from limnograph.domain.objectives import PromisedLimit
from limnograph.domain.time import Micros
from table_facts import DAY, GIB, HOUR, MIB, MINUTE, START, FactsBuilder

LIMITS = FindingLimits()


def at(table: FactsBuilder, instant: int) -> dict[str, Episode]:
    """The newest episode of each code at an instant after the start."""
    return {each.code: each for each in episodes(table.facts, LIMITS, Micros(START + instant))}


def opened(table: FactsBuilder, instant: int) -> set[str]:
    return {code for code, each in at(table, instant).items() if each.stretch.closed is None}


def level(column: str, *values: tuple[int, float], **others: float) -> FactsBuilder:
    table = FactsBuilder(**others)
    for when, value in values:
        table.commit(when, **{column: value})
    return table


# code, column, a value above the limit, one between, one below, other columns
LEVELS = [
    ("small_files", "debt_saved_files", 25, 19, 10, {"total_data_files": 100, "debt_files": 30}),
    ("too_many_files", "total_data_files", 100_001, 90_000, 79_999, {}),
    ("too_many_files", "partition_files_max", 10_001, 9_000, 7_999, {"total_data_files": 20_000}),
    ("metadata_large", "metadata_bytes", 6 * MIB, 5 * MIB, 3 * MIB, {}),
    ("metadata_versions_kept", "metadata_log_entries", 101, 90, 79, {}),
    ("manifests_fragmented", "manifests", 120, 105, 50, {"manifest_bytes": 400 * MIB}),
    (
        *("partition_skew", "skew_max_over_median", 12.0, 9.0, 7.0),
        {"partitions_total": 20, "skew_top1_share": 0.4},
    ),
]


@pytest.mark.parametrize(("code", "column", "above", "between", "below", "others"), LEVELS)
def test_a_level_opens_after_ten_minutes_and_closes_below_four_fifths(
    code: str, column: str, above: float, between: float, below: float, others: dict[str, float]
) -> None:
    table = level(column, (0, below), (HOUR, above), (3 * HOUR, between), (5 * HOUR, below), **others)
    assert code not in opened(table, HOUR + 9 * MINUTE)
    assert code in opened(table, HOUR + 10 * MINUTE)
    assert code in opened(table, 4 * HOUR), "between limit and 0.8 of it, it stays"
    closed = at(table, 6 * HOUR)[code].stretch
    assert (closed.began, closed.closed, closed.closed_by) == (START + HOUR, START + 5 * HOUR, "4")
    table.commit(7 * HOUR, **{column: above})
    assert code in opened(table, 8 * HOUR), "it re-opens"


def test_a_second_commit_above_the_limit_confirms_it_before_ten_minutes() -> None:
    table = level("total_data_files", (0, 10), (HOUR, 200_000), (HOUR + MINUTE, 200_001))
    assert "too_many_files" in opened(table, HOUR + MINUTE)


def test_a_value_that_is_not_known_neither_opens_nor_closes() -> None:
    table = level("total_data_files", (0, 200_000), (HOUR, 200_000))
    assert "too_many_files" in opened(table.commit(5 * HOUR), 9 * HOUR)
    assert at(FactsBuilder().commit(0).commit(HOUR), DAY).keys() == set()


def test_a_table_of_large_files_has_not_too_many() -> None:
    table = FactsBuilder(total_bytes=200_000 * 512 * MIB).commit(0, total_data_files=200_000)
    assert opened(table, DAY) == set()


def test_a_partition_with_too_many_files_is_judged_by_the_last_commit_that_counted_them() -> None:
    table = FactsBuilder(total_data_files=20_000).commit(0, partition_files_max=12_000)
    for hour in range(1, 6):
        table.commit(hour * HOUR)
    found = at(table, 6 * HOUR)["too_many_files"]
    assert found.stretch.closed is None
    assert (found.evidence["partition_files_max"], found.evidence["threshold"]) == (12_000, 10_000)
    assert opened(table.commit(7 * HOUR, partition_files_max=500), 8 * HOUR) == set()


def test_metadata_that_is_deleted_after_commits_is_not_kept() -> None:
    table = level("metadata_log_entries", (0, 200), (HOUR, 201))
    assert "metadata_versions_kept" in opened(table, 2 * HOUR)
    table.change(3 * HOUR, "property", None, "true", subject="write.metadata.delete-after-commit.enabled")
    assert "metadata_versions_kept" in opened(table, 3 * HOUR), "the next commit shows it"
    table.commit(4 * HOUR, metadata_log_entries=201)
    assert "metadata_versions_kept" not in opened(table, 5 * HOUR)


# -- objectives -------------------------------------------------------------------------------------------------------

PROMISED = PromisedLimit(HOUR, 10 * MINUTE)


def freshness(table: FactsBuilder, instant: int, state: TableState | None = None) -> list[Episode]:
    limits = LIMITS._replace(freshness=PROMISED)
    found = episodes(table.facts, limits, Micros(START + instant), state)
    return [each for each in found if each.code == "objective_missed"]


def test_an_objective_is_missed_after_its_window_until_it_is_kept_for_one() -> None:
    table = FactsBuilder().commit(0)
    assert freshness(table, HOUR + 9 * MINUTE) == []
    (found,) = freshness(table, HOUR + 10 * MINUTE)
    assert (found.severity, found.evidence) == ("critical", {"threshold_seconds": 3_600})
    assert (found.stretch.began, found.stretch.opened) == (START + HOUR, START + HOUR + 10 * MINUTE)
    table.commit(3 * HOUR)
    assert freshness(table, 3 * HOUR + 9 * MINUTE)[0].stretch.closed is None
    (closed,) = freshness(table, 3 * HOUR + 10 * MINUTE)
    assert (closed.stretch.closed, closed.stretch.closed_by) == (START + 3 * HOUR + 10 * MINUTE, "2")
    assert len(freshness(table, 4 * HOUR + 10 * MINUTE)) == 2, "it re-opens"


def test_an_objective_that_is_missed_for_less_than_its_window_is_kept() -> None:
    table = FactsBuilder()
    for number in range(10):
        table.commit(number * (HOUR + 5 * MINUTE))
    assert freshness(table, 10 * HOUR) == []


def test_without_an_objective_none_is_missed() -> None:
    assert [each.code for each in episodes(FactsBuilder().commit(0).facts, LIMITS, Micros(START + DAY))] == []


def test_a_small_table_is_not_a_problem_by_itself() -> None:
    table = level("metadata_bytes", (0, 6 * MIB), (HOUR, 6 * MIB), total_bytes=GIB - 1)
    assert at(table, DAY)["metadata_large"].severity == "info"


@given(st.lists(st.sampled_from([0.99, 1.01, 0.79, 0.81]), min_size=2, max_size=80), st.integers(1, 90))
@settings(max_examples=60, deadline=None)
def test_a_saw_tooth_flaps_at_most_once_an_hour(shares: list[float], minutes: int) -> None:
    values = [(place * minutes * MINUTE, round(share * 100_000)) for place, share in enumerate(shares)]
    table = level("total_data_files", *values)
    found = episodes(table.facts, LIMITS, Micros(START + 30 * DAY))
    turns = sorted(
        turn
        for each in found
        if each.code == "too_many_files"
        for turn in (each.stretch.opened, each.stretch.closed)
        if turn is not None
    )
    assert all(late - early >= HOUR for early, late in itertools.pairwise(turns))


@pytest.mark.parametrize(("code", "column", "above", "between", "below", "others"), LEVELS)
def test_every_level_around_its_threshold_flaps_at_most_once_an_hour(
    code: str, column: str, above: float, between: float, below: float, others: dict[str, float]
) -> None:
    threshold = at(level(column, (0, above), **others), HOUR)[code].evidence["threshold"]
    assert isinstance(threshold, int | float)
    over, under = math.ceil(1.01 * threshold), math.floor(0.99 * threshold)

    def stretches(*saw: float) -> list[Stretch]:
        values = ((place * 7 * MINUTE, saw[place % len(saw)]) for place in range(200))
        found = episodes(level(column, *values, **others).facts, LIMITS, Micros(START + DAY))
        return [each.stretch for each in found if each.code == code]

    found = stretches(over, over, under, below)
    turns = sorted(turn for each in found for turn in (each.opened, each.closed) if turn is not None)
    assert len(turns) > 10, "it opens and closes again and again"
    assert all(late - early >= HOUR for early, late in itertools.pairwise(turns))
    if code != "manifests_fragmented":  # below 100 manifests it closes at once
        assert [each.closed for each in stretches(over, over, under)] == [None], "above 0.8 of it, it stays"


# -- bursts -----------------------------------------------------------------------------------------------------------


def burst(files: int = 50_000, size: int = 50_000 * MIB // 1000) -> FactsBuilder:
    table = FactsBuilder()
    for hour in range(5):
        table.commit(
            hour * HOUR,
            added_data_files=4,
            added_bytes=4 * 512 * MIB,
            removed_data_files=0,
            total_data_files=1_200 + 4 * hour,
        )
    last = {"added_data_files": files, "added_bytes": size, "removed_data_files": 0, "total_data_files": 1_216 + files}
    return table.commit(5 * HOUR, **last)


def test_a_burst_opens_with_its_commit_and_names_it() -> None:
    found = at(burst(), 5 * HOUR)["file_burst"]
    assert (found.stretch.opened, found.severity) == (START + 5 * HOUR, "warning")
    assert found.cause is not None
    assert (found.cause.snapshot_ids, found.cause.writer) == ((6,), "etl")
    assert (found.evidence["files"], found.evidence["files_before"]) == (50_000, 1_216)


def test_many_large_files_are_a_backfill() -> None:
    assert opened(burst(size=50_000 * 200 * MIB), 6 * HOUR) == set()


def test_what_a_writer_always_does_is_no_burst() -> None:
    table = FactsBuilder()
    for hour in range(40):
        table.commit(hour * HOUR, added_data_files=2_000, added_bytes=2_000 * MIB)
    found = [e for e in episodes(table.facts, LIMITS, Micros(START + 41 * HOUR)) if e.code == "file_burst"]
    (only,) = found
    assert only.evidence["files"] == 5 * 2_000, "until five commits are known, nothing is usual"


def test_a_second_burst_of_the_same_writer_is_one_and_does_not_wait() -> None:
    table = burst().commit(5 * HOUR + MINUTE, "replace", removed_data_files=50_000)
    table.commit(5 * HOUR + 2 * MINUTE, added_data_files=50_000, added_bytes=50_000 * MIB)
    assert at(table, 5 * HOUR + 2 * MINUTE)["file_burst"].stretch.opened == START + 5 * HOUR + 2 * MINUTE


def test_commits_of_one_writer_within_five_minutes_are_one_burst() -> None:
    table = FactsBuilder()
    for minute in range(5):
        table.commit(minute * MINUTE, added_data_files=300, added_bytes=300 * MIB)
    found = at(table, HOUR)["file_burst"]
    assert found.cause is not None
    assert (found.evidence["files"], len(found.cause.snapshot_ids)) == (1_500, 5)


def test_commits_of_two_writers_are_no_burst_of_one() -> None:
    table = FactsBuilder()
    for minute in range(4):
        table.commit(minute * MINUTE, writer=f"job-{minute % 2}", added_data_files=300, added_bytes=300 * MIB)
    assert opened(table, HOUR) == set()


def test_a_burst_closes_when_four_fifths_of_its_files_are_gone() -> None:
    table = burst().commit(6 * HOUR, "replace", removed_data_files=30_000, added_data_files=10)
    assert "file_burst" in opened(table, 7 * HOUR)
    table.commit(8 * HOUR, "replace", removed_data_files=10_000, added_data_files=10)
    found = at(table, 9 * HOUR)["file_burst"].stretch
    assert (found.closed, found.closed_by) == (START + 8 * HOUR, "8")


def test_a_burst_closes_when_main_returns_to_the_state_before() -> None:
    table = burst().commit(6 * HOUR, "overwrite", total_data_files=1_300)
    assert at(table, 7 * HOUR)["file_burst"].stretch.closed_by == "7"


def test_a_burst_expires_after_a_week() -> None:
    found = at(burst(), 5 * HOUR + 7 * DAY)["file_burst"].stretch
    assert (found.closed, found.closed_by) == (START + 5 * HOUR + 7 * DAY, "expired")


def test_a_second_burst_joins_the_open_one_and_a_later_one_is_another() -> None:
    more = {"added_data_files": 60_000, "added_bytes": 60_000 * MIB, "writer": "other"}
    joined = [
        e
        for e in episodes(burst().commit(6 * HOUR, **more).facts, LIMITS, Micros(START + 7 * HOUR))
        if e.code == "file_burst"
    ]
    assert [each.evidence["files"] for each in joined] == [110_000]
    again = burst().commit(6 * HOUR, "replace", removed_data_files=50_000).commit(9 * HOUR, **more)
    two = [e for e in episodes(again.facts, LIMITS, Micros(START + 10 * HOUR)) if e.code == "file_burst"]
    assert [(each.evidence["files"], each.stretch.closed is None) for each in two] == [(50_000, False), (60_000, True)]


# -- compaction -------------------------------------------------------------------------------------------------------


def compacted(*hours: int, debt_after: int = 0) -> FactsBuilder:
    table = FactsBuilder(total_data_files=1_000)
    for hour in hours:
        table.commit(hour * HOUR - HOUR // 2, debt_files=100, debt_saved_files=90)
        table.commit(hour * HOUR, "replace", removed_data_files=100, debt_files=debt_after, debt_saved_files=debt_after)
    return table


def test_compaction_stopped_after_three_gaps_while_there_is_debt() -> None:
    table = compacted(10, 20, 30).commit(32 * HOUR, debt_files=200, debt_saved_files=180)
    assert "compaction_stopped" not in opened(table, 59 * HOUR)
    assert "compaction_stopped" in opened(table, 60 * HOUR)
    table.commit(70 * HOUR, "replace", removed_data_files=200, debt_files=0, debt_saved_files=0)
    assert at(table, 71 * HOUR)["compaction_stopped"].stretch.closed_by == "8"


def test_compaction_has_not_stopped_without_debt_or_commits_or_a_rhythm() -> None:
    assert "compaction_stopped" not in opened(compacted(10, 20, 30), 20 * DAY)
    quiet = compacted(10, 20, 30).commit(32 * HOUR, debt_files=5, debt_saved_files=4)
    assert "compaction_stopped" not in opened(quiet, 20 * DAY)
    twice = compacted(10, 20).commit(32 * HOUR, debt_files=200, debt_saved_files=180)
    assert "compaction_stopped" not in opened(twice, 20 * DAY)


def test_two_rewrites_that_leave_the_debt_are_ineffective_until_one_reduces_it() -> None:
    table = compacted(10, debt_after=95)
    assert "compaction_ineffective" not in opened(table, 15 * HOUR)
    table = compacted(10, 20, debt_after=95)
    assert "compaction_ineffective" in opened(table, 25 * HOUR)
    table.commit(30 * HOUR, "replace", removed_data_files=100, debt_files=3, debt_saved_files=2)
    assert at(table, 31 * HOUR)["compaction_ineffective"].stretch.closed_by == "5"


# -- deletes ----------------------------------------------------------------------------------------------------------


def growing_deletes(days: int, per_day: int = 10) -> FactsBuilder:
    table = FactsBuilder(total_data_files=100)
    for day in range(days):
        table.commit(day * DAY, total_delete_files=per_day * day, added_delete_files=per_day, added_data_files=1)
    return table


def test_delete_files_grow_for_a_week_until_they_are_merged() -> None:
    assert "delete_files_growing" not in opened(growing_deletes(2), 3 * DAY)
    table = growing_deletes(12)
    found = at(table, 12 * DAY)["delete_files_growing"]
    assert found.stretch.closed is None
    assert found.cause is not None
    assert (found.cause.writer, found.cause.share) == ("etl", 1.0)
    table.commit(12 * DAY, "replace", total_delete_files=0, removed_delete_files=110, removed_data_files=50)
    assert "delete_files_growing" not in opened(table, 13 * DAY)


def test_delete_files_that_are_merged_now_and_then_do_not_grow() -> None:
    table = growing_deletes(4).commit(4 * DAY, total_delete_files=5)
    for day in range(5, 9):
        table.commit(day * DAY, total_delete_files=20 * day)
    assert "delete_files_growing" not in opened(table, 9 * DAY)


def test_equality_deletes_are_a_note_at_first_and_a_warning_after_a_week() -> None:
    table = level("total_equality_deletes", (0, 5), (HOUR, 5))
    assert at(table, DAY)["equality_deletes"].severity == "info"
    assert at(table, 8 * DAY)["equality_deletes"].severity == "warning"


# -- metadata, health, schema -----------------------------------------------------------------------------------------


def snapshots(commits: int, gap: int, kept: int) -> FactsBuilder:
    table = FactsBuilder()
    for place in range(commits):
        table.commit(place * gap, live_snapshots=min(place + 1, kept))
    return table


def test_snapshots_are_unbounded_when_the_oldest_is_past_its_age() -> None:
    assert "snapshots_unbounded" in opened(snapshots(900, 10 * MINUTE, 900), 7 * DAY)
    assert "snapshots_unbounded" not in opened(snapshots(900, MINUTE, 900), DAY), "many snapshots of a few hours"
    assert "snapshots_unbounded" not in opened(snapshots(2_000, 10 * MINUTE, 400), 14 * DAY)


def rhythm(hours: int) -> FactsBuilder:
    table = FactsBuilder()
    for hour in range(hours):
        table.commit(hour * HOUR)
    return table


def test_a_table_is_stale_after_three_usual_gaps_until_the_next_commit_or_retired() -> None:
    table = rhythm(20)
    assert "stale" not in opened(table, 19 * HOUR + 2 * HOUR)
    assert "stale" in opened(table, 19 * HOUR + 3 * HOUR)
    late = rhythm(20).commit(30 * HOUR)
    found = at(late, 31 * HOUR)["stale"].stretch
    assert (found.closed, found.closed_by) == (START + 30 * HOUR, "21")
    assert at(table, 60 * DAY)["stale"].stretch.closed_by == "retired"
    assert "stale" not in opened(table, 200 * DAY)


def schema(*columns: tuple[int, str]) -> str:
    return json.dumps(
        {
            "type": "struct",
            "fields": [{"id": i, "name": name, "required": False, "type": "long"} for i, name in columns],
        }
    )


def test_a_dropped_column_breaks_and_an_added_one_is_a_note_and_both_expire() -> None:
    table = FactsBuilder().commit(0)
    table.change(0, "schema", None, "0", schema((1, "a"), (2, "b")))
    table.change(HOUR, "schema", "0", "1", schema((1, "a"), (3, "c")))
    found = at(table, 2 * HOUR)
    assert (found["schema_breaking"].severity, found["schema_changed"].severity) == ("warning", "info")
    assert found["schema_breaking"].evidence["what"] == "b was dropped"
    assert {each.stretch.closed_by for each in at(table, 8 * DAY).values()} == {"expired"}


def test_unreadable_metadata_is_critical_until_it_is_read_again() -> None:
    table = FactsBuilder().commit(0).change(HOUR, "unreadable", None, "manifest-missing", "a manifest is missing")
    assert at(table, 2 * HOUR)["unreadable"].severity == "critical"
    assert opened(table.change(3 * HOUR, "unreadable", "manifest-missing", None), 4 * HOUR) == set()


# -- thresholds -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("code", "column", "above", "between", "below", "others"), LEVELS)
def test_the_evidence_of_a_level_has_the_threshold_that_it_was_judged_by(
    code: str, column: str, above: float, between: float, below: float, others: dict[str, float]
) -> None:
    found = at(level(column, (0, above), **others), HOUR)[code].evidence
    threshold = found["threshold"]
    assert isinstance(threshold, int | float)
    assert below < LIMITS.below * threshold <= threshold < above


def test_a_property_of_the_table_takes_the_place_of_a_threshold_from_its_change_on() -> None:
    key, days = "history.expire.max-snapshot-age-ms", str(20 * DAY // 1000)
    table = level("live_snapshots", *((number * 10 * MINUTE, min(number, 1_000)) for number in range(1_440)))
    assert "snapshots_unbounded" in opened(table, 10 * DAY)
    assert "snapshots_unbounded" not in opened(table.change(0, "property", None, days, subject=key), 10 * DAY)
    table.change(8 * DAY, "property", days, None, subject=key)
    assert "snapshots_unbounded" in opened(table, 10 * DAY), "without the property the default holds again"


@pytest.mark.parametrize("text", ["", "-1", "0", "ten", "1e9", "9" * 30, None])
def test_a_property_that_is_no_positive_number_is_no_threshold(text: str | None) -> None:
    table = level("manifests", (0, 120), manifest_bytes=400 * MIB)
    table.change(0, "property", None, text, subject="commit.manifest.min-count-to-merge")
    assert "manifests_fragmented" in opened(table, HOUR)


def test_other_settings_are_other_thresholds() -> None:
    table = level("total_data_files", (0, 2_000))
    limits = LIMITS._replace(data_files=1_000)
    (found,) = episodes(table.facts, limits, Micros(START + HOUR))
    assert (found.code, found.evidence["threshold"]) == ("too_many_files", 1_000)


# -- the same result for any portions ---------------------------------------------------------------------------------

numbers = st.one_of(st.none(), st.integers(0, 250_000))


@st.composite
def histories(draw: st.DrawFn) -> FactsBuilder:
    table = FactsBuilder()
    now = 0
    for _ in range(draw(st.integers(1, 40))):
        now += draw(st.sampled_from([0, MINUTE, 7 * MINUTE, HOUR, 5 * HOUR, 2 * DAY]))
        columns = {
            name: value
            for name in (
                *("total_data_files", "added_data_files", "removed_data_files", "total_delete_files"),
                *("debt_files", "debt_saved_files", "live_snapshots", "metadata_bytes", "total_bytes"),
                *("manifests", "manifest_bytes", "partition_files_max", "metadata_log_entries"),
            )
            if (value := draw(numbers)) is not None
        }
        if draw(st.integers(0, 5)) == 0:
            text = draw(st.sampled_from([None, "3600000", "1000000", "5"]))
            table.change(now, "property", None, text, subject=draw(st.sampled_from(THRESHOLD_PROPERTIES)))
        operation = draw(st.sampled_from(["append", "append", "replace", "overwrite"]))
        table.commit(now, operation, draw(st.sampled_from(["a", "b", None])), **columns)
    return table


@given(histories(), st.lists(st.integers(0, 30 * 24 * 60), max_size=8))
@settings(max_examples=100, deadline=None)
def test_findings_are_the_same_for_any_instants_of_evaluation(table: FactsBuilder, instants: list[int]) -> None:
    facts, state = table.facts, TableState()
    end = Micros(START + 31 * DAY)
    for minute in sorted(instants):
        state = advance(state, facts, until=Micros(START + minute * MINUTE))
    assert episodes(facts, LIMITS, end, state) == episodes(facts, LIMITS, end)


@given(histories(), st.lists(st.integers(0, 30 * 24 * 60), max_size=8))
@settings(max_examples=60, deadline=None)
def test_a_missed_objective_is_the_same_for_any_instants_of_evaluation(
    table: FactsBuilder, instants: list[int]
) -> None:
    limits, state = LIMITS._replace(freshness=PROMISED), TableState()
    for minute in sorted(instants):
        state = advance(state, table.facts, until=Micros(START + minute * MINUTE), limits=limits)
    assert freshness(table, 31 * DAY, state) == freshness(table, 31 * DAY)


@given(histories())
@settings(max_examples=100, deadline=None)
def test_nothing_changes_before_the_instant_that_is_due(table: FactsBuilder) -> None:
    facts = table.facts
    end = Micros(int(facts.times[-1]))
    state = advance(TableState(), facts, until=end)
    ends = due(state)
    if ends <= end:
        return
    early = advance(state, facts, until=Micros(min(ends - 1, end + 40 * DAY)))
    assert [e._replace(evidence={}, severity="info") for e in episodes(facts, LIMITS, early.at or end, state)] == [
        e._replace(evidence={}, severity="info") for e in episodes(facts, LIMITS, end)
    ]
