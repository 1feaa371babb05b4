"""Delay between a commit and its effect: the next run that reads the table, soon after it, or later.

The time scales are relative to the job: nothing shows before its next run, and an hourly job cannot react in minutes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from limnograph.analysis.explain.case import Floats, Ints

HOUR_MS = 3_600_000.0
NEXT_RUN, SOON, LATE = 0.4, 0.35, 0.25
"""Shares of the delays: at the very next run; soon (exponential); late (exponential)."""
SOON_MS, SOON_GAPS = 0.6 * HOUR_MS, 1.5
LATE_MS, LATE_GAPS = 3 * HOUR_MS, 4.0
"""Mean of late delays: in milliseconds, and at least this many gaps of the job."""
LATEST = 4.0
"""Late means after which a commit no longer explains anything."""
WIDEST = 500.0
"""Mean delays over which sums are taken at once: over more, their exponentials exceed floating point."""
READ_KNOWN = 0.97
"""Probability that the first run known to have read a commit is the first one affected."""


def horizon_ms(gap_ms: float) -> float:
    """Longest delay to examine, in milliseconds."""
    return max(LATE_MS, LATE_GAPS * gap_ms) * LATEST / 2


def soon_ms(gap_ms: float) -> float:
    """Mean of the soon delays, in milliseconds."""
    return max(SOON_MS, SOON_GAPS * gap_ms)


def onset_mass(committed: Floats, first_read: Floats, starts: Floats, before: Floats, gap_ms: float) -> Floats:
    """P(first slow run is this one | commit guilty), commits x runs.

    starts  runs that may be the first slow one
    before  the runs just before each
    gap_ms  median gap of the job
    """
    opened = np.maximum(before[None, :] - committed[:, None], 0.0)
    closed = starts[None, :] - committed[:, None]
    seen = closed >= 0
    opened, closed = np.where(seen, opened, 0.0), np.where(seen, closed, 0.0)
    soon, late = soon_ms(gap_ms), max(LATE_MS, LATE_GAPS * gap_ms)
    mass = SOON * (np.exp(-opened / soon) - np.exp(-closed / soon))
    mass += LATE * (np.exp(-opened / late) - np.exp(-closed / late))
    mass += NEXT_RUN * (seen & (before[None, :] < committed[:, None]))
    mass[closed > horizon_ms(gap_ms)] = 0.0
    known = np.isfinite(first_read)
    if known.any():
        # A run that failed has no duration: the first one affected is the next that has.
        later = starts[None, :] >= first_read[known, None]
        here = later & (before[None, :] < first_read[known, None])
        mass[known] = np.where(here, READ_KNOWN, (1 - READ_KNOWN) * mass[known] * later)
    return mass


@dataclass(frozen=True, slots=True)
class Onsets:
    """Runs that may be the first slow one, ascending, the run before each, its weight; and the job's median gap."""

    starts: Floats
    before: Floats
    weights: Floats
    gap_ms: float


def expected_mass(committed: Floats, first_read: Floats, onsets: Onsets) -> Floats:
    """`onset_mass` of each commit times the runs' weights, by sums over runs instead of a value for each pair."""
    starts, before, weights, gap = onsets.starts, onsets.before, onsets.weights, onsets.gap_ms
    first = np.searchsorted(starts, committed)
    last = np.searchsorted(starts, committed + horizon_ms(gap), side="right")
    # Only for the first run after a commit can the run before be older than the commit.
    inside = np.minimum(first, starts.size - 1)
    opens = (first < last) & (before[inside] < committed)
    wait = np.maximum(starts[inside] - committed, 0.0)
    total = NEXT_RUN * opens * weights[inside]
    for share, mean in ((SOON, soon_ms(gap)), (LATE, max(LATE_MS, LATE_GAPS * gap))):
        total += share * opens * weights[inside] * (1 - np.exp(-wait / mean))
        total += share * _decayed(committed, onsets, mean, (first + opens, last))
    known = np.isfinite(first_read)
    if known.any():
        total[known] = onset_mass(committed[known], first_read[known], starts, before, gap) @ weights
    return total


def _decayed(committed: Floats, onsets: Onsets, mean: float, runs: tuple[Ints, Ints]) -> Floats:
    """For each commit, the sum over its runs of weight times the exponential law's mass since the run before."""
    total = np.zeros(committed.size)
    block = ((onsets.starts - onsets.starts[0]) / (WIDEST * mean)).astype(np.int64)
    for edge in np.flatnonzero(np.diff(block, prepend=-1)):
        stop = int(np.searchsorted(block, block[edge], side="right"))
        low, high = (np.clip(each, edge, stop) - edge for each in runs)
        mine = np.flatnonzero(low < high)
        origin = onsets.starts[edge]
        # After such a long gap, no commit reaches the run before.
        opened = np.maximum(onsets.before[edge:stop] - origin, -WIDEST * mean)
        closed = onsets.starts[edge:stop] - origin
        terms = onsets.weights[edge:stop] * (np.exp(-opened / mean) - np.exp(-closed / mean))
        # Summed from the end: the terms decrease, and small ones must not be lost next to larger ones.
        sums = np.append(np.cumsum(terms[::-1])[::-1], 0.0)
        total[mine] += np.exp((committed[mine] - origin) / mean) * (sums[low[mine]] - sums[high[mine]])
    return total
