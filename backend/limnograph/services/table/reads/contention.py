"""Attempts and collisions of commits as the API returns them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import cast

from limnograph.analysis.contention import (
    Attempt,
    Collision,
    ceiling_per_minute,
    most_per_minute,
)
from limnograph.domain.answers.contention import (
    AttemptsOfCommit,
    CollisionRow,
    ConflictKind,
    Contention,
    WriterAttempts,
)
from limnograph.domain.time import Micros, to_millis
from limnograph.services.reads.attempts import TableAttempts

MOST_WRITERS = 100
MOST_PAIRS = 100


def contention_of(found: TableAttempts) -> Contention:
    """All numbers of a range."""
    attempts = found.attempts
    times = [commit.at for commit in found.commits if commit.kind != "schema" and commit.at >= found.start]
    total = _sums(attempts)
    return Contention(
        start=to_millis(found.start),
        reported=total["commits"] or 0,
        attempts_known=total["attempts_known"] or 0,
        attempts=total["attempts"],
        retries=total["retries"],
        refused=total["refused"],
        failed=total["failed"],
        commits_per_minute=most_per_minute(times),
        ceiling_per_minute=ceiling_per_minute(attempts),
        writers=_writers(attempts),
        collisions=rows_of(found.collisions),
    )


def commit_attempts(found: TableAttempts, snapshot_id: int) -> AttemptsOfCommit | None:
    """What is known of one commit's attempts; None if nothing is."""
    own = next((each for each in found.attempts if each.outcome == "ok" and each.snapshot == snapshot_id), None)
    lost = [each for each in found.collisions if not each.refused and each.loser.snapshot == snapshot_id]
    won = [each for each in found.collisions if each.winner is not None and each.winner.snapshot == snapshot_id]
    if own is None and not won:
        return None
    return AttemptsOfCommit(
        writer=own.writer if own else None,
        kind=own.kind if own else None,
        streaming=own.streaming if own else None,
        attempts=own.attempts if own else None,
        retries=own.retries if own else None,
        seconds=own.seconds if own else None,
        lost_to=rows_of(lost),
        won_over=rows_of(won),
    )


def rows_of(found: Sequence[Collision]) -> list[CollisionRow]:
    """Collisions by loser, winner and kind, the newest first."""
    groups: dict[tuple[object, ...], list[Collision]] = {}
    for each in found:
        won = each.winner
        key = (each.loser.writer, each.loser.kind, won and (won.writer, won.kind), each.loser.conflict_kind)
        groups.setdefault(key, []).append(each)
    rows = [_row(group) for group in groups.values()]
    return sorted(rows, key=lambda row: -row.last_at)[:MOST_PAIRS]


def _row(group: Sequence[Collision]) -> CollisionRow:
    newest = max(group, key=lambda each: each.at)
    won = newest.winner
    return CollisionRow(
        loser=newest.loser.writer,
        loser_kind=newest.loser.kind,
        loser_streaming=newest.streams[0],
        winner=won.writer if won else None,
        winner_kind=won.kind if won else None,
        winner_streaming=newest.streams[1],
        conflict_kind=cast("ConflictKind | None", newest.loser.conflict_kind),
        refused=sum(each.refused for each in group),
        retried=sum(not each.refused for each in group),
        last_at=to_millis(newest.at),
        snapshot_id=None if won is None or won.snapshot is None else str(won.snapshot),
    )


def _writers(attempts: Sequence[Attempt]) -> list[WriterAttempts]:
    """Writers by kind, those that lost most attempts first."""
    groups: dict[tuple[str | None, str | None], list[Attempt]] = {}
    for each in attempts:
        groups.setdefault((each.writer, each.kind), []).append(each)
    rows = [
        WriterAttempts(
            writer=writer,
            kind=kind,
            streaming=next((each.streaming for each in group if each.streaming is not None), None),
            last_at=to_millis(Micros(max(each.at for each in group))),
            **cast("dict[str, int]", _sums(group)),
        )
        for (writer, kind), group in groups.items()
    ]
    return sorted(rows, key=lambda row: (-(row.refused or 0) - (row.retries or 0), -row.last_at))[:MOST_WRITERS]


def _sums(attempts: Iterable[Attempt]) -> dict[str, int | None]:
    every = list(attempts)
    done = [each for each in every if each.outcome == "ok"]
    known = [each.attempts for each in done if each.attempts is not None]
    stated = [each.outcome for each in every if each.stated]
    return {
        "commits": len(done),
        "attempts_known": len(known),
        "attempts": sum(known) if known else None,
        "retries": sum(known) - len(known) if known else None,
        "refused": stated.count("conflict") if stated else None,
        "failed": stated.count("failed") if stated else None,
    }
