"""Commits of one kind that were followed by a change again and again are suspected more: same table, operation, writer.

One or two hits are what chance brings where commits are many: a kind is a recurrent one only as far as its hits are
more probable so (binomial) than at the rate of all other kinds.
"""

from __future__ import annotations

import numpy as np

from limnograph.analysis.explain.case import Floats

RECURRENT = 0.003
"""Share of kinds that slow a job again and again, before any case was seen."""
LEAST_RATE = 0.25
"""Share of the commits of such a kind that slow the job, at least."""
MOST = 100.0
"""Factor, at most; in a case of more commits than this, as many as these are."""


def multipliers(hits: Floats, made: Floats, share: float = RECURRENT, chance: float = 0.0) -> Floats:
    """For each kind the factor that its commits have earned by other changes of the same direction, from 1 to `most`.

    `hits`: summed posterior of the kind's commits over those changes (a row for each change to explain);
    `made`: how many it made while the job ran; `share` of kinds that are recurrent, before anything was seen; `chance`:
    how often a change follows any commit.
    """
    # Against all other kinds: a kind that explains most changes must not raise what it is compared with.
    usual = np.minimum((hits.sum(axis=-1, keepdims=True) - hits + 0.5) / (made.sum() - made + 1.0), 0.9)
    # Such a kind slows the job with a good part of its commits, not with two of five hundred.
    rate = np.clip(hits / np.maximum(made, 1.0), LEAST_RATE, 0.95)
    missed = np.maximum(made - hits, 0.0)
    # In a job that changes often, changes follow any commit: two hits of two are no proof there.
    by_chance = np.clip(usual, min(chance, 0.9), 0.9)
    gain = hits * np.log(rate / by_chance) + missed * np.log((1 - rate) / np.maximum(1 - by_chance, 1e-9))
    odds = share / (1 - share) * np.exp(np.clip(gain, -50.0, 50.0))
    return np.asarray(1 + odds / (1 + odds) * np.clip(rate / usual - 1, 0.0, most(made) - 1))


def most(made: Floats) -> float:
    """Largest factor: with it a commit is as likely to slow the job as all of the case's commits together are."""
    return max(MOST, float(made.sum()))
