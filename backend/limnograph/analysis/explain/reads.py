"""Rises that begin exactly at the first run that read an unusual commit, and that a search of all runs overlooks.

A search pays for every run at which a change could begin. Where runs report what they read, the candidates are the runs
that read something first. Each is weighed as the attribution does: the Bayes factor of a rise there (a mean over its
possible lengths; `onset._support`) times the prior of its commits (`weights.BY_COMMIT`, `structure`).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from limnograph.analysis.explain.case import CaseCommits, CaseSeries, Floats, Ints
from limnograph.analysis.explain.changes import find_levels
from limnograph.analysis.explain.epochs import EXPECTED, LEAST_WIDTH, LONGEST_MS, ResidualRises, residual_rises
from limnograph.analysis.explain.normalise import NormalisedSeries
from limnograph.analysis.explain.onset import EFFECT_SCALE

MOST_READS = 64
"""Maximum runs to examine: those that first read the most unusual commits."""
MOST_LENGTHS = 48
LIKELY = 1.5
"""Minimum log odds, prior and evidence together, of a rise to propose it."""


def with_reads(
    job: CaseSeries, commits: CaseCommits, ratio: Floats, normal: NormalisedSeries, kept: float
) -> NormalisedSeries:
    """The same series with those proposed rises among its levels that pass the test.

    `ratio`: likelihood ratio of guilt of each commit.
    """
    known = (commits.first_read_at >= job.at[0]) & (commits.first_read_at <= job.at[-1])
    if not known.any():
        return normal
    places = np.searchsorted(job.at, commits.first_read_at[known])
    prior = np.bincount(places, ratio[known], len(job)) / len(commits)
    rises = residual_rises(normal)
    found: set[int] = set()
    for place in np.argsort(-prior, kind="stable")[:MOST_READS].tolist():
        lengths = _lengths(job, place, normal.levels.places)
        if prior[place] > 0 and lengths.size:
            found |= _rise(rises, place, lengths, float(np.log(prior[place])))
    if not found:
        return normal
    places_of = sorted({*normal.levels.places, *found})
    return replace(normal, levels=find_levels(normal.values, EXPECTED * kept, places_of))


def _lengths(job: CaseSeries, place: int, changes: list[int]) -> Ints:
    """Possible first runs after a rise that begins at `place`: none where a change next to it was found already."""
    edges = np.array([0, *changes, len(job) - 2])
    after = int(np.searchsorted(edges, place, side="right"))
    if after == edges.size or place - edges[after - 1] <= LEAST_WIDTH or edges[after] - place <= LEAST_WIDTH:
        return np.empty(0, np.int64)
    last = min(int(edges[after]), int(np.searchsorted(job.at, job.at[place] + LONGEST_MS)))
    return np.unique(np.linspace(place + LEAST_WIDTH, last, MOST_LENGTHS).astype(np.int64))


def _rise(rises: ResidualRises, place: int, stops: Ints, prior: float) -> set[int]:
    """First run, and first run after it, of the rise that begins at `place`, if it is likely enough."""
    score, information = rises.measured(np.full(stops.size, place), stops)
    gain = information * EFFECT_SCALE**2
    support = 0.5 * np.maximum(score, 0.0) ** 2 / information * gain / (1 + gain) - 0.5 * np.log1p(gain)
    top = float(support.max())
    likely = top + float(np.log(np.exp(support - top).mean())) + prior >= LIKELY
    return {place, int(stops[support.argmax()])} if likely else set()
