"""`commit_contention` and `stream_batch_conflict`: writers whose commits get in each other's way. From reported
commits; a commit whose attempts are not known counts as one, so that shares are lower bounds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from limnograph.analysis.contention import Attempt, Collision, is_unlike
from limnograph.analysis.findings.episodes import Cause, Episode
from limnograph.analysis.findings.events import Detail
from limnograph.analysis.findings.stretch import Stretch
from limnograph.domain.finding_codes import CODES
from limnograph.domain.finding_limits import DAY, HOUR, FindingLimits
from limnograph.domain.time import Micros

MOST_COMMITS = 20


class _Span(NamedTuple):
    """When too many attempts were lost: from the first lost one until they no longer were for an hour."""

    began: Micros
    opened: Micros
    bad_until: Micros
    share: float
    lost_race: bool


def contention_episodes(
    attempts: Sequence[Attempt], found: Sequence[Collision], since: Micros, until: Micros, limits: FindingLimits
) -> list[Episode]:
    """Episodes of one table. `attempts`, `found`: in time order, of all reports from `since` to `until`. O(n log n)."""
    episodes = [_contention(span, attempts, found, until, limits) for span in _spans(attempts, until, limits)]
    return [
        each._replace(stretch=each.stretch._replace(truncated=each.stretch.began < since + HOUR))
        for each in (*episodes, *_unlike(found, until, limits))
    ]


def _spans(attempts: Sequence[Attempt], until: Micros, limits: FindingLimits) -> Iterator[_Span]:
    """Looks at the hour before each instant at which an attempt enters or leaves it."""
    turns = [(each.at, 1, each) for each in attempts] + [(Micros(each.at + HOUR), -1, each) for each in attempts]
    total = lost = 0
    losses: list[Micros] = []
    span: _Span | None = None
    was_bad = False
    for at, sign, each in sorted((turn for turn in turns if turn[0] <= until), key=lambda turn: (turn[0], turn[1])):
        if span is not None and was_bad:
            span = span._replace(bad_until=at)
        total += sign * _tries(each)
        lost += sign * (each.retries or 0)
        if sign > 0 and each.retries:
            losses.append(each.at)
        share = lost / total if total else 0.0
        raced = sign > 0 and _lost_race(each)
        if span is not None and at > span.bad_until + HOUR:
            yield span
            span = None
        if span is None and ((share > limits.contention_share and total >= limits.contention_attempts) or raced):
            span = _Span(next(each for each in losses if each > at - HOUR), at, at, share, raced)
        elif span is not None:
            span = span._replace(share=max(span.share, share), lost_race=span.lost_race or raced)
            span = span._replace(bad_until=at) if raced else span
        was_bad = share >= limits.contention_share / 2
    if span is not None:
        yield span._replace(bad_until=until) if was_bad else span


def _tries(each: Attempt) -> int:
    return (each.retries or 0) + (1 if each.outcome == "ok" else 0)


def _lost_race(each: Attempt) -> bool:
    """Whether a commit was lost after retries."""
    return each.outcome == "conflict" and (each.conflict_kind == "lost_race" or (each.attempts or 1) > 1)


def _contention(
    span: _Span, attempts: Sequence[Attempt], found: Sequence[Collision], until: Micros, limits: FindingLimits
) -> Episode:
    ends = Micros(span.bad_until + HOUR)
    inside = [each for each in attempts if span.began <= each.at <= ends]
    pairs = [each for each in found if span.began <= each.at <= ends]
    evidence: dict[str, Detail] = {
        "attempts": sum(map(_tries, inside)),
        "lost": sum(each.retries or 0 for each in inside),
        "refused": sum(each.outcome == "conflict" for each in inside),
        "peak": round(span.share, 4),
        "threshold": limits.contention_share,
    }
    stretch = Stretch(span.began, span.opened, peak=span.share)
    if ends <= until:
        stretch = stretch._replace(closed=ends)
    severity = CODES["commit_contention"].severity
    return Episode("commit_contention", "", stretch, severity, _cause(pairs), {**evidence, **_names(pairs)})


def _unlike(found: Sequence[Collision], until: Micros, limits: FindingLimits) -> Iterator[Episode]:
    """Conflicts of streams with batch writers, each a day after the last at most."""
    groups: list[list[Collision]] = []
    for each in found:
        if not (each.refused and is_unlike(each)):
            continue
        if groups and each.at <= groups[-1][-1].at + DAY:
            groups[-1].append(each)
        else:
            groups.append([each])
    for group in groups:
        times = sorted({each.at for each in group})
        need = limits.stream_conflicts
        full = [at for place, at in enumerate(times) if place + 1 >= need and at - times[place + 1 - need] <= DAY]
        if not full:
            continue
        stretch = Stretch(times[0], full[0], peak=float(len(times)))
        if times[-1] + DAY <= until:
            stretch = stretch._replace(closed=Micros(times[-1] + DAY))
        severity = CODES["stream_batch_conflict"].severity
        evidence: dict[str, Detail] = {"conflicts": len(times), "threshold": need}
        yield Episode("stream_batch_conflict", "", stretch, severity, _cause(group), {**evidence, **_names(group)})


def _names(pairs: Sequence[Collision]) -> dict[str, Detail]:
    """Both writers of the pair that collided most often, and what the other one did."""
    counts = Counter((each.loser.writer, each.winner.writer if each.winner else None) for each in pairs)
    if not counts:
        return {}
    loser, winner = min(counts, key=lambda pair: (None in pair, -counts[pair], str(pair)))
    newest = next(each for each in reversed(pairs) if (each.loser.writer, _winner(each)) == (loser, winner))
    stream = (loser if newest.streams[0] else winner) if is_unlike(newest) else None
    return {
        "loser": loser,
        "loser_kind": newest.loser.kind,
        "winner": winner,
        "winner_kind": newest.winner.kind if newest.winner else None,
        "conflict_kind": newest.loser.conflict_kind,
        "stream": stream,
    }


def _winner(each: Collision) -> str | None:
    return each.winner.writer if each.winner else None


def _cause(pairs: Sequence[Collision]) -> Cause | None:
    """The commits that won, the newest first, and the writer that won most often."""
    winners = [each.winner for each in pairs if each.winner is not None]
    if not winners:
        return None
    ids = dict.fromkeys(each.snapshot for each in reversed(winners) if each.snapshot is not None)
    counts = Counter(each.writer for each in winners if each.writer is not None)
    top = min(counts, key=lambda name: (-counts[name], name)) if counts else None
    share = None if top is None else counts[top] / len(winners)
    return Cause(tuple(ids)[:MOST_COMMITS], top, share)
