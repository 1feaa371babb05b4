"""How commits of one table get in each other's way: what each reported commit took, and which commits came between.
Pure. Instants are epoch microseconds.

Engines report different parts of a commit. An Iceberg client reports its attempts and its snapshot; Spark's store the
job, and refused commits, without attempts. Reports of one commit become one Attempt.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from limnograph.domain.time import MICROS_PER_SECOND, Micros

REPORTED_WITHIN = 600 * MICROS_PER_SECOND
"""A report without a snapshot follows its commit by at most this long."""
MOST_WINNERS = 5
"""Writers that are named for one collision, those that committed last."""


class Attempt(NamedTuple):
    """One reported commit, with all its attempts.

    at        when it ended
    writer    job, else application or engine; None if not stated
    kind      operation: `append`, `overwrite`, `row_delta`, `delete`, `replace`; None if not stated
    outcome   `ok`, `conflict` or `failed`
    attempts  None if not known
    seconds   duration of all attempts
    wall      duration of the query that committed, seconds
    snapshot  committed; of a refused commit, the one that it had read
    streaming whether a stream committed; None if not known
    app       application id
    added     data files that it added
    stated    whether the report states an outcome; Iceberg's own reports do not, because refused commits send none
    """

    at: Micros
    writer: str | None
    kind: str | None
    outcome: str
    attempts: int | None = None
    conflict_kind: str | None = None
    seconds: float | None = None
    wall: float | None = None
    snapshot: int | None = None
    streaming: bool | None = None
    app: str | None = None
    engine: str | None = None
    added: int | None = None
    stated: bool = False

    @property
    def retries(self) -> int | None:
        """Attempts that did not become a commit: at least one of a commit that was refused. None if not known."""
        if self.outcome == "conflict":
            return max(self.attempts or 1, 1)
        return None if self.attempts is None else max(self.attempts - 1, 0)


class Committed(NamedTuple):
    """A commit on main, or with kind `schema` a change of schema or partition spec. Counts: None if not known."""

    at: Micros
    snapshot: int | None
    writer: str | None
    kind: str | None
    app: str | None = None
    added_data_files: int | None = None
    removed_data_files: int | None = None
    added_delete_files: int | None = None


class Collision(NamedTuple):
    """`loser` was refused, or (`refused` false) retried, because of a commit of another writer. `winner` None: not
    known, or its writer is not. `streams`: whether the loser and the winner are streams; None if not known.
    """

    at: Micros
    loser: Attempt
    winner: Committed | None
    refused: bool
    streams: tuple[bool | None, bool | None]


def is_unlike(collision: Collision) -> bool:
    """Whether a stream and a batch writer collided."""
    return set(collision.streams) == {True, False}


def merged(reports: Sequence[Attempt], commits: Sequence[Committed]) -> list[Attempt]:
    """One attempt per commit, in time order. A report without a snapshot belongs to the last commit of its application
    before it that added as many files and that no other such report has. O(reports · commits of an application).
    """
    by_app: dict[str, list[Committed]] = {}
    for commit in commits:
        if commit.app is not None and commit.snapshot is not None:
            by_app.setdefault(commit.app, []).append(commit)
    found: dict[int, Attempt] = {}
    others: list[Attempt] = []
    taken: set[int] = set()
    for report in sorted(reports, key=lambda each: each.at):
        snapshot = report.snapshot
        if report.outcome == "ok" and snapshot is None:
            snapshot = _own(report, by_app.get(report.app or "", ()), taken)
        if report.outcome != "ok" or snapshot is None:
            others.append(report)
            continue
        if report.snapshot is None:
            taken.add(snapshot)
        known = found.get(snapshot)
        found[snapshot] = report._replace(snapshot=snapshot) if known is None else _both(known, report)
    return sorted((*found.values(), *others), key=lambda each: each.at)


def collisions(attempts: Sequence[Attempt], commits: Sequence[Committed]) -> list[Collision]:
    """Who collided with whom, one for each other writer, in time order. `commits`: in time order."""
    times = [commit.at for commit in commits]
    ours: dict[int | None, Attempt] = {
        each.snapshot: each for each in attempts if each.outcome == "ok" and each.snapshot is not None
    }
    streams = {each.app: each.streaming for each in attempts if each.app is not None and each.streaming}
    found: list[Collision] = []
    for attempt in attempts:
        if not attempt.retries:
            continue
        window = _between(attempt, commits, times)
        winners = list(_named(_fitting(attempt, window), ours))
        refused = attempt.outcome == "conflict"
        if not winners:
            found.append(Collision(attempt.at, attempt, None, refused, (attempt.streaming, None)))
        for winner in winners:
            known = ours.get(winner.snapshot)
            is_stream = known.streaming if known else streams.get(winner.app or "")
            found.append(Collision(attempt.at, attempt, winner, refused, (attempt.streaming, is_stream)))
    return found


def ceiling_per_minute(attempts: Sequence[Attempt]) -> float | None:
    """Commits a minute that the catalog accepts at most, because attempts of one table succeed one after another: a
    minute divided by the median duration of an attempt. None if no report has one.
    """
    each = sorted(
        attempt.seconds / attempt.attempts
        for attempt in attempts
        if attempt.seconds and attempt.attempts and attempt.outcome == "ok"
    )
    return 60 / each[len(each) // 2] if each else None


def most_per_minute(times: Sequence[Micros]) -> int | None:
    """Most commits in a minute that begins with one. `times`: in order. None without a commit."""
    minute = 60 * MICROS_PER_SECOND
    return max((bisect_left(times, at + minute) - place for place, at in enumerate(times)), default=None)


def _own(report: Attempt, commits: Sequence[Committed], taken: set[int]) -> int | None:
    for commit in reversed(commits):
        is_unlike_it = None not in {report.added, commit.added_data_files} and report.added != commit.added_data_files
        if commit.at > report.at or commit.snapshot in taken or is_unlike_it:
            continue
        return commit.snapshot if report.at - commit.at <= REPORTED_WITHIN else None
    return None


def _both(known: Attempt, report: Attempt) -> Attempt:
    """What two reports say about one commit, first of all that of the job, which knows whether it is a stream."""
    first, second = (report, known) if report.streaming is not None else (known, report)
    missing = {name: value for name, value in second._asdict().items() if getattr(first, name) is None}
    return first._replace(**missing)


def _between(attempt: Attempt, commits: Sequence[Committed], times: Sequence[Micros]) -> Sequence[Committed]:
    """Commits between what an attempt had read and its end; of one whose beginning is not known, none."""
    end = attempt.at
    if attempt.outcome == "ok":
        own = next((each for each in commits if each.snapshot == attempt.snapshot), None)
        if own is None or attempt.seconds is None:
            return ()
        end, began = Micros(own.at - 1), own.at - round(attempt.seconds * MICROS_PER_SECOND)
    else:
        base = next((each for each in commits if each.snapshot == attempt.snapshot), None) if attempt.snapshot else None
        if base is not None:
            began = base.at + 1
        elif attempt.wall is not None:
            began = attempt.at - round(attempt.wall * MICROS_PER_SECOND)
        else:
            return ()
    return commits[bisect_left(times, began) : bisect_right(times, end)]


_SIGNS: Mapping[str, Callable[[Committed], object]] = {
    "files_added": lambda commit: commit.added_data_files,
    "files_removed": lambda commit: commit.removed_data_files,
    "deletes_added": lambda commit: commit.added_delete_files,
    "schema_changed": lambda commit: commit.kind == "schema",
}
"""What a commit must have done to cause a kind of conflict."""


def _fitting(attempt: Attempt, window: Sequence[Committed]) -> Sequence[Committed]:
    sign = _SIGNS.get(attempt.conflict_kind or "")
    if sign is None:
        return [commit for commit in window if commit.kind != "schema"]
    return [commit for commit in window if sign(commit)]


def _named(window: Sequence[Committed], ours: Mapping[int | None, Attempt]) -> Iterator[Committed]:
    """The last commit of each writer and kind, the newest first, under the name that its report gives it."""
    seen: set[tuple[str | None, str | None]] = set()
    for commit in reversed(window):
        report = ours.get(commit.snapshot) if commit.snapshot is not None else None
        writer = (report.writer if report else None) or commit.writer
        kind = (report.kind if report else None) or commit.kind
        if (writer, kind) not in seen and len(seen) < MOST_WINNERS:
            seen.add((writer, kind))
            yield commit._replace(writer=writer, kind=kind)
