"""`stale`: a table that is no longer written at its usual rhythm; and the age of its oldest retained snapshot."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from limnograph.analysis.findings.facts import UNKNOWN, Floats, Ints, TableFacts
from limnograph.analysis.findings.level import NEVER, MeasuredLevel
from limnograph.analysis.findings.stretch import Stretch, ended
from limnograph.analysis.usual_gap import LAST_GAPS, breaks, usual_gaps_s
from limnograph.domain.finding_limits import SNAPSHOT_AGE, FindingLimits
from limnograph.domain.time import MICROS_PER_MS, MICROS_PER_SECOND, Micros

SAMPLED = 64
"""Every so many commits, the time of one is kept."""
SAMPLES_KEPT = 256
RECURS, RECURRING = 2, 1.25
"""A pause that occurred so often among the latest gaps is usual up to so many times its length."""
_NONE = np.zeros(0, np.int64)


class CommitTimes(NamedTuple):
    """Times in microseconds.

    commits  number so far
    usual    the usual gap (`analysis.usual_gap`), seconds; None if unknown
    gaps     the latest gaps between bursts of commits
    samples  times of commits 0, SAMPLED, 2 x SAMPLED, …, the latest ones; `first_sample`: index of the first of them
    """

    commits: int = 0
    first: Micros | None = None
    last: Micros | None = None
    gaps: Ints = _NONE
    samples: Ints = _NONE
    first_sample: int = 0
    usual: float | None = None
    stale: Stretch | None = None
    past: tuple[Stretch, ...] = ()


def advance(state: CommitTimes, facts: TableFacts, *, until: Micros, limits: FindingLimits) -> CommitTimes:
    """The state after more moves; a move of main is a sign of life, whatever it moves to. O(moves): only long
    pauses are looked at one by one.
    """
    times = facts.times
    if not len(times):
        return _silent(state, until, limits)
    before = times if state.last is None else np.concatenate([[state.last], times])
    pauses = np.flatnonzero(np.diff(before) > limits.stale_least) + (0 if state.last is not None else 1)
    done = 0
    for place in pauses.tolist():  # the move at this index ends a pause
        state = _counted(state, times[done:place])
        state = _silent(state, Micros(times[place] - 1), limits)
        if state.stale is not None:
            closed = state.stale._replace(closed=Micros(times[place]), closed_by=str(facts.ids[place]))
            state = state._replace(stale=None, past=ended(state.past, closed))
        done = place
    return _silent(_counted(state, times[done:]), until, limits)


def due(state: CommitTimes, limits: FindingLimits) -> Micros:
    """When the table becomes stale, or is retired."""
    after = limit_us(state, limits)
    if after is None or state.last is None:
        return NEVER
    if state.stale is None:
        retired = bool(state.past) and state.past[-1].closed_by == "retired" and state.past[-1].began == state.last
        return NEVER if retired else Micros(state.last + after)
    return Micros(state.last + round(limits.retired_intervals * after))


def oldest_ages(state: CommitTimes, facts: TableFacts) -> Floats:
    """Microseconds, per move, since the oldest snapshot that the table still has was committed: a lower bound, from the
    number of retained snapshots; NaN if unknown. `state`: before these moves.
    """
    kept = facts.integers("live_snapshots")
    now = state.commits + np.arange(len(facts.times))
    samples = np.concatenate([state.samples, _sampled(state.commits, facts.times)])
    if not len(samples):
        return np.full(len(kept), np.nan)
    places = -(-(now - kept + 1) // SAMPLED)
    found = samples[np.clip(places - state.first_sample, 0, len(samples) - 1)]
    # The oldest one may be newer than the last sample: then no age is certain.
    ages = np.where(places * SAMPLED <= now, facts.times - found, 0).astype(np.float64)
    return np.where(kept == UNKNOWN, np.nan, ages)


def unexpired(state: CommitTimes, facts: TableFacts, limits: FindingLimits) -> MeasuredLevel:
    """Retained snapshots, where the oldest is past its age."""
    ages = oldest_ages(state, facts)
    matters = ages > facts.property_numbers(SNAPSHOT_AGE, limits.snapshot_age, MICROS_PER_MS)
    kept = np.where(np.isnan(ages), np.nan, facts.numbers("live_snapshots"))
    return MeasuredLevel(kept, limits.snapshots, matters)


def _sampled(count: int, times: Ints) -> Ints:
    return times[(-count) % SAMPLED :: SAMPLED]


def _counted(state: CommitTimes, times: Ints) -> CommitTimes:
    if not len(times):
        return state
    every = times if state.last is None else np.concatenate([[state.last], times])
    places = breaks(every)
    samples = np.concatenate([state.samples, _sampled(state.commits, times)])
    dropped = max(0, len(samples) - SAMPLES_KEPT)
    commits, gaps = (
        state.commits + len(times),
        np.concatenate([state.gaps, every[places] - every[places - 1]])[-LAST_GAPS:],
    )
    first = Micros(times[0]) if state.first is None else state.first
    last = Micros(max(int(times[-1]), state.last or 0))
    return state._replace(
        commits=commits,
        first=first,
        last=last,
        gaps=gaps,
        usual=_usual_s(gaps, commits, last - first),
        samples=samples[dropped:],
        first_sample=state.first_sample + dropped,
    )


def _usual_s(gaps: Ints, commits: int, span: int) -> float | None:
    row = np.full((1, LAST_GAPS), np.inf)
    row[0, : len(gaps)] = gaps
    found = float(usual_gaps_s(row, np.array([commits]), np.array([span]))[0])
    return None if np.isnan(found) else found


def limit_us(state: CommitTimes, limits: FindingLimits) -> int | None:
    """Microseconds without a commit after which the table is stale; None if its usual gap is unknown. A pause as long
    as one that recurred, such as a night, is usual too (docs/adr/0050).
    """
    if state.usual is None:
        return None
    pause = float(np.sort(state.gaps)[-RECURS]) if len(state.gaps) >= RECURS else 0.0
    usual = limits.stale_intervals * state.usual * MICROS_PER_SECOND
    return max(limits.stale_least, round(usual), round(RECURRING * pause))


def _silent(state: CommitTimes, until: Micros, limits: FindingLimits) -> CommitTimes:
    """With what silence until an instant brings."""
    when = due(state, limits)
    if when > until or state.last is None:
        return state
    if state.stale is None:
        return _silent(state._replace(stale=Stretch(state.last, when)), until, limits)
    closed = state.stale._replace(closed=when, closed_by="retired")
    return state._replace(stale=None, past=ended(state.past, closed))
