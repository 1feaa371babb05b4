"""From a case to its explanation: the steps in order, each implemented in a separate file."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from limnograph.analysis.explain.attribution import attribute
from limnograph.analysis.explain.case import CaseCommits, CaseSeries, Floats, commits, series
from limnograph.analysis.explain.epochs import with_reads, with_recurring
from limnograph.analysis.explain.floods import gathered
from limnograph.analysis.explain.given import given_moves
from limnograph.analysis.explain.normalise import NormalisedSeries, normalise
from limnograph.analysis.explain.onset import step_onset
from limnograph.analysis.explain.ramp import FittedChange, moves
from limnograph.analysis.explain.structure import structure
from limnograph.analysis.explain.verdict import CaseFindings, tell, too_little
from limnograph.analysis.explain.weights import ChangeToExplain
from limnograph.domain.answers.explanations import Case, Explanation

LEAST_RUNS = 16
"""Minimum runs of a case: eight on each side of a change."""
KEPT = 11.0
"""Minimum squared standard errors of an examined change; the posterior decides whether it is one."""
RETURNED = 0.5
"""Minimum share of a rise that a fall must take back to count as its end."""
PULSE_MS, PULSE_GAPS = 12 * 3_600_000.0, 6.0
"""A rise that ends within this time, or this many gaps of the job, is a pulse."""
BRIEF_RUNS = 4
"""Maximum runs of a brief rise: one that ends so soon says nothing about a table."""
MAINTENANCE = ("replace", "optimize", "rewrite", "compact", "cluster")
MENDS = 0.75
"""How often maintenance caused a speed-up, given that a commit did."""


def explain(case: Case, onsets: Sequence[float] | None = None) -> Explanation:
    """Explain a case. With too few runs, the result says so.

    `onsets` (epoch milliseconds): exactly the job's changes; None: find them.

    Raises InvalidInput naming the field if times and values of a series do not pair.
    """
    job = series(case.job.times, case.job.duration_seconds, "job.duration_seconds")
    controls = [
        series(each.times, each.duration_seconds, f"controls[{k}].duration_seconds")
        for k, each in enumerate(case.controls or ())
    ]
    load = series(case.load.times, case.load.values, "load.values") if case.load else None
    known = gathered(commits(case))
    if len(job) < LEAST_RUNS:
        return too_little(case.id, len(job), LEAST_RUNS)
    normal = normalise(job, controls, load, KEPT)
    unusual = structure(known)
    kinds: dict[int, float] = {}
    if onsets is None:
        normal, kinds = with_recurring(job, known, with_reads(job, known, unusual.ratio, normal, KEPT), KEPT)
    found = _moves(job, normal, known) if onsets is None else given_moves(job, normal, onsets)
    mending = _mending(known)
    ends_of = [_ends(job, found[k - 1], each) if k else False for k, each in enumerate(found)]
    asked = [
        ChangeToExplain(
            each.onset,
            unusual.ratio if each.onset.rises else unusual.ratio * mending,
            ends_of[k],
            brief=k + 1 < len(found) and ends_of[k + 1] and found[k + 1].onset.best - each.onset.best <= BRIEF_RUNS,
        )
        for k, each in enumerate(found)
    ]
    shares = attribute(job, known, asked, normal.shifts, kinds)
    return tell(case.id, CaseFindings(job, known, normal, unusual, found, ends_of, shares), case.selection)


def _moves(job: CaseSeries, normal: NormalisedSeries, known: CaseCommits) -> list[FittedChange]:
    reads = bool(np.isfinite(known.first_read_at).any())
    return moves(job, normal.values, normal.levels, reads=reads) or _faintest(normal)


def _faintest(normal: NormalisedSeries) -> list[FittedChange]:
    """If no change is accepted: the likeliest one, to report how unlikely it is."""
    size = normal.values.size
    onset = step_onset(normal.values, 0, size, normal.levels.noise)
    return [FittedChange(onset, 0, size)] if onset else []


def _ends(job: CaseSeries, rise: FittedChange, fall: FittedChange) -> bool:
    """Whether the second change is a fall that only reverses the first, soon after it."""
    if fall.onset.rises or not rise.onset.rises:
        return False
    soon = job.at[fall.onset.best] - job.at[rise.onset.best] <= max(PULSE_MS, PULSE_GAPS * job.gap_ms)
    return bool(soon and -fall.effect >= RETURNED * rise.effect)


def _mending(known: CaseCommits) -> Floats:
    """Factor of each commit if the job became faster."""
    mends = np.array([any(word in name.lower() for word in MAINTENANCE) for name in known.operations], bool)
    is_one = mends[known.operation] if len(known) else np.empty(0, bool)
    share = (is_one.sum() + 0.5) / (is_one.size + 1)
    return np.asarray(np.where(is_one, MENDS / share, (1 - MENDS) / (1 - share)))
