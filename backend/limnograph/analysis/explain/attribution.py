"""Posterior of every cause of each change: every commit, the rivals, and "none", with a sum of 1.

`weights` computes the evidence of each change alone; this module combines the changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from limnograph.analysis.explain.case import CaseCommits, CaseSeries, Floats, Ints
from limnograph.analysis.explain.lag import soon_ms
from limnograph.analysis.explain.recurrence import LEAST_RATE, RECURRENT, most, multipliers
from limnograph.analysis.explain.rivals import RivalShift
from limnograph.analysis.explain.weights import ChangeToExplain, Weights, weigh

BY_NOBODY = 0.35
"""Prior number of changes per case without a cause in the case (a release, a neighbour that no control observed)."""
ROUNDS = 8
EAGER = 0.5
"""Prior share of recurrent kinds in the story that starts with one of them."""
LEAST_MET, MOST_STORIES = 1.5, 4
"""Minimum changes that follow a kind's commits closely, for a story that starts with it; maximum number of stories."""
RAISED = 2.0
"""Minimum factor for which a kind counts as recurrent."""
SMALLER = 2.0
"""Exponent of the ratio of sizes with which a smaller change without a cause predicts a larger one."""
TWICE = 0.02
"""How often a commit that caused one change causes another as well."""


@dataclass(frozen=True, slots=True)
class Shares:
    """Posterior of each hypothesis about one change.

    `commit` has one entry per commit of the case, `recurrence` one per kind of commits.
    """

    commit: Floats
    nothing: float
    infrastructure: float
    load: float
    real: float
    recurrence: Floats
    nobody: float
    evidence: float


def attribute(
    job: CaseSeries,
    commits: CaseCommits,
    asked: list[ChangeToExplain],
    shifts: list[RivalShift],
    recurring: Mapping[int, float],
) -> list[Shares]:
    """Posteriors of every change; kinds of commits learn from the other changes of the same direction.

    `recurring`: log Bayes factor of kinds of commits that slow the job by their mean, against no change after any.
    """
    weighed = [weigh(job, commits, each, shifts) for each in asked]
    kinds, size = int(commits.kind.max(initial=-1)) + 1, len(commits)
    observed = ((commits.at >= job.at[0]) & (commits.at <= job.at[-1])).astype(np.float64)
    if len(asked) < 2 or not size:
        return [_share(each, np.ones(kinds), BY_NOBODY, commits.kind, np.zeros(size)) for each in weighed]
    made = np.bincount(commits.kind, observed, kinds).astype(np.float64)
    span = max(float(job.at[-1] - job.at[0]), 1.0)
    chance = sum(each.onset.rises for each in asked) * 2 * soon_ms(job.gap_ms) / span
    around = _Others(commits.kind, made, _foretold(asked), [each.onset.rises for each in asked], chance)
    real = np.array([1 - each.no_change / (each.no_change + each.nobody) for each in weighed])
    # Commits of one kind did it, or the job wanders by itself: both are self-consistent. Choose the likelier one.
    stories = [_settled(weighed, around, start) for start in (None, real)]
    plain = max(story[0] for story in stories)
    stories += [_settled(weighed, around, None, kind) for kind in _timely(weighed, around)]
    for kind, gain in recurring.items():
        evidence, shares = _settled(weighed, around, None, kind, sure=True)
        stories.append((max(evidence, plain + gain + float(np.log(RECURRENT))), shares))
    return max(stories, key=lambda story: story[0])[1]


def _timely(weighed: list[Weights], around: _Others) -> list[int]:
    """Kinds whose commits closely precede changes, for a good part of both, judged by time alone."""
    rises = [each for each, up in zip(weighed, around.rises, strict=True) if up]
    met = np.zeros(around.made.size)
    for each in rises:
        nearest = np.zeros(around.made.size)
        np.maximum.at(nearest, around.kind[each.candidates], each.timing)
        met += nearest
    rate = met / np.maximum(around.made, 1.0)
    order = [int(kind) for kind in np.argsort(-rate * met)[:MOST_STORIES]]
    return [kind for kind in order if met[kind] >= LEAST_MET and rate[kind] >= LEAST_RATE]


