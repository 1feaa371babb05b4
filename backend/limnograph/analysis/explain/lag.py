"""How long after a commit its effect sets in: the next run that reads the table, soon after it, or later.

The scales are the job's own: nothing shows before its next run, and a job of every hour cannot answer in minutes.
"""

from __future__ import annotations

import numpy as np

from limnograph.analysis.explain.case import Floats

HOUR_MS = 3_600_000.0
NEXT_RUN, SOON, LATE = 0.3, 0.4, 0.3
"""Shares of: at the very next run; soon (exponential); late (exponential)."""
SOON_MS, SOON_GAPS = 0.6 * HOUR_MS, 1.5
LATE_MS, LATE_GAPS = 3 * HOUR_MS, 4.0
"""Mean lags, and what they are at least in gaps of the job."""
LATEST = 4.0
"""Late means after which a commit explains nothing any more."""
READ_KNOWN = 0.97
"""That the first run known to have read a commit is the first to feel it."""


def horizon(gap: float) -> float:
    """Longest lag that is looked at, in milliseconds."""
    return max(LATE_MS, LATE_GAPS * gap) * LATEST / 2


def soon_ms(gap: float) -> float:
    """Mean of the lags that are soon, in milliseconds."""
    return max(SOON_MS, SOON_GAPS * gap)


def onset_mass(committed: Floats, first_read: Floats, starts: Floats, before: Floats, gap: float) -> Floats:
    """P(first slow run is this one | commit guilty), commits x runs.

    `starts` are runs that may be the first slow one, `before` the runs just before each; `gap` the job's median gap.
    """
    opened = np.maximum(before[None, :] - committed[:, None], 0.0)
    closed = starts[None, :] - committed[:, None]
    seen = closed >= 0
    opened, closed = np.where(seen, opened, 0.0), np.where(seen, closed, 0.0)
    soon, late = soon_ms(gap), max(LATE_MS, LATE_GAPS * gap)
    mass = SOON * (np.exp(-opened / soon) - np.exp(-closed / soon))
    mass += LATE * (np.exp(-opened / late) - np.exp(-closed / late))
    mass += NEXT_RUN * (seen & (before[None, :] < committed[:, None]))
    mass[closed > horizon(gap)] = 0.0
    known = np.isfinite(first_read)
    if known.any():
        here = starts[None, :] == first_read[known, None]
        mass[known] = np.where(here, READ_KNOWN, (1 - READ_KNOWN) * mass[known] * (starts > first_read[known, None]))
    return mass
