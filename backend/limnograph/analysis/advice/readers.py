"""Which readers still need a snapshot that an expiry would remove: declared ones, and those that reports and runs show.

A stream or an incremental job continues from the snapshot that it read last. If that one was expired, the job fails
(apache/iceberg #18000, #14622), so an expiry must wait for it. A job that reads main's head needs nothing: it reads the
next head.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from statistics import median
from typing import Literal, NamedTuple

from limnograph.analysis.behind import BEHIND_SECONDS
from limnograph.domain.finding_limits import DAY
from limnograph.domain.ids import matches
from limnograph.domain.time import MICROS_PER_SECOND, Micros

ReaderReason = Literal["declared", "ref", "pinned", "behind"]
WAIT_LEAST = DAY
"""A reader is expected to read again within three of its usual gaps, and within this time at least, microseconds."""
WAIT_GAPS = 3
REPEATED = 2
"""Reads of snapshots that main has left, from which on a reader does so on purpose."""
_WORDS: Mapping[ReaderReason, str] = {
    "declared": "may be as far behind as the settings declare",
    "ref": "reads it by a branch or tag",
    "pinned": "reads it again and again",
    "behind": "continues from it",
}


class TableRead(NamedTuple):
    """A read that a report or a run names. `reader`: its job, else its engine. `ref`: the branch or tag that it named,
    if it did.
    """

    reader: str
    snapshot_id: int
    at: Micros
    ref: str | None = None


class RetainedSnapshot(NamedTuple):
    """A snapshot that the table still has."""

    snapshot_id: int
    committed_at: Micros
    on_main: bool = True


class RetainedRef(NamedTuple):
    """A branch or tag. `max_age`: after which an expiry removes it, microseconds; None: never, or main."""

    name: str
    snapshot_id: int
    is_tag: bool = False
    max_age: int | None = None


class DeclaredReader(NamedTuple):
    """`job`: pattern over its name, as in `[[readers]]`. `lag_us`: how far it may be behind, microseconds."""

    job: str
    lag_us: int


class ReaderNeed(NamedTuple):
    """What a reader needs for its next read. `snapshot_ids`: ascending by commit; the first is where it continues.
    `last_seen`: its last read; None: only declared. `needed_until`: when the next read is due at the latest. `lag_us`:
    how far it is declared to be behind at most, microseconds; 0 for others.
    """

    reader: str
    snapshot_ids: tuple[int, ...]
    last_seen: Micros | None
    needed_until: Micros
    because: ReaderReason
    lag_us: int = 0


class ReaderAtRisk(NamedTuple):
    """A reader whose next read fails, or reads something else, without a snapshot that is to be removed."""

    reader: str
    snapshot_id: int
    last_seen: Micros | None
    needed_until: Micros
    because: ReaderReason

    @property
    def text(self) -> str:
        """A sentence without times."""
        return f"{self.reader} needs snapshot {self.snapshot_id}: it {_WORDS[self.because]}"


def readers_at_risk(
    reads: Iterable[TableRead],
    snapshots: Iterable[RetainedSnapshot],
    refs: Sequence[RetainedRef],
    expiring_ids: Collection[int],
    declared: Sequence[DeclaredReader] = (),
    *,
    now: Micros,
) -> list[ReaderAtRisk]:
    """Readers that need one of the snapshots that a plan expires, one row each, by name. `reads`: of the last days, in
    any order. `snapshots`: all that the table has. O(n log n).
    """
    return at_risk(needs_of(reads, snapshots, refs, declared, now=now), frozenset(expiring_ids))


def at_risk(needs: Iterable[ReaderNeed], expiring: frozenset[int]) -> list[ReaderAtRisk]:
    """Of what readers need, the first snapshot that is to be removed, one row a reader, by name."""
    found: dict[str, ReaderAtRisk] = {}
    for need in needs:
        lost = next((each for each in need.snapshot_ids if each in expiring), None)
        if lost is not None and need.reader not in found:
            found[need.reader] = ReaderAtRisk(need.reader, lost, need.last_seen, need.needed_until, need.because)
    return [found[reader] for reader in sorted(found)]


def needs_of(
    reads: Iterable[TableRead],
    snapshots: Iterable[RetainedSnapshot],
    refs: Sequence[RetainedRef],
    declared: Sequence[DeclaredReader] = (),
    *,
    now: Micros,
) -> list[ReaderNeed]:
    """What each reader needs. A reader may have several needs; one that reads main's head has none."""
    line = _Line(snapshots)
    by_reader: dict[str, list[TableRead]] = defaultdict(list)
    for read in sorted(reads, key=lambda each: each.at):
        by_reader[read.reader].append(read)
    found: list[ReaderNeed] = []
    for reader, own in sorted(by_reader.items()):
        lag = lag_of(reader, declared)
        if lag is not None:
            found += _declared(reader, own, line, lag, now)
        found += _observed(reader, own, line, refs, now, follows=lag is None)
    unseen = (each for each in declared if not any(matches(each.job, reader) for reader in by_reader))
    for each in unseen:
        found += _declared(each.job, [], line, each.lag_us, now)
    return found


