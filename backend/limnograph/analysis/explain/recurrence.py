"""Commits of one kind (same table, operation, writer) that repeatedly precede a change are suspected more.

One or two hits are chance if there are many commits: a kind is recurrent only as far as its hits are more probable
under that hypothesis (binomial) than at the rate of all other kinds.
"""

from __future__ import annotations

import numpy as np

from limnograph.analysis.explain.case import Floats

RECURRENT = 0.003
"""Prior share of kinds that slow a job repeatedly."""
LEAST_RATE = 0.25
"""Minimum share of the commits of such a kind that slow the job."""
MOST = 100.0
"""Maximum factor; in a case with more commits than this, their number."""


def multipliers(hits: Floats, made: Floats, share: float = RECURRENT, chance: float = 0.0) -> Floats:
    """For each kind, the factor of its commits from other changes of the same direction, from 1 to `most`.

    hits    summed posterior of the kind's commits over those changes (one row per change to explain)
    made    number of its commits while the job ran
    share   prior share of recurrent kinds
    chance  how often a change follows any commit
    """
    # Compared with all other kinds: a kind that explains most changes must not raise its own baseline.
    usual = np.minimum((hits.sum(axis=-1, keepdims=True) - hits + 0.5) / (made.sum() - made + 1.0), 0.9)
    # Such a kind slows the job with a good part of its commits, not with two of five hundred.
    rate = np.clip(hits / np.maximum(made, 1.0), LEAST_RATE, 0.95)
    missed = np.maximum(made - hits, 0.0)
    # If a job changes often, changes follow any commit: two hits of two prove nothing there.
    by_chance = np.clip(usual, min(chance, 0.9), 0.9)
    gain = hits * np.log(rate / by_chance) + missed * np.log((1 - rate) / np.maximum(1 - by_chance, 1e-9))
    odds = share / (1 - share) * np.exp(np.clip(gain, -50.0, 50.0))
    return np.asarray(1 + odds / (1 + odds) * np.clip(rate / usual - 1, 0.0, most(made) - 1))


def most(made: Floats) -> float:
    """Maximum factor: with it, one commit is as likely to slow the job as all of the case's commits together."""
    return max(MOST, float(made.sum()))
