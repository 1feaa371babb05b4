"""Who needs a snapshot that an expiry removes: declared readers, streams, time travel, tags, training runs."""

from __future__ import annotations

from limnograph.analysis.advice.own_retention import OwnRetention, expired_at
from limnograph.analysis.advice.readers import (
    DeclaredReader,
    ReaderAtRisk,
    RetainedRef,
    RetainedSnapshot,
    TableRead,
    readers_at_risk,
)
from limnograph.domain.time import Micros
from table_facts import DAY, HOUR, MINUTE, START

HOURS = 240
SNAPSHOTS = [RetainedSnapshot(number, Micros(START + number * HOUR)) for number in range(HOURS)]
"""A commit an hour for ten days; the number of the hour is the id."""
NOW = Micros(START + HOURS * HOUR - MINUTE)
MAIN = RetainedRef("main", HOURS - 1)
OLD = range(120)
"""Older than five days."""


def read(reader: str, snapshot: int, at: int, ref: str | None = None) -> TableRead:
    return TableRead(reader, snapshot, Micros(START + at), ref)


def risks(
    *reads: TableRead, declared: tuple[DeclaredReader, ...] = (), refs: tuple[RetainedRef, ...] = (), expiring=OLD
) -> list[ReaderAtRisk]:
    return readers_at_risk(reads, SNAPSHOTS, (MAIN, *refs), expiring, declared, now=NOW)


def test_a_job_that_reads_the_head_needs_nothing() -> None:
    batch = [read("report", number, number * HOUR + 5 * MINUTE) for number in range(100, HOURS)]
    assert risks(*batch, expiring=range(HOURS - 1)) == []


def test_a_read_planned_just_before_a_commit_is_a_read_of_the_head() -> None:
    slow = [read("report", number, (number + 1) * HOUR + 9 * MINUTE) for number in range(230, 239)]
    assert risks(*slow, expiring=range(HOURS - 1)) == []


def test_a_stream_that_lags_needs_what_it_read_last_and_all_after_it() -> None:
    stream = [read("stream", 100 + step, (200 + step) * HOUR) for step in range(39)]
    assert risks(*stream, expiring=range(100)) == []
    (found,) = risks(*stream, expiring=range(150))
    assert (found.reader, found.snapshot_id, found.because) == ("stream", 138, "behind")
    assert found.last_seen == START + 238 * HOUR
    assert found.needed_until == START + 238 * HOUR + DAY
    assert found.text == "stream needs snapshot 138: it continues from it"
    assert risks(*stream, expiring=[138])[0].snapshot_id == 138
    assert risks(*stream, expiring=[150])[0].snapshot_id == 150
    assert risks(*stream, expiring=[137]) == []


def test_a_stream_that_caught_up_needs_nothing() -> None:
    stream = [read("stream", 100 + step, (200 + step) * HOUR) for step in range(39)]
    assert risks(*stream, read("stream", HOURS - 1, HOURS * HOUR - 2 * MINUTE)) == []


def test_a_reader_that_was_not_seen_for_three_of_its_gaps_has_gone() -> None:
    pinned = [read("training", 7, day * DAY) for day in (1, 2, 3, 4)]
    assert risks(*pinned) == []
    assert [each.because for each in risks(*pinned, read("training", 7, 8 * DAY))] == ["pinned"]


def test_one_read_of_an_old_snapshot_is_a_look_and_two_are_a_habit() -> None:
    assert risks(read("analyst", 7, 9 * DAY)) == []
    (found,) = risks(read("analyst", 7, 9 * DAY), read("analyst", 7, 9 * DAY + HOUR))
    assert (found.because, found.snapshot_id) == ("pinned", 7)


def test_a_read_of_a_tag_needs_its_snapshot_once() -> None:
    tag = RetainedRef("model-7", 7, is_tag=True)
    (found,) = risks(read("training", 7, 9 * DAY + HOUR), refs=(tag,))
    assert (found.snapshot_id, found.because) == (7, "ref")
    (named,) = risks(read("training", 7, 9 * DAY + HOUR, "model-7"), refs=(tag,))
    assert named == found
    assert risks(read("training", 7, 9 * DAY + HOUR), refs=(tag,), expiring=[8]) == []


def test_a_declared_reader_that_was_never_seen_needs_its_lag() -> None:
    declared = (DeclaredReader("orders-*", 6 * DAY),)
    (found,) = risks(declared=declared)
    assert (found.reader, found.because, found.last_seen) == ("orders-*", "declared", None)
    assert found.snapshot_id == 95, "main's head six days before"
    assert risks(declared=(DeclaredReader("orders-*", 4 * DAY),)) == []


def test_a_declared_reader_is_as_far_as_its_last_read() -> None:
    declared = (DeclaredReader("orders-*", 6 * DAY),)
    seen = read("orders-stream", 238, 239 * HOUR)
    assert risks(seen, declared=declared) == []
    (found,) = risks(seen, declared=declared, expiring=[238])
    assert (found.reader, found.snapshot_id) == ("orders-stream", 238)
    assert found.needed_until == START + 239 * HOUR + 6 * DAY


def test_a_snapshot_of_another_branch_that_was_read_twice_is_needed() -> None:
    other = [*SNAPSHOTS, RetainedSnapshot(999, Micros(START), on_main=False)]
    reads = [read("audit", 999, 9 * DAY), read("audit", 999, 9 * DAY + HOUR)]
    (found,) = readers_at_risk(reads, other, (MAIN,), [999], now=NOW)
    assert (found.snapshot_id, found.because) == (999, "pinned")


def test_own_retention_keeps_young_ones_the_newest_and_refs() -> None:
    rule = OwnRetention(age_us=5 * DAY, least=1)
    gone = expired_at(SNAPSHOTS, (MAIN,), rule, NOW)
    assert gone == {number for number in range(HOURS) if SNAPSHOTS[number].committed_at < NOW - 5 * DAY}
    assert expired_at(SNAPSHOTS, (MAIN, RetainedRef("t", 7, True)), rule, NOW) == gone - {7}
    assert 7 in expired_at(SNAPSHOTS, (MAIN, RetainedRef("t", 7, True, DAY)), rule, NOW)
    assert len(expired_at(SNAPSHOTS, (MAIN,), rule._replace(least=200), NOW)) == HOURS - 200
    assert expired_at(SNAPSHOTS[:1], (RetainedRef("main", 0),), rule, NOW) == frozenset()
