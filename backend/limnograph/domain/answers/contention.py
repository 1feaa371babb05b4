"""How commits of a table get in each other's way, as the API returns it. Wire structs, as `domain/answers/reads.py`.

Ids are text, instants epoch ms, durations seconds; null = unknown, never 0. A *retry* is an attempt that did not become
a commit although its commit succeeded; a *refused* commit gave up because of another one.
"""

from __future__ import annotations

from typing import Literal

from limnograph.domain.answers.view import View
from limnograph.domain.time import Millis

ConflictKind = Literal[
    "lost_race", "files_added", "files_removed", "deletes_added", "schema_changed", "ref_moved", "other"
]


class WriterAttempts(View, frozen=True, kw_only=True):
    """Commits of one kind by one writer. `writer`: job, application or engine; `kind`: operation; `streaming`: whether
    it is a stream. `commits` succeeded; `attempts` and `retries` are those of the `attempts_known` commits that state
    them; `refused`: null if no report of the writer would state it; `failed`: for another reason.
    """

    writer: str | None
    kind: str | None
    streaming: bool | None
    commits: int
    attempts_known: int
    attempts: int | None
    retries: int | None
    refused: int | None
    failed: int | None
    last_at: Millis


class CollisionRow(View, frozen=True, kw_only=True):
    """Commits of one writer that another one prevented (`refused`) or delayed (`retried`). `winner` null: which commit
    came first is not known, or its writer is not stated. `winner_kind` `schema`: a change of schema or partition spec.
    `conflict_kind`: what the other commit did. `last_at`: the newest of them; `snapshot_id`: the commit that won then.
    """

    loser: str | None
    loser_kind: str | None
    loser_streaming: bool | None
    winner: str | None
    winner_kind: str | None
    winner_streaming: bool | None
    conflict_kind: ConflictKind | None
    refused: int
    retried: int
    last_at: Millis
    snapshot_id: str | None


class Contention(View, frozen=True, kw_only=True):
    """Reported commits of a range. `start`: later than the range's where reports are no longer kept. `reported`:
    commits that succeeded, `retries` of the `attempts_known` ones. `commits_per_minute`: most commits on main within a
    minute, `ceiling_per_minute`: how many could succeed one after another, a minute divided by the median attempt.
    """

    start: Millis
    reported: int
    attempts_known: int
    attempts: int | None
    retries: int | None
    refused: int | None
    failed: int | None
    commits_per_minute: int | None
    ceiling_per_minute: float | None
    writers: list[WriterAttempts]
    collisions: list[CollisionRow]


class AttemptsOfCommit(View, frozen=True, kw_only=True):
    """What one commit took, and which commits it met. `seconds`: all attempts. `lost_to`: commits that came first, so
    that this one was retried; `won_over`: commits that were refused or retried because of this one.
    """

    writer: str | None
    kind: str | None
    streaming: bool | None
    attempts: int | None
    retries: int | None
    seconds: float | None
    lost_to: list[CollisionRow]
    won_over: list[CollisionRow]
