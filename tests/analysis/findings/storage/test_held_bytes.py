"""Bytes that only the table's past holds: from which size on, kept on purpose, and when it closes."""

from __future__ import annotations

from limnograph.analysis.advice.own_retention import OwnRetention
from limnograph.analysis.advice.readers import RetainedRef
from limnograph.analysis.findings.observed.subject_levels import SubjectLevel, WatchedLevels, at_once, observe
from limnograph.analysis.findings.storage.held_bytes import freed_beyond, held_levels
from limnograph.domain.advice.document import TableBytes
from limnograph.domain.finding_limits import FindingLimits
from limnograph.domain.time import Micros
from table_facts import DAY, GIB, HOUR, MIB, MINUTE, START

LIMITS = FindingLimits()
OWN = OwnRetention()


def sizes(live: int = 10 * GIB, by_age: list[tuple[int, int]] | None = None, **by_ref: int) -> TableBytes:
    ages = [(0, 9 * GIB), (7, GIB)] if by_age is None else by_age
    return TableBytes(live=live, held=9 * GIB, metadata=MIB, by_ref=by_ref, by_age=ages)


def over(found: list[SubjectLevel]) -> dict[str, str]:
    return {each.subject: each.severity for each in found if each.is_over}


def test_what_an_expiry_by_the_own_retention_frees_counts_from_one_gib_on() -> None:
    assert over(held_levels(sizes(), OWN, (), LIMITS)) == {"": "warning"}
    assert over(held_levels(sizes(by_age=[(0, 9 * GIB), (7, GIB - 1)]), OWN, (), LIMITS)) == {}


def test_bytes_within_the_own_retention_are_wanted() -> None:
    thirty = OwnRetention(age_us=30 * DAY, declared=True)
    assert over(held_levels(sizes(), thirty, (), LIMITS)) == {}
    assert freed_beyond(sizes(), OwnRetention(age_us=7 * DAY)) == GIB
    assert freed_beyond(sizes(), OwnRetention(age_us=7 * DAY + 1)) == 0


def test_a_large_table_needs_a_twentieth_of_its_size() -> None:
    assert over(held_levels(sizes(live=20 * GIB), OWN, (), LIMITS)) == {"": "warning"}
    assert over(held_levels(sizes(live=20 * GIB + 20), OWN, (), LIMITS)) == {}


def test_a_tag_alone_counts_and_one_with_an_age_is_kept_on_purpose() -> None:
    refs = (RetainedRef("main", 1), RetainedRef("v1", 2, True), RetainedRef("audit", 3, False, 30 * DAY))
    found = held_levels(sizes(by_age=[], v1=2 * GIB, audit=2 * GIB, small=MIB, main=5 * GIB), OWN, refs, LIMITS)
    assert over(found) == {"audit": "info", "v1": "warning"}
    by_name = {each.subject: each.evidence for each in found}
    assert (by_name["v1"]["ref"], by_name["audit"]["ref"], by_name["audit"]["kept_days"]) == ("tag", "branch", 30)
    assert by_name["v1"]["ref_bytes"] == 2 * GIB


def level(value: float, subject: str = "", began: int | None = None) -> SubjectLevel:
    at = None if began is None else Micros(START + began)
    return SubjectLevel("held_bytes", subject, value, 100, "warning", {"threshold": 100}, at)


def seen(*steps: tuple[int, list[SubjectLevel]]) -> WatchedLevels:
    watched = WatchedLevels()
    for at, levels in steps:
        watched = observe(watched, levels, Micros(START + at), LIMITS)
    return watched


def test_a_level_opens_after_ten_minutes_and_closes_below_four_fifths() -> None:
    assert seen((0, [level(100)]), (9 * MINUTE, [level(100)])).episodes == []
    assert seen((0, [level(100)]), (9 * MINUTE, [level(99)]), (12 * MINUTE, [level(100)])).episodes == []
    (found,) = seen((0, [level(100)]), (12 * MINUTE, [level(120)]), (HOUR, [level(80)])).episodes
    assert (found.stretch.began, found.stretch.opened) == (START, START + 10 * MINUTE)
    assert (found.stretch.closed, found.stretch.peak) == (None, 120)
    (closed,) = seen((0, [level(100)]), (12 * MINUTE, [level(120)]), (HOUR, [level(79)])).episodes
    assert closed.stretch.closed == START + HOUR
    (gone,) = seen((0, [level(100)]), (12 * MINUTE, [level(120)]), (HOUR, [])).episodes
    assert gone.stretch.closed == START + HOUR
    assert seen((0, [level(100)]), (12 * MINUTE, [level(120)]), (HOUR, []), (3 * DAY, [])).episodes == []


def test_a_condition_whose_beginning_is_known_opens_at_once() -> None:
    (found,) = seen((DAY, [level(100, began=0)])).episodes
    assert (found.stretch.began, found.stretch.opened) == (START, START + 10 * MINUTE)


def test_a_recorded_finding_stays_open_and_keeps_its_beginning() -> None:
    key = ("held_bytes", "v1")
    opened = Micros(START - DAY)
    (found,) = observe(WatchedLevels(), [level(85, "v1")], Micros(START), LIMITS, {key: opened}).episodes
    assert (found.stretch.began, found.stretch.truncated, found.stretch.closed) == (opened, True, None)
    (closed,) = observe(WatchedLevels(), [level(10, "v1")], Micros(START), LIMITS, {key: opened}).episodes
    assert closed.stretch.closed == START
    (kept,) = WatchedLevels.recorded({key: opened}).episodes
    assert (kept.subject, kept.stretch.began) == ("v1", opened)


def test_a_table_that_is_observed_once_has_what_is_over() -> None:
    (found,) = at_once([level(100), level(99, "v1")], Micros(START))
    assert (found.subject, found.stretch.opened, found.evidence) == ("", START, {"threshold": 100})