@dataclass(frozen=True, slots=True)
class _Others:
    """Evidence that changes provide about each other."""

    kind: Ints
    made: Floats
    foretold: Floats
    rises: list[bool]
    chance: float


def _settled(
    weighed: list[Weights], around: _Others, guess: Floats | None, kind: int | None = None, *, sure: bool = False
) -> tuple[float, list[Shares]]:
    """Posteriors that are consistent with each other, and their evidence.

    `guess`: initial probability that each change has no cause. None: first let kinds of commits explain what they can,
    `kind` before all others; and if that is `sure`, throughout.
    """
    nobody = np.zeros(len(weighed)) if guess is None else guess
    first = np.ones(around.made.size)
    if kind is not None:
        first[kind] = most(around.made)
    again, recurrent = np.where(np.array(around.rises)[:, None], first, 1.0), 0.0
    spent = [np.zeros(around.kind.size) for _ in weighed]
    for turn in range(ROUNDS):
        own = BY_NOBODY + around.foretold @ nobody
        shares = [_share(each, again[k], own[k], around.kind, spent[k]) for k, each in enumerate(weighed)]
        spent = _spent(shares)
        eager = guess is None and turn < ROUNDS // 2
        if not eager:
            nobody = np.array([each.nobody for each in shares])
        again, recurrent = _again(around, shares, EAGER if eager else RECURRENT)
        if sure:
            again = np.where(np.array(around.rises)[:, None], np.maximum(again, first), again)
    evidence = sum(float(np.log(each.evidence)) for each in shares)
    expected = float(nobody.sum()) + sum(float(each.commit.sum()) for each in shares)
    return evidence - expected + recurrent, shares


def _spent(shares: list[Shares]) -> list[Floats]:
    """For each change, the probability that each commit caused another one, and so not this one."""
    total = np.sum([each.commit for each in shares], axis=0)
    return [np.clip(total - each.commit, 0.0, 1 - TWICE) for each in shares]


def _again(around: _Others, shares: list[Shares], share: float) -> tuple[Floats, float]:
    """Factors of kinds of commits from the other changes of each change's direction (changes x kinds), and the log
    prior of such kinds.
    """
    hits = np.array([np.bincount(around.kind, each.commit, around.made.size) for each in shares])
    rises = np.array(around.rises)
    alike = np.where(rises[:, None], hits[rises].sum(axis=0), hits[~rises].sum(axis=0))
    told = multipliers(alike - hits, around.made, share, around.chance)
    kinds = (told > RAISED).any(axis=0).sum()
    return told, float(np.log(RECURRENT)) * float(kinds)


def _foretold(asked: list[ChangeToExplain]) -> Floats:
    """How much another change (column), if it had no cause, predicts this one (row).

    A job that wanders by 5 % does so again; that says little about a rise of 50 %. The end of a pulse is not a separate
    change, and a few slow runs predict no lasting change.
    """
    size = np.array([abs(each.onset.effect[each.onset.index]) for each in asked])
    ratio = np.minimum(1.0, size[None, :] / np.maximum(size[:, None], 1e-9)) ** SMALLER
    ends, brief = (np.array([getattr(each, name) for each in asked]) for name in ("ends", "brief"))
    ratio[:, ends] = ratio[ends] = 0.0
    ratio[np.ix_(~brief, brief)] = 0.0
    np.fill_diagonal(ratio, 0.0)
    return np.asarray(ratio)


def _share(weights: Weights, multiplier: Floats, own: float, kind: Ints, spent: Floats) -> Shares:
    commit = np.zeros(kind.size)
    again = multiplier[kind[weights.candidates]]
    # A recurrent kind is suspected for what it is: that its commits are usual for it does not clear them.
    lift = np.where(again > RAISED, weights.lift, 1.0)
    commit[weights.candidates] = weights.commit * again * lift * (1 - spent[weights.candidates])
    nobody = own * weights.nobody
    rest = weights.no_change + nobody + weights.infrastructure + weights.load
    total = float(commit.sum()) + rest
    return Shares(
        commit / total,
        float((weights.no_change + nobody) / total),
        float(weights.infrastructure / total),
        float(weights.load / total),
        float(1 - weights.no_change / total),
        multiplier,
        float(nobody / total),
        float(total),
    )
