"""Rises too small to be detected one by one, but clear in the mean over all commits of one kind (superposed epochs).

Which of a kind's commits slow the job is unknown: if their mean stands out, the best rise after each is proposed as two
changes of level, and each is tested like any other.

Likewise rises that begin exactly at the first run that read an unusual commit (`with_reads`). A search pays for each
run at which a change could begin; where runs report what they read, those that read something first are candidates.
Each is weighed as the attribution does: the Bayes factor of a rise there (mean over its lengths; `onset._support`)
times the prior of its commits (`weights.BY_COMMIT`, `structure`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from limnograph.analysis.explain.case import CaseCommits, CaseSeries, Floats, Ints
from limnograph.analysis.explain.changes import SUPPORTED, find_levels
from limnograph.analysis.explain.cycles import DAY_MS
from limnograph.analysis.explain.lag import HOUR_MS, soon_ms
from limnograph.analysis.explain.noise import Noise
from limnograph.analysis.explain.normalise import NormalisedSeries
from limnograph.analysis.explain.onset import EFFECT_SCALE

SPANS = (1.0, 2.0, 3.0)
"""Hours after a commit (or gaps of the job, if longer) over which the mean is taken."""
LEAST_COMMITS, MOST_COMMITS = 4, 64
CLEAR = 4.5
"""Minimum standard errors of a mean rise, relative to those of all kinds and spans."""
SHOWN = 6.0
"""Minimum squared standard errors of the best rise after one commit to propose it."""
LEAST_WIDTH, MOST_WIDTH, LONGEST_MS = 3, 96, 6 * HOUR_MS
"""Minimum and maximum runs of a proposed rise, and its maximum duration."""
EXPECTED = 0.7
"""Share of the usually required evidence: here a change is expected."""
EXACT = (0.4, 0.5)
"""The same share, and the log Bayes factor, where it is also known at which run each rise begins: none is searched."""
HEIGHTS, SHARES = (0.05, 0.1, 0.2, 0.4, 0.8), (0.3, 0.6, 0.9)
"""Heights (log) of the rises that a kind of commits causes, and the shares of its commits that cause one."""
MOST_LOG = 50.0
SAME_HOUR = 0.7
"""Mean resultant length of the commits' times of day (1: all at the same time) at which their effect is no longer
separable from the job's daily cycle.
"""
MOST_READS = 64
"""Maximum runs to examine: those that first read the most unusual commits."""
MOST_LENGTHS = 48
LIKELY = 1.5
"""Minimum log odds, prior and evidence together, of a rise to propose it."""


def with_recurring(
    job: CaseSeries, commits: CaseCommits, normal: NormalisedSeries, kept: float
) -> tuple[NormalisedSeries, dict[int, float]]:
    """The same series with those proposed rises among its levels that pass the test.

    Also the log Bayes factor of each kind of commits whose mean is clear, where it is known which runs read them first.
    """
    found, exact, gains = _proposed(job, commits, normal)
    if not found:
        return normal, gains
    places = sorted({*normal.levels.places, *found})
    share, supported = EXACT if exact else (EXPECTED, SUPPORTED)
    return replace(normal, levels=find_levels(normal.values, share * kept, places, supported)), gains


@dataclass(frozen=True, slots=True)
class ResidualRises:
    """Rises with a given first run, and first run after them, in the whitened residuals of the levels."""

    white: Floats
    sums: Floats
    noise: Noise

    def measured(self, starts: Ints, stops: Ints) -> tuple[Floats, Floats]:
        """Score and information of each; their ratio is its height."""
        noise, first = self.noise, 1 / self.noise.innovation
        unit = (1 - noise.phi) * first
        # Whitened: `first` at its first run, `unit` within, and the remainder just after its end.
        after = np.append(self.white, 0.0)[stops]
        score = first * (self.white[starts] - noise.phi * after) + unit * (self.sums[stops] - self.sums[starts + 1])
        return np.asarray(score), np.asarray(first**2 * (1 + noise.phi**2) + unit**2 * (stops - starts - 1))


def residual_rises(normal: NormalisedSeries) -> ResidualRises:
    """Rises in what the levels of a series leave."""
    white = normal.levels.noise.whiten(normal.values - normal.levels.level)
    return ResidualRises(white, np.concatenate([[0.0], np.cumsum(white)]), normal.levels.noise)


def _proposed(
    job: CaseSeries, commits: CaseCommits, normal: NormalisedSeries
) -> tuple[set[int], bool, dict[int, float]]:
    """Edges of the proposed rises, and whether it is known for all of these commits which run read them first.

    Also the log Bayes factor of each of their kinds for which that is known.
    """
    told = np.where(np.isfinite(commits.first_read_at), commits.first_read_at, commits.at)
    observed = np.flatnonzero((commits.at >= job.at[0]) & (told < job.at[-1]))
    kind, size = commits.kind[observed], int(commits.kind.max(initial=-1)) + 1
    made = np.bincount(kind, minlength=size)
    asked = (made >= LEAST_COMMITS) & (made <= MOST_COMMITS)
    observed, kind = observed[asked[kind]], kind[asked[kind]]
    rises = residual_rises(normal)
    known = np.isfinite(commits.first_read_at[observed])
    starts = np.searchsorted(job.at, told[observed])
    clear = np.zeros(size, bool)
    means: list[tuple[Floats, Floats]] = []
    for span in SPANS:
        stops = np.searchsorted(job.at, job.at[starts] + span * max(HOUR_MS, job.gap_ms))
        fits = stops > starts + 1
        score, information = np.zeros(starts.size), np.zeros(starts.size)
        score[fits], information[fits] = rises.measured(starts[fits], stops[fits])
        total = np.bincount(kind, information, size)
        clear |= np.bincount(kind, score, size) >= CLEAR * np.sqrt(np.maximum(total, 1e-12))
        means.append((score, information))
    found: set[int] = set()
    for start, exact in zip(starts[clear[kind]], known[clear[kind]], strict=True):
        found |= _best(job, rises, int(start), normal.levels.places, exact=bool(exact))
    gains: dict[int, float] = {}
    for each in np.flatnonzero(clear).tolist():
        mine = kind == each
        if known[mine].all() and abs(np.exp(2j * np.pi * job.at[starts[mine]] / DAY_MS).mean()) < SAME_HOUR:
            gains[each] = _gain([(score[mine], information[mine]) for score, information in means])
    return found, bool(known[clear[kind]].all()), gains


def _gain(means: list[tuple[Floats, Floats]]) -> float:
    """Log Bayes factor of rises of one height after a share of a kind's commits: mean over spans, heights and shares.

    `means`: score and information of the rise after each commit, for each span.
    """
    told = []
    for score, information in means:
        for height in HEIGHTS:
            each = np.clip(height * score - 0.5 * height**2 * information, -MOST_LOG, MOST_LOG)
            told += [float(np.log1p(share * np.expm1(each)).sum()) for share in SHARES]
    return float(np.logaddexp.reduce(told)) - float(np.log(len(told)))


def _best(job: CaseSeries, rises: ResidualRises, place: int, changes: Sequence[int], *, exact: bool) -> set[int]:
    """First run, and first run after it, of the clearest rise that begins soon after a commit; empty if none does.

    `exact`: `place` is the run that read the commit first; else the rise may begin later.
    """
    soon = int(np.searchsorted(job.at, job.at[place] + 2 * soon_ms(job.gap_ms)))
    first = np.arange(max(place, 2), place + 1 if exact else max(soon, place + 3))
    longest = int(np.clip(LONGEST_MS / max(job.gap_ms, 1.0), 2 * LEAST_WIDTH, MOST_WIDTH))
    width = np.arange(LEAST_WIDTH, longest + 1)
    starts, stops = (each.ravel() for each in np.broadcast_arrays(first[:, None], first[:, None] + width))
    fits = stops < len(job) - 2
    if not fits.any():
        return set()
    starts, stops = starts[fits], stops[fits]
    score, information = rises.measured(starts, stops)
    squared = np.maximum(score, 0.0) ** 2 / information
    best = int(squared.argmax())
    low, high = int(starts[best]), int(stops[best])
    taken = any(low - LEAST_WIDTH <= change <= high + LEAST_WIDTH for change in changes)
    return {low, high} if squared[best] >= SHOWN and not taken else set()


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
