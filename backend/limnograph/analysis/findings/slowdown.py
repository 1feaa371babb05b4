"""Whether a job is slow now, and since which run: a cheap look at all jobs, whose few hits the estimator of effects
then confirms or refuses.
"""

from __future__ import annotations

import numpy as np

from limnograph.analysis.findings.facts import Floats

LEAST_BEFORE, LATEST = 8, 5
SUSPECTED = 1.10
"""Median of the latest runs over that of the runs before: from here on the estimator is asked."""
_LOOK_BACK = 96


def slow_since(seconds: Floats) -> int | None:
    """Index of the run with which a slow phase that still lasts began; None if the job is not slow. `seconds`: of runs
    that ended, in order; NaN where unknown. O(runs).

    The phase is the longest one at the end in which four fifths of the runs lie above the middle between the medians
    of both sides.
    """
    known = np.flatnonzero(seconds > 0)
    if len(known) < LEAST_BEFORE + LATEST:
        return None
    levels = np.log(seconds[known])[-2 * _LOOK_BACK :]
    now = float(np.median(levels[-LATEST:]))
    before = float(np.quantile(levels[:-LATEST], 0.25, method="lower"))
    middle = (now + before) / 2
    above = levels > middle
    share = np.cumsum(above[::-1]) / np.arange(1, len(above) + 1)
    lasting = np.flatnonzero(share[LATEST - 1 :] >= 0.8) + LATEST
    lasting = lasting[lasting <= len(levels) - LEAST_BEFORE]
    if not len(lasting):
        return None
    length = int(lasting[-1])
    while length > LATEST and not above[-length]:
        length -= 1
    usual = float(np.median(levels[:-length]))
    if now - usual < np.log(SUSPECTED):
        return None
    return int(known[len(known) - length])
