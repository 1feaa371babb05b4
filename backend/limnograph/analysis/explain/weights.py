"""The evidence of one change for each commit, each rival and no cause, before other changes are considered: comparable
weights. P(data | change at run r) from `onset`, times the prior of each cause at run r.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from limnograph.analysis.explain.case import CaseCommits, CaseSeries, Floats, Ints
from limnograph.analysis.explain.lag import Onsets, expected_mass, horizon_ms, soon_ms
from limnograph.analysis.explain.onset import EFFECT_SCALE, Onset
from limnograph.analysis.explain.rivals import MISFIT, RivalShift

BY_COMMIT = 1.0
"""Prior number of changes per case that a commit causes."""
BY_RIVAL = 1.0
"""Prior number of changes per shift of a rival: remains of the shift, because the actual response differed."""
RIVAL_RUNS = 3.0
LEAST_EFFECT = 0.05
"""Log size below which a change more likely has no cause."""
NEAR = 9.0
"""Maximum distance (log) of an examined onset from the likeliest one."""
ENDS = 30.0
"""How much likelier a fall without a cause is if it ends a rise: pulses end by themselves."""
BRIEF = 20.0
"""How much likelier a rise of a few runs has no cause than a lasting one: runs are retried, hosts get busy."""


@dataclass(frozen=True, slots=True)
class ChangeToExplain:
    """A change to explain: its onset, and every commit's likelihood ratio of causing one like it.

    `ends`: it takes back the rise before it. `brief`: it is a rise that is taken back after a few runs.
    """

    onset: Onset
    suspicion: Floats
    ends: bool
    brief: bool = False

    @property
    def unasked(self) -> float:
        """How much likelier it is without a cause than a lasting change."""
        return ENDS if self.ends else BRIEF if self.brief else 1.0


@dataclass(frozen=True, slots=True)
class Weights:
    """Weights of one change. For each of its `candidates` (indexes of commits): the weight, how well its time alone
    fits, and the factor that compensates for its being usual. Also the weights of no change, a change without a cause,
    and the rivals.
    """

    candidates: Ints
    commit: Floats
    timing: Floats
    lift: Floats
    no_change: float
    nobody: float
    infrastructure: float
    load: float


def weigh(job: CaseSeries, commits: CaseCommits, asked: ChangeToExplain, shifts: list[RivalShift]) -> Weights:
    """Weights that do not depend on other changes, scaled so that the largest Bayes factor is 1."""
    onset, suspicion = asked.onset, asked.suspicion
    top = onset.supported
    near = np.flatnonzero(onset.support - top > -NEAR)
    factor = np.exp(onset.support[near] - top)
    places = onset.first + near
    starts, gap = job.at[places], job.gap_ms
    before = job.at[np.maximum(places - 1, 0)]
    # A commit whose first read is known acts at that run, however late the job reads it.
    read = (commits.first_read_at > before[0]) & (commits.first_read_at <= starts[-1])
    low, high = np.searchsorted(commits.at, (starts[0] - horizon_ms(gap), starts[-1] + 1))
    read[low:high] = True
    candidates = np.flatnonzero(read)
    onsets = Onsets(starts, before, factor * _worth(onset.effect[near]), gap)
    mass = expected_mass(commits.at[candidates], commits.first_read_at[candidates], onsets)
    # Not divided by their sum: if all commits are usual, all together are less likely than one odd commit.
    share = suspicion / max(suspicion.size, 1)
    until = np.searchsorted(starts, commits.at[candidates] + 2 * soon_ms(gap), side="right")
    sums = np.concatenate([[0.0], np.cumsum(factor)])
    soon = (sums[until] - sums[np.searchsorted(starts, commits.at[candidates])]) / sums[-1]
    rival = {"infrastructure": 0.0, "load": 0.0}
    for shift in shifts:
        apart = np.maximum(np.maximum(shift.of.place - places, places - shift.of.place - shift.of.rise), 0)
        reach = np.exp(-apart / RIVAL_RUNS) / (2 * RIVAL_RUNS + shift.of.rise)
        rival[shift.kind] += BY_RIVAL * float((factor * _remains(onset, near, shift)) @ reach)
    return Weights(
        candidates,
        BY_COMMIT * share[candidates] * mass,
        soon,
        1 / np.minimum(suspicion[candidates], 1.0),
        float(np.exp(np.clip(-top, -700, 50))),
        asked.unasked * float(factor.sum()) / len(job),
        rival["infrastructure"],
        rival["load"],
    )


def _worth(effect: Floats) -> Floats:
    """The share of effects of that size that commits cause: jobs move by a few percent without one."""
    return np.asarray(1 / (1 + (LEAST_EFFECT / np.maximum(np.abs(effect), 1e-9)) ** 4))


def _remains(onset: Onset, near: Ints, shift: RivalShift) -> Floats:
    """How much likelier such an effect is as the remainder of a shift than as a separate effect."""
    effect, error = onset.effect[near], onset.error[near]
    left, own = np.hypot(MISFIT * shift.seen, error), np.hypot(EFFECT_SCALE, error)
    return np.asarray(np.exp(0.5 * ((effect / own) ** 2 - (effect / left) ** 2)) * own / left)
