"""Who changed the job: for each change the weight of every commit, of the rivals, and of "none", which add up to 1.

One model for all: P(data | change at run r) from `onset`, times the prior of who would change the job at run r.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from limnograph.analysis.explain.case import Commits, Floats, Ints, Series
from limnograph.analysis.explain.lag import horizon, onset_mass
from limnograph.analysis.explain.onset import Onset
from limnograph.analysis.explain.recurrence import multipliers
from limnograph.analysis.explain.rivals import Shift

BY_COMMIT = 1.0
"""Expected changes of a case that a commit causes, before anything was seen."""
BY_NOBODY = 0.45
"""... that nothing in the case explains (a release of the job, a neighbour that no control saw)."""
BY_RIVAL = 1.0
"""... for each shift of a rival: what was not taken out of the series, because the response was not quite that."""
RIVAL_RUNS = 3.0
NEAR, MOST_PLACES = 9.0, 96
"""Onsets that are looked at: not less likely than this (log), and at most so many."""
ROUNDS = 4
ENDS = 30.0
"""How much likelier a fall without a cause is when it ends a rise: pulses go away by themselves."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A change to explain: its onset, every commit's likelihood ratio of causing one like it, is it a rise's end."""

    onset: Onset
    suspicion: Floats
    ends: bool


@dataclass(frozen=True, slots=True)
class Shares:
    """Posterior of each hypothesis about one change. `commit` has a place for every commit of the case."""

    commit: Floats
    nothing: float
    infrastructure: float
    load: float
    real: float
    recurrence: Floats


@dataclass(frozen=True, slots=True)
class _Weights:
    candidates: Ints
    commit: Floats
    no_change: float
    nobody: float
    infrastructure: float
    load: float


def attribute(job: Series, commits: Commits, asked: list[Asked], shifts: list[Shift]) -> list[Shares]:
    """Posteriors of every change; kinds of commits learn from the other changes of the same direction."""
    weighed = [_weigh(job, commits, each, shifts) for each in asked]
    observed = ((commits.at >= job.at[0]) & (commits.at <= job.at[-1])).astype(np.float64)
    none, size = np.zeros(len(commits)), len(commits)
    shares = [_share(each, np.ones(size), size) for each in weighed]
    rises = [each.onset.rises for each in asked]
    for _ in range(ROUNDS if len(asked) > 1 and size else 0):
        total = {way: sum((s.commit for s, up in zip(shares, rises, strict=True) if up == way), none) for way in rises}
        shares = [
            _share(each, multipliers(commits.kind, total[rises[k]] - shares[k].commit, observed), size)
            for k, each in enumerate(weighed)
        ]
    return shares


def _weigh(job: Series, commits: Commits, asked: Asked, shifts: list[Shift]) -> _Weights:
    """Weights that do not depend on other changes, scaled so that the largest Bayes factor is 1."""
    onset, suspicion = asked.onset, asked.suspicion
    top = onset.supported
    near = np.flatnonzero(onset.support > top - NEAR)
    if near.size > MOST_PLACES:
        near = np.sort(near[np.argpartition(-onset.support[near], MOST_PLACES)[:MOST_PLACES]])
    factor = np.exp(onset.support[near] - top)
    places = onset.first + near
    starts, gap = job.at[places], job.gap
    before = job.at[np.maximum(places - 1, 0)]
    low, high = np.searchsorted(commits.at, (starts[0] - horizon(gap), starts[-1] + 1))
    candidates = np.arange(low, high)
    mass = onset_mass(commits.at[candidates], commits.first_read_at[candidates], starts, before, gap)
    # Not divided by their sum: where all commits are usual, all together are less likely than one odd one.
    share = suspicion / max(suspicion.size, 1)
    rival = {"infrastructure": 0.0, "load": 0.0}
    for shift in shifts:
        reach = np.exp(-np.abs(places - shift.place) / RIVAL_RUNS) / (2 * RIVAL_RUNS)
        rival[shift.kind] += BY_RIVAL * float(factor @ reach)
    return _Weights(
        candidates,
        BY_COMMIT * share[candidates] * (mass @ factor),
        float(np.exp(np.clip(-top, -700, 50))),
        BY_NOBODY * (ENDS if asked.ends else 1.0) * float(factor.sum()) / len(job),
        rival["infrastructure"],
        rival["load"],
    )


def _share(weights: _Weights, multiplier: Floats, size: int) -> Shares:
    commit = np.zeros(size)
    commit[weights.candidates] = weights.commit * multiplier[weights.candidates]
    rest = weights.no_change + weights.nobody + weights.infrastructure + weights.load
    total = float(commit.sum()) + rest
    return Shares(
        commit / total,
        (weights.no_change + weights.nobody) / total,
        weights.infrastructure / total,
        weights.load / total,
        1 - weights.no_change / total,
        multiplier,
    )
