"""The usual time between a table's commits: the 90th percentile of the gaps between bursts of commits.

Commits less than a minute apart are one burst, and so are bursts closer than a tenth of the median gap between bursts:
a table written twice a day in two steps has a gap of twelve hours, not of seconds. Commits are sorted by their times,
whatever the writer's clock did.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

LEAST_COMMITS = 5
LAST_GAPS = 49
"""Maximum number of gaps between bursts: the latest ones."""
_BURST = 60 * 1_000_000
_LEAST_GAPS = 3
_JOIN = 0.1
_QUANTILE = 0.9
_STEADY, _PAUSED = 3_600 * 1_000_000, 0.1
"""With fewer gaps, commits over an hour or more, with no pause longer than a tenth of it, are a steady stream."""


def breaks(times: Ints) -> Ints:
    """Indexes in `times` (microseconds, ascending) of the commits that begin a new burst; the first is not included."""
    return np.flatnonzero(np.diff(times) >= _BURST) + 1


def usual_gap_s(times: Ints) -> float | None:
    """Usual gap of one table, from the times of its commits (microseconds, ascending); None if too little is known."""
    if len(times) < LEAST_COMMITS:
        return None
    places = breaks(times)[-LAST_GAPS:]
    gaps = np.full((1, LAST_GAPS), np.inf)
    gaps[0, : len(places)] = times[places] - times[places - 1]
    found = float(usual_gaps_s(gaps, np.array([len(times)]), np.array([times[-1] - times[0]]))[0])
    return None if np.isnan(found) else found


def usual_gaps_s(gaps: Floats, commits: Ints, spans: Ints) -> Floats:
    """Usual gaps of many tables, in seconds; NaN if too little is known.

    gaps     microseconds; `gaps[table, LAST_GAPS]`: the latest gaps between bursts, in any order, infinite if there are
             fewer
    commits  number of commits in total
    spans    microseconds from the first to the last commit
    """
    ordered = np.sort(gaps, axis=1)
    known = np.isfinite(ordered).sum(axis=1)
    row, some = np.arange(len(gaps)), np.maximum(known, 1)
    with np.errstate(invalid="ignore"):
        median = (ordered[row, (some - 1) // 2] + ordered[row, some // 2]) / 2
        joined = (ordered < _JOIN * median[:, None]).sum(axis=1)
        place = joined + _QUANTILE * (np.maximum(known - joined, 1) - 1)
        low, part = np.floor(place).astype(np.int64), place % 1
        high = np.minimum(low + 1, np.maximum(known - 1, 0))
        usual = ordered[row, low] + np.where(part > 0, (ordered[row, high] - ordered[row, low]) * part, 0.0)
    paused = np.where(np.isfinite(ordered[:, :_LEAST_GAPS]), ordered[:, :_LEAST_GAPS], 0.0)
    steady = (spans >= _STEADY) & (paused.sum(axis=1) <= _PAUSED * spans)
    few = np.where(steady, np.maximum(paused.max(axis=1), _BURST), np.nan)
    found = np.where(known >= _LEAST_GAPS, usual, few)
    return np.where(commits >= LEAST_COMMITS, found, np.nan) / 1_000_000
