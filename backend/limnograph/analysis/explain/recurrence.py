"""Commits of one kind that were followed by a change before are suspected more: same table, operation and writer."""

from __future__ import annotations

import numpy as np

from limnograph.analysis.explain.case import Floats, Ints

STRENGTH = 2.0
"""Commits of a kind that the overall rate is worth, before the kind speaks for itself."""
LEAST, MOST = 0.5, 40.0


def multipliers(kind: Ints, others: Floats, observed: Floats) -> Floats:
    """For each commit the factor that its kind has earned by other changes of the same direction.

    `others`: over those the summed posterior of every commit; `observed` 1 where the job ran when it was made.
    """
    overall = (float(others.sum()) + 0.5) / (float(observed.sum()) + 1.0)
    hits = np.bincount(kind, others, kind.max() + 1)[kind]
    # The commit itself, and those that other changes have, are no evidence about this one.
    trials = np.bincount(kind, observed, kind.max() + 1)[kind] - 1
    rate = (hits + STRENGTH * overall) / (np.maximum(trials, hits) + STRENGTH)
    return np.asarray(np.clip(rate / overall, LEAST, MOST))