def lag_of(reader: str, declared: Sequence[DeclaredReader]) -> int | None:
    """The largest lag that is declared for a reader, microseconds; None if none is."""
    return max((each.lag_us for each in declared if matches(each.job, reader)), default=None)


class _Line:
    """Retained snapshots in commit order, and which one was main's head at an instant."""

    def __init__(self, snapshots: Iterable[RetainedSnapshot]) -> None:
        every = sorted(snapshots, key=lambda each: (each.committed_at, each.snapshot_id))
        self.times = {each.snapshot_id: each.committed_at for each in every}
        self.main = [each for each in every if each.on_main]
        self._place = {each.snapshot_id: place for place, each in enumerate(self.main)}

    def was_left(self, snapshot_id: int, at: Micros) -> bool:
        """Whether main had left a retained snapshot for longer than a query takes to plan when it was read; one of
        another branch is none of main's.
        """
        place = self._place.get(snapshot_id)
        if place is None:
            return True
        later = place + 1 < len(self.main)
        return later and at - self.main[place + 1].committed_at > BEHIND_SECONDS * MICROS_PER_SECOND

    def since(self, snapshot_id: int) -> tuple[int, ...]:
        """A snapshot and what main has committed after it."""
        place = self._place.get(snapshot_id)
        if place is None:
            return (snapshot_id,) if snapshot_id in self.times else ()
        return tuple(each.snapshot_id for each in self.main[place:])

    def at(self, instant: Micros) -> tuple[int, ...]:
        """Main's head at an instant, as far as it is retained, and what was committed after it."""
        before = [each for each in self.main if each.committed_at <= instant][-1:]
        return tuple(
            each.snapshot_id for each in (*before, *self.main) if each in before or each.committed_at > instant
        )


def _declared(reader: str, reads: Sequence[TableRead], line: _Line, lag_us: int, now: Micros) -> list[ReaderNeed]:
    """From the last snapshot that it read; for a reader without a known read, from its lag before now."""
    last = next((each for each in reversed(reads) if each.snapshot_id in line.times), None)
    if last is None:
        needed = line.at(Micros(now - lag_us))
        return [ReaderNeed(reader, needed, None, now, "declared", lag_us)] if needed else []
    until = Micros(max(now, last.at + lag_us))
    return [ReaderNeed(reader, line.since(last.snapshot_id), last.at, until, "declared", lag_us)]


def _observed(
    reader: str, reads: Sequence[TableRead], line: _Line, refs: Sequence[RetainedRef], now: Micros, *, follows: bool
) -> list[ReaderNeed]:
    """What the reads of one reader show. `follows`: whether it may continue from where it was; a declared one is known
    to.
    """
    named = {each.name: each.snapshot_id for each in refs if each.name != "main"}
    tagged = frozenset(named.values())
    by_ref: dict[int, list[TableRead]] = defaultdict(list)
    left: list[TableRead] = []
    for read in reads:
        target = named.get(read.ref or "")
        if target is not None or read.snapshot_id in tagged:
            by_ref[read.snapshot_id if target is None else target].append(read)
        elif read.snapshot_id in line.times and line.was_left(read.snapshot_id, read.at):
            left.append(read)
    found: list[ReaderNeed | None]
    found = [_need(reader, (target,), own, now, "ref") for target, own in by_ref.items() if target in line.times]
    if follows and reads and left and _moves_on(left, line):
        found += [_need(reader, line.since(left[-1].snapshot_id), left, now, "behind")] if reads[-1] is left[-1] else []
    else:
        pinned: dict[int, list[TableRead]] = defaultdict(list)
        for read in left:
            pinned[read.snapshot_id].append(read)
        repeated = (each for each in pinned.items() if len(each[1]) >= REPEATED and each[0] in line.times)
        found += [_need(reader, (target,), own, now, "pinned") for target, own in repeated]
    return [each for each in found if each is not None and each.snapshot_ids]


def _moves_on(reads: Sequence[TableRead], line: _Line) -> bool:
    """Whether a reader goes through snapshots in the order of their commits, as a stream does."""
    times = [line.times[each.snapshot_id] for each in reads]
    return len(set(times)) >= REPEATED and times == sorted(times)


def _need(
    reader: str, snapshot_ids: tuple[int, ...], reads: Sequence[TableRead], now: Micros, because: ReaderReason
) -> ReaderNeed | None:
    """Until the next read is overdue: then the reader has gone."""
    gaps = [later.at - each.at for each, later in pairwise(reads)]
    wait = max(WAIT_LEAST, WAIT_GAPS * round(median(gaps))) if gaps else WAIT_LEAST
    until = Micros(reads[-1].at + wait)
    return ReaderNeed(reader, snapshot_ids, reads[-1].at, until, because) if until > now else None
