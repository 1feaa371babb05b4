"""Rules about readers: when each opens, what is too small, and when it closes."""

from __future__ import annotations

import numpy as np

from limnograph.analysis.behind import Behind, MainMoves
from limnograph.analysis.findings.episodes import Episode
from limnograph.analysis.findings.filters import FilteredScans, unpruned_filters
from limnograph.analysis.findings.pointers import ParallelPointers, Pointer, two_pointers
from limnograph.analysis.findings.stale_readers import LateRead, stale_readers
from limnograph.domain.finding_limits import FindingLimits
from limnograph.domain.time import Micros
from table_facts import DAY, HOUR, MINUTE, START

LIMITS = FindingLimits()
SINCE = Micros(START - 2 * DAY)


def late(at: int, reader: str = "dashboard") -> LateRead:
    return LateRead(Micros(START + at), reader, "trino", 7, Behind(2, 9_000.0))


def readers(*reads: LateRead, until: int, known: int | None = None) -> list[Episode]:
    opened = {} if known is None else {"dashboard": Micros(START + known)}
    return stale_readers(reads, opened, since=SINCE, until=Micros(START + until), limits=LIMITS)


def test_a_read_of_the_head_or_of_an_unknown_snapshot_is_not_behind() -> None:
    moves = MainMoves([Micros(0), Micros(10), Micros(20)], [1, 2, 1])
    assert [moves.behind(1, Micros(at)) for at in (5, 25)] == [None, None]
    assert moves.behind(9, Micros(25)) is None
    assert moves.behind(2, Micros(5)) is None, "it was not on main yet"
    assert moves.behind(1, Micros(19)) == Behind(1, 9e-6)
    assert moves.behind(2, Micros(1_000_020)) == Behind(1, 1.0)


def test_behind_is_stale_above_ten_commits_or_ten_minutes() -> None:
    assert [Behind(*each).is_stale for each in ((10, 600.0), (11, 1.0), (1, 601.0))] == [False, True, True]


def test_three_stale_reads_within_an_hour_open_and_a_day_without_one_closes() -> None:
    assert readers(late(0), late(50 * MINUTE), late(2 * HOUR), until=3 * HOUR) == []
    reads = [late(0), late(10 * MINUTE), late(50 * MINUTE), late(5 * HOUR)]
    (open_,) = readers(*reads, until=6 * HOUR)
    assert (open_.subject, open_.stretch.began, open_.stretch.opened) == (
        "dashboard",
        START,
        START + 50 * MINUTE,
    )
    assert (open_.stretch.closed, open_.evidence["reads"], open_.evidence["behind_seconds"]) == (None, 4, 9_000)
    (closed,) = readers(*reads, until=2 * DAY)
    assert closed.stretch.closed == START + 5 * HOUR + DAY
    again = [late(2 * DAY + step * MINUTE) for step in (0, 1, 2)]
    first, second = readers(*reads, *again, until=2 * DAY + HOUR)
    assert (first.stretch.closed, second.stretch.began) == (START + 5 * HOUR + DAY, START + 2 * DAY)
    assert second.stretch.closed is None


def test_reads_of_several_readers_are_not_added_up() -> None:
    assert readers(late(0, "a"), late(1, "b"), late(2, "c"), until=HOUR) == []


def test_an_open_finding_stays_open_by_single_reads_and_closes_without_any() -> None:
    (open_,) = readers(late(0), until=HOUR, known=-DAY)
    assert (open_.stretch.began, open_.stretch.closed) == (START - DAY, None)
    (closed,) = readers(until=HOUR, known=-3 * DAY)
    assert closed.stretch.closed == SINCE + DAY
    (waiting,) = stale_readers(
        [], {"dashboard": Micros(START - DAY)}, since=Micros(START), until=Micros(START + HOUR), limits=LIMITS
    )
    assert waiting.stretch.closed is None, "older reads are not known, so it may be going on"


def scans(count: int, share: float, opened: float = 0.9, start: int = 0) -> FilteredScans:
    """Scans each ten minutes, of which an evenly spread share filters `customer_id`."""
    times = np.array([START + start + number * 10 * MINUTE for number in range(count)], np.int64)
    hit = np.array([number * 37 % 100 < round(share * 100) for number in range(count)], np.bool_)
    return FilteredScans(times, np.full(count, opened), {"customer_id": hit})


def filters(given: FilteredScans, until: int, known: int | None = None) -> list[Episode]:
    opened = {} if known is None else {"customer_id": Micros(START + known)}
    return unpruned_filters(given, opened, until=Micros(START + until), limits=LIMITS)


def test_a_filter_of_most_scans_that_open_most_files_opens_after_twenty_of_them() -> None:
    assert filters(scans(19, 0.83), DAY) == []
    assert filters(scans(200, 0.83, opened=0.5), DAY) == []
    (found,) = filters(scans(200, 0.83), 200 * 10 * MINUTE)
    assert (found.subject, found.stretch.began, found.stretch.closed) == (
        "customer_id",
        START + 190 * MINUTE,
        None,
    )
    assert (found.evidence["share"], found.evidence["scans"], found.evidence["opened_share"]) == (0.83, 200, 0.9)


def test_it_closes_when_few_scans_filter_the_column_so() -> None:
    before, after = scans(100, 0.9), scans(800, 0.1, start=100 * 10 * MINUTE)
    both = FilteredScans(
        np.concatenate([before.times, after.times]),
        np.concatenate([before.opened, after.opened]),
        {"customer_id": np.concatenate([before.columns["customer_id"], after.columns["customer_id"]])},
    )
    (found,) = filters(both, 9 * DAY)
    assert found.stretch.closed is not None
    assert found.stretch.closed_by is None


def test_without_scans_for_a_week_it_expires_and_a_column_that_prunes_now_closes_it() -> None:
    (expired,) = filters(scans(50, 0.9), 30 * DAY)
    assert (expired.stretch.closed, expired.stretch.closed_by) == (START + 490 * MINUTE + 7 * DAY, "expired")
    (served,) = filters(scans(50, 0.9)._replace(columns={}), HOUR, known=-DAY)
    assert served.stretch.closed == START + HOUR


def test_a_known_one_stays_open_between_its_limits() -> None:
    assert filters(scans(200, 0.4), 2 * DAY) == []
    (held,) = filters(scans(200, 0.4), 2 * DAY, known=-DAY)
    assert (held.stretch.began, held.stretch.closed) == (START - DAY, None)


def test_names_that_part_for_ten_minutes_are_two_pointers_until_they_are_equal() -> None:
    pointers = [Pointer("lake.sales.orders", 7), Pointer("old.sales.orders", None)]
    parted = ParallelPointers(pointers, Micros(START))
    young = two_pointers("lake.sales.orders", parted, until=Micros(START + 9 * MINUTE), limits=LIMITS)
    assert young is None
    found = two_pointers("lake.sales.orders", parted, until=Micros(START + 10 * MINUTE), limits=LIMITS)
    assert found is not None
    assert (found.subject, found.stretch.closed) == ("old.sales.orders", None)
    assert found.evidence["pointers"] == "lake.sales.orders at snapshot 7; old.sales.orders at no snapshot"
    ended = two_pointers(
        "lake.sales.orders", parted._replace(ended=Micros(START + HOUR)), until=Micros(START + DAY), limits=LIMITS
    )
    assert ended is not None
    assert ended.stretch.closed == START + HOUR
