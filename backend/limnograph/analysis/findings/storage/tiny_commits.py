"""`tiny_commits`: a writer commits hundreds of times a day, a few rows each, as if the table were a database.

Rows that a copy-on-write commit changed are between its net change and what it wrote: such a commit counts only where
both are on the same side of the limit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from limnograph.analysis.findings.facts import UNKNOWN, Flags, Floats, Ints, TableFacts
from limnograph.analysis.findings.level import NEVER
from limnograph.analysis.findings.stretch import Stretch
from limnograph.domain.finding_limits import DAY, FindingLimits
from limnograph.domain.time import Micros

COMMITS_KEPT = 20_000
"""Of a writer, of its last day: at ten a minute it has fewer."""
RATE = 10 * 24 * 60
"""Commits of a day from which on large files do not excuse them."""
_TINY, _LARGE, _NOT_KNOWN = 1, 0, -1


class TinySeries(NamedTuple):
    """A writer's commits of the last day, in time order. `tiny`: 1, 0, or -1 where unknown."""

    times: Ints
    tiny: Ints
    files: Ints
    bytes: Ints

    def part(self, first: int) -> TinySeries:
        return TinySeries(*(column[first:] for column in self))

    def and_then(self, later: TinySeries) -> TinySeries:
        return TinySeries(*(np.concatenate(pair) for pair in zip(self, later, strict=True)))


class TinyStretch(NamedTuple):
    """An open or ended stretch of one writer. `last`: the last commit at which there were too many."""

    stretch: Stretch
    writer: str | None
    commits: int
    last: Micros


class TinyState(NamedTuple):
    """Recent commits by writer, and stretches."""

    writers: Mapping[str | None, TinySeries] = {}
    open: Mapping[str | None, TinyStretch] = {}
    past: tuple[TinyStretch, ...] = ()
    records: int | None = None
    deletes: int | None = None

    @property
    def stretches(self) -> Iterator[TinyStretch]:
        """Every stretch."""
        yield from self.past
        yield from self.open.values()


def advance(state: TinyState, facts: TableFacts, *, until: Micros, limits: FindingLimits) -> TinyState:
    """The state after more moves. O(moves)."""
    if len(facts.times):
        rows = _rows(state, facts)
        target = facts.numbers("target_file_bytes")
        writers, open_, past = dict(state.writers), dict(state.open), state.past
        counted = facts.is_commit & ~facts.replaced
        for code, writer in enumerate(facts.writers.names):
            places = np.flatnonzero(counted & (facts.writers.codes == code))
            if not len(places):
                continue
            files, size = (facts.integers(name)[places].clip(0) for name in ("added_data_files", "added_bytes"))
            new = TinySeries(facts.times[places], _kinds(rows[:, places], limits), files, size)
            known = writers.get(writer)
            every = new if known is None else known.and_then(new)
            many, counts = _too_many(every, len(new.times), target[places], limits)
            writers[writer] = every.part(
                max(len(every.times) - COMMITS_KEPT, int(np.searchsorted(every.times, every.times[-1] - DAY)))
            )
            found = open_.pop(writer, None)
            for place in np.flatnonzero(many).tolist():
                at, commit = Micros(int(new.times[place])), int(facts.ids[places[place]])
                if found is not None and at - found.last > DAY:
                    past, found = _closed(past, found), None
                if found is None:
                    first = int(every.times[len(every.times) - len(new.times) + place - int(counts[place]) + 1])
                    found = TinyStretch(Stretch(Micros(first), at, commit), writer, 0, at)
                most = max(found.commits, int(counts[place]))
                found = found._replace(commits=most, last=at, stretch=found.stretch._replace(peak=float(most)))
            if found is not None:
                open_[writer] = found
        state = TinyState(
            writers,
            open_,
            past,
            *(
                _last(facts, name, before)
                for name, before in (("total_records", state.records), ("total_position_deletes", state.deletes))
            ),
        )
    over = [writer for writer, each in state.open.items() if each.last + DAY <= until]
    if not over:
        return state
    past = state.past
    for writer in over:
        past = _closed(past, state.open[writer])
    return state._replace(open={key: each for key, each in state.open.items() if key not in over}, past=past)


def due(state: TinyState) -> Micros:
    """When the first open stretch closes without another commit; NEVER if none does."""
    return min((Micros(each.last + DAY) for each in state.open.values()), default=NEVER)


def _closed(past: tuple[TinyStretch, ...], found: TinyStretch) -> tuple[TinyStretch, ...]:
    closed = found._replace(stretch=found.stretch._replace(closed=Micros(found.last + DAY)))
    return (*past, closed)[-16:]


def _last(facts: TableFacts, name: str, before: int | None) -> int | None:
    known = facts.integers(name)
    known = known[known != UNKNOWN]
    return int(known[-1]) if len(known) else before


def _rows(state: TinyState, facts: TableFacts) -> Floats:
    """Rows that each move changed: at least, and at most. NaN where unknown."""
    added = facts.numbers("added_records")
    total = facts.numbers("total_records")
    marked = facts.numbers("total_position_deletes")
    dropped = added - (total - _before(total, state.records))
    deleted = np.nan_to_num(np.maximum(marked - _before(marked, state.deletes), 0))
    writes_again = (dropped > 0) & (added > 0)
    least = np.where(writes_again, abs(added - dropped), np.fmax(added, dropped)) + deleted
    most = np.fmax(added, dropped) + deleted
    return np.stack([least, most])


def _before(values: Floats, first: int | None) -> Floats:
    return np.concatenate([[np.nan if first is None else first], values[:-1]])


def _kinds(rows: Floats, limits: FindingLimits) -> Ints:
    least, most = rows
    return np.where(most <= limits.tiny_rows, _TINY, np.where(least > limits.tiny_rows, _LARGE, _NOT_KNOWN))


def _too_many(every: TinySeries, new: int, target: Floats, limits: FindingLimits) -> tuple[Flags, Ints]:
    """For each of the last `new` commits: whether the day that ends with it has too many tiny ones, and how many
    commits it has.
    """
    ends = np.arange(len(every.times) - new, len(every.times))
    starts = np.searchsorted(every.times, every.times[ends] - DAY, "right")
    counts = ends + 1 - starts

    def within(values: Ints) -> Ints:
        sums = np.concatenate([[0], np.cumsum(values)])
        found: Ints = sums[ends + 1] - sums[starts]
        return found

    tiny, known = within((every.tiny == _TINY).astype(np.int64)), within((every.tiny != _NOT_KNOWN).astype(np.int64))
    files, size = within(every.files), within(every.bytes)
    large = (files > 0) & (size >= limits.tiny_large_share * target * files) & (counts < RATE)
    return (known >= limits.tiny_commits) & (2 * tiny >= known) & ~large, counts
