"""`file_burst`: one commit, or commits of one writer within five minutes, add many more files than the writer usually
does, and small ones. It closes when most of these files were merged or deleted, or expires.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from limnograph.analysis.findings.facts import UNKNOWN, Ints, TableFacts
from limnograph.analysis.findings.level import LONG_AGO, NEVER
from limnograph.analysis.findings.stretch import Stretch
from limnograph.domain.finding_limits import FindingLimits
from limnograph.domain.time import Micros

LEAST, FEW = 5, 20
COMMITS_KEPT = 100
"""Latest commits of a writer, whose 99th percentile is the usual number of files."""


class Commits(NamedTuple):
    """Commits of one writer that added files, in time order, as columns."""

    times: Ints
    ids: Ints
    files: Ints
    bytes: Ints
    targets: Ints

    def and_then(self, later: Commits) -> Commits:
        """These and later ones."""
        return Commits(*(np.concatenate(pair) for pair in zip(self, later, strict=True)))

    def part(self, first: int, last: int | None = None) -> Commits:
        """Those at some indexes."""
        return Commits(*(column[first:last] for column in self))


class FileBurst(NamedTuple):
    """Files added by the commits of an open burst, and how many files were removed since. `before`: data files before
    it, None if unknown. `limit`: files that would have been no burst.
    """

    stretch: Stretch
    commits: tuple[int, ...]
    writer: str | None
    files: int
    bytes: int | None
    before: int | None
    last: Micros
    limit: float
    removed: int = 0


class BurstState(NamedTuple):
    """Recent commits per writer, the open burst, and the past ones."""

    writers: Mapping[str | None, Commits] = {}
    open: FileBurst | None = None
    past: tuple[FileBurst, ...] = ()


class _Candidate(NamedTuple):
    at: Micros
    writer: str | None
    group: Commits
    limit: float


def advance(state: BurstState, facts: TableFacts, *, until: Micros, limits: FindingLimits) -> BurstState:
    """The state after more moves. O(moves); single commits are looked at only around candidates."""
    added = facts.integers("added_data_files")
    rows = np.flatnonzero(facts.is_commit & ~facts.replaced & (added > 0))
    found: list[_Candidate] = []
    writers = dict(state.writers)
    for writer, places in _by_writer(facts, rows):
        earlier = writers.get(writer)
        commits = _commits(facts, places)
        found += _candidates(writer, earlier, commits, limits)
        both = commits if earlier is None else earlier.and_then(commits)
        writers[writer] = both.part(-COMMITS_KEPT)
    state = state._replace(writers=writers)
    at = LONG_AGO
    for candidate in sorted(found, key=lambda each: (each.at, int(each.group.ids[-1]))):
        state = _closed(state, facts, at, Micros(candidate.at - 1), limits)
        state, at = _joined(state, facts, candidate), candidate.at
    return _closed(state, facts, at, until, limits)


def due(state: BurstState, limits: FindingLimits) -> Micros:
    """When the open burst expires."""
    return NEVER if state.open is None else Micros(state.open.last + limits.expires_after)


def _by_writer(facts: TableFacts, rows: Ints) -> Iterator[tuple[str | None, Ints]]:
    codes = facts.writers.codes[rows]
    for code, writer in enumerate(facts.writers.names):
        places = rows[codes == code]
        if len(places):
            yield writer, places


def _commits(facts: TableFacts, places: Ints) -> Commits:
    names = ("added_data_files", "added_bytes", "target_file_bytes")
    return Commits(facts.times[places], facts.ids[places], *(facts.integers(name)[places] for name in names))


def _candidates(
    writer: str | None, earlier: Commits | None, commits: Commits, limits: FindingLimits
) -> Iterator[_Candidate]:
    """Commits that complete a group with too many small files."""
    every = commits if earlier is None else earlier.and_then(commits)
    new = len(every.times) - len(commits.times)
    sums = np.concatenate([[0], np.cumsum(every.files)])
    places = np.arange(new, len(every.times))
    starts = np.searchsorted(every.times, every.times[places] - limits.burst_within)
    many = sums[places + 1] - sums[starts] > limits.burst_files
    for place, start in zip(places[many].tolist(), starts[many].tolist(), strict=True):
        group, before = every.part(start, place + 1), every.part(max(0, start - COMMITS_KEPT), start)
        most = max(limits.burst_files, limits.burst_over_usual * _usual(before.files))
        if int(group.files.sum()) > most and _are_small(group, limits):
            yield _Candidate(Micros(every.times[place]), writer, group, most)


def _usual(files: Ints) -> float:
    """Files that a writer's commits usually add: the 99th percentile of at least FEW, the median of fewer. One or two
    earlier bursts make a burst no habit.
    """
    if len(files) < LEAST:
        return 0.0
    return float(np.quantile(files, 0.99) if len(files) >= FEW else np.median(files))


def _are_small(group: Commits, limits: FindingLimits) -> bool:
    """Whether the average file is small for the table; files of unknown size count as small."""
    known = (group.bytes != UNKNOWN) & (group.targets != UNKNOWN)
    if not known.any():
        return True
    average = group.bytes[known].sum() / group.files[known].sum()
    return bool(average < limits.burst_small_share * group.targets[known][-1])


def _joined(state: BurstState, facts: TableFacts, candidate: _Candidate) -> BurstState:
    """With the commits of a candidate: a part of the open burst, else a new one."""
    group, burst = candidate.group, state.open
    if burst is not None:
        group = _only(group, np.isin(group.ids, burst.commits, invert=True))
        size = int(group.bytes.sum()) if (group.bytes != UNKNOWN).all() else None
        files = burst.files + int(group.files.sum())
        more = burst._replace(
            commits=(*burst.commits, *group.ids.tolist())[-COMMITS_KEPT:],
            files=files,
            bytes=None if burst.bytes is None or size is None else burst.bytes + size,
            last=candidate.at,
            limit=candidate.limit,
            stretch=burst.stretch._replace(peak=float(files)),
        )
        return state._replace(open=more)
    files = int(group.files.sum())
    stretch = Stretch(Micros(group.times[0]), candidate.at, int(group.ids[group.files.argmax()]), peak=float(files))
    size = int(group.bytes.sum()) if (group.bytes != UNKNOWN).all() else None
    burst = FileBurst(
        stretch,
        tuple(group.ids.tolist()),
        candidate.writer,
        files,
        size,
        _before(facts, int(group.ids[0])),
        candidate.at,
        candidate.limit,
    )
    return state._replace(open=burst)


def _only(group: Commits, places: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Commits:
    return Commits(*(column[places] for column in group))


def _before(facts: TableFacts, snapshot_id: int) -> int | None:
    place = np.flatnonzero(facts.ids == snapshot_id)
    if not len(place):
        return None
    total, added, removed = (
        int(facts.integers(name)[place[0]]) for name in ("total_data_files", "added_data_files", "removed_data_files")
    )
    return None if UNKNOWN in {total, added, removed} else total - added + removed


def _closed(state: BurstState, facts: TableFacts, after: Micros, until: Micros, limits: FindingLimits) -> BurstState:
    """With what moves after an instant and until another removed of the open burst."""
    burst = state.open
    if burst is None:
        return state
    later = np.flatnonzero((facts.times > max(after, burst.last)) & (facts.times <= until))
    removed = np.where(facts.is_commit[later], facts.integers("removed_data_files")[later].clip(0), 0)
    running = burst.removed + np.cumsum(removed)
    total = facts.integers("total_data_files")[later]
    gone = running >= limits.burst_removed * burst.files
    if burst.before is not None:
        gone |= (total != UNKNOWN) & (total <= burst.before + (1 - limits.burst_removed) * burst.files)
    ends = Micros(burst.last + limits.expires_after)
    place = int(gone.argmax()) if gone.any() else -1
    if place >= 0 and facts.times[later[place]] <= ends:
        at = Micros(facts.times[later[place]])
        return _with_past(state, burst._replace(removed=int(running[place])), at, str(facts.ids[later[place]]))
    inside = int((facts.times[later] <= ends).sum())
    burst = burst._replace(removed=int(running[inside - 1]) if inside else burst.removed)
    return _with_past(state, burst, ends, "expired") if ends <= until else state._replace(open=burst)


def _with_past(state: BurstState, burst: FileBurst, at: Micros, closed_by: str) -> BurstState:
    stretch = burst.stretch._replace(closed=at, closed_by=closed_by)
    past = (*state.past, burst._replace(stretch=stretch))[-8:]
    return state._replace(open=None, past=past)
