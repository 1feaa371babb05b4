"""`commit_contention` and `stream_batch_conflict`: when they open and close, and which writers they name."""

from __future__ import annotations

from typing import Any

from limnograph.analysis.contention import Attempt, Collision, Committed
from limnograph.analysis.findings.contention import contention_episodes
from limnograph.analysis.findings.episodes import Episode
from limnograph.domain.finding_limits import DAY, HOUR, MINUTE, FindingLimits
from limnograph.domain.time import Micros

START = Micros(20_000 * DAY)
STREAM = Committed(START, 7, "events", "append")


def tried(minutes: float, *, attempts: int | None = 1, outcome: str = "ok", **columns: Any) -> Attempt:
    given: dict[str, Any] = {"writer": "merge", "kind": "overwrite"}
    return Attempt(Micros(START + round(minutes * MINUTE)), outcome=outcome, attempts=attempts, **(given | columns))


def refused(minutes: float, **columns: Any) -> Attempt:
    return tried(minutes, attempts=None, outcome="conflict", **({"conflict_kind": "files_added"} | columns))


def lost(attempt: Attempt, winner: Committed | None = STREAM, streams: Any = (False, True)) -> Collision:
    return Collision(attempt.at, attempt, winner, attempt.outcome == "conflict", streams)


def episodes(attempts: list[Attempt], minutes: float, found: list[Collision] | None = None) -> list[Episode]:
    until = Micros(START + round(minutes * MINUTE))
    return contention_episodes(attempts, found or [], Micros(START - DAY), until, FindingLimits())


def busy(retried: int, commits: int = 20) -> list[Attempt]:
    """A commit a minute, of which the last ones needed two attempts."""
    return [tried(minute, attempts=2 if minute >= commits - retried else 1) for minute in range(commits)]


def test_a_fifth_of_twenty_attempts_in_an_hour_opens() -> None:
    (found,) = episodes(busy(6), 21)
    assert (found.code, found.severity, found.stretch.closed) == ("commit_contention", "warning", None)
    assert found.stretch.began == START + 14 * MINUTE
    assert found.stretch.opened > found.stretch.began
    assert (found.evidence["attempts"], found.evidence["lost"], found.evidence["threshold"]) == (12, 6, 0.2)


def test_fewer_attempts_or_a_smaller_share_open_nothing() -> None:
    assert episodes(busy(5), 21) == [], "5 of 25 is not more than a fifth"
    assert episodes([tried(minute, attempts=2) for minute in range(9)], 21) == [], "only 18 attempts"


def test_a_commit_whose_attempts_are_not_known_counts_as_one() -> None:
    known = [tried(minute, attempts=None) for minute in range(14)]
    (found,) = episodes([*known, *(refused(14 + each) for each in range(6))], 21)
    assert (found.evidence["lost"], found.evidence["refused"], found.evidence["peak"]) == (6, 6, 0.3)
    assert episodes(known, 21) == []


def test_a_commit_that_was_lost_after_its_retries_opens_at_once() -> None:
    (found,) = episodes([refused(0, conflict_kind="lost_race")], 1)
    assert found.stretch.opened == START
    assert episodes([refused(0)], 1) == [], "a validation that failed at once is not a race that was lost"


def test_it_closes_when_the_share_was_below_a_tenth_for_an_hour() -> None:
    calm = [tried(20 + minute, attempts=1) for minute in range(300)]
    (found,) = episodes([*busy(6), *calm], 320)
    assert found.stretch.closed is not None
    shares_below_from = 20 + 36  # six retries among more than 60 attempts: the 55th minute and after
    assert START + shares_below_from * MINUTE <= found.stretch.closed <= START + (20 + 60 + 60) * MINUTE
    (still,) = episodes([*busy(6), *calm[:40]], 60)
    assert still.stretch.closed is None


def test_contention_again_after_it_closed_is_another_episode() -> None:
    later = [each._replace(at=Micros(each.at + 4 * HOUR)) for each in busy(6)]
    found = episodes([*busy(6), *later], 5 * 60)
    assert [each.stretch.closed is None for each in found] == [False, True]


def test_both_writers_are_evidence_and_the_winner_is_the_cause() -> None:
    attempts = [refused(minute) for minute in range(20)]
    pairs = [lost(each) for each in attempts]
    pairs[3] = lost(attempts[3], Committed(START, 9, "compaction", "replace"), (False, False))
    found = next(each for each in episodes(attempts, 20, pairs) if each.code == "commit_contention")
    assert (found.evidence["loser"], found.evidence["winner"]) == ("merge", "events")
    assert (found.evidence["loser_kind"], found.evidence["winner_kind"]) == ("overwrite", "append")
    assert (found.evidence["conflict_kind"], found.evidence["stream"]) == ("files_added", "events")
    assert found.cause is not None
    assert (found.cause.writer, found.cause.share, found.cause.snapshot_ids) == ("events", 0.95, (7, 9))


def test_three_refused_commits_in_a_day_between_a_stream_and_a_batch_job_open() -> None:
    attempts = [refused(hour * 60) for hour in (0, 8, 16)]
    (found,) = episodes(attempts, 17 * 60, [lost(each) for each in attempts])
    assert (found.code, found.stretch.opened) == ("stream_batch_conflict", attempts[2].at)
    assert (found.evidence["conflicts"], found.evidence["stream"]) == (3, "events")
    (closed,) = episodes(attempts, 41 * 60, [lost(each) for each in attempts])
    assert closed.stretch.closed == attempts[2].at + DAY


def test_retries_and_conflicts_between_batch_jobs_or_over_more_than_a_day_open_nothing() -> None:
    attempts = [refused(hour * 60) for hour in (0, 8, 16)]
    assert episodes(attempts, 17 * 60, [lost(each, streams=(False, False)) for each in attempts]) == []
    assert episodes(attempts, 17 * 60, [lost(each, streams=(False, None)) for each in attempts]) == []
    retries = [tried(hour * 60, attempts=2) for hour in (0, 8, 16)]
    assert episodes(retries, 17 * 60, [lost(each) for each in retries]) == []
    apart = [refused(hour * 60) for hour in (0, 13, 26)]
    assert episodes(apart, 27 * 60, [lost(each) for each in apart]) == []


def test_several_winners_of_one_refused_commit_are_one_conflict() -> None:
    attempts = [refused(0), refused(60)]
    other = Committed(START, 8, "clicks", "append")
    assert episodes(attempts, 120, [lost(each, won) for each in attempts for won in (STREAM, other)]) == []


def test_an_episode_at_the_beginning_of_the_facts_may_have_begun_earlier() -> None:
    found = contention_episodes(
        [refused(0, conflict_kind="lost_race")], [], START, Micros(START + MINUTE), FindingLimits()
    )
    assert found[0].stretch.truncated
    assert not episodes([refused(0, conflict_kind="lost_race")], 1)[0].stretch.truncated
