"""Assembles the explanation: the reported changes, and the hypotheses about each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from limnograph.analysis.explain.attribution import Shares
from limnograph.analysis.explain.case import CaseCommits, CaseSeries
from limnograph.analysis.explain.evidence import against, supporting
from limnograph.analysis.explain.normalise import NormalisedSeries
from limnograph.analysis.explain.onset import Onset
from limnograph.analysis.explain.ramp import FittedChange
from limnograph.analysis.explain.ranking import TAU, concluded
from limnograph.analysis.explain.rivals import RivalShift
from limnograph.analysis.explain.structure import CommitStructure
from limnograph.domain.answers.explanations import ChangeKind, Explanation, Hypothesis, LevelChange, Selection
from limnograph.domain.time import MS_PER_SECOND, Millis

SHOWN = 12
"""Maximum reported suspects per change; the others are too unlikely to help."""
LEAST_POSTERIOR = 0.002
ABSORBED_STRENGTH = 16.0
"""Minimum squared standard errors of a rival's shift in the job itself to report it as a change."""
ABSORBED_POSTERIOR = 0.95


@dataclass(frozen=True, slots=True)
class CaseFindings:
    """All findings about a case."""

    job: CaseSeries
    commits: CaseCommits
    normal: NormalisedSeries
    structure: CommitStructure
    moves: list[FittedChange]
    ends: list[bool]
    shares: list[Shares]


def too_little(case: str, runs: int, least: int) -> Explanation:
    """The explanation of a case with too few runs."""
    verdict = f"Not enough data: {runs} runs with a duration, at least {least} are required."
    return Explanation(case, [], [Hypothesis("none", 1.0)], [], verdict, "none")


def tell(case: str, told: CaseFindings, selection: Selection | None) -> Explanation:
    """Assemble the explanation; only changes inside the selection are reported."""
    changes: list[LevelChange] = []
    hypotheses: list[Hypothesis] = []
    for k, move in enumerate(told.moves):
        shares = told.shares[k]
        if not _asked(told.job, _extent(told.job, move), selection):
            continue
        if _only_ends(told, k):
            continue  # the end of a pulse is not a separate change
        index = None
        if shares.real >= TAU or (shares.commit.size and shares.commit.max() >= TAU):
            index = len(changes)
            changes.append(_change(told, k))
        hypotheses += _hypotheses(told, k, index)
    for shift in told.normal.shifts:
        if _shows(told, shift) and _asked(told.job, (shift.of.place, _full(told.job, shift)), selection):
            changes.append(_absorbed(told, shift))
            rest = Hypothesis("none", 1 - ABSORBED_POSTERIOR, len(changes) - 1)
            hypotheses += [Hypothesis(shift.kind, ABSORBED_POSTERIOR, len(changes) - 1), rest]
    return concluded(case, changes, hypotheses)


def _only_ends(told: CaseFindings, k: int) -> bool:
    """Whether a change is the end of a pulse that no commit explains."""
    commit = told.shares[k].commit
    return told.ends[k] and not (commit.size and commit.max() >= TAU)


def _asked(job: CaseSeries, extent: tuple[int, int], selection: Selection | None) -> bool:
    """Whether a change that starts and rises between these runs overlaps the selection, within two runs."""
    if selection is None:
        return True
    slack = 2 * job.gap_ms
    over = selection.start is not None and job.at[extent[1]] < selection.start - slack
    return not (over or (selection.end is not None and job.at[extent[0]] > selection.end + slack))


def _around(job: CaseSeries, onset: Onset) -> tuple[int, int]:
    """First and last run of the central 90 % of an onset's probability."""
    weight = np.cumsum(onset.weight())
    low, high = (onset.first + int(np.searchsorted(weight, edge)) for edge in (0.05, 0.95))
    return low, min(high, len(job) - 1)


def _extent(job: CaseSeries, move: FittedChange) -> tuple[int, int]:
    """Runs from the earliest start of a change to its full height."""
    low, high = _around(job, move.onset)
    return low, min(max(high, move.onset.best + move.rise), len(job) - 1)


def _change(told: CaseFindings, k: int) -> LevelChange:
    move, job = told.moves[k], told.job
    place = move.onset.best
    kind: ChangeKind = "step" if move.effect > 0 else "drop"
    if move.effect > 0 and k + 1 < len(told.moves) and _only_ends(told, k + 1):
        kind = "pulse"
    elif move.effect > 0 and move.rise:
        kind = "ramp"
    around = _around(job, move.onset)
    stop = told.moves[k + 1].onset.best if k + 1 < len(told.moves) and told.ends[k + 1] else len(job)
    return _told_change(
        told, (place, stop), effect=move.effect, kind=kind, around=around, probability=told.shares[k].real
    )


def _told_change(
    told: CaseFindings,
    within: tuple[int, int],
    *,
    effect: float,
    kind: ChangeKind,
    around: tuple[int, int],
    probability: float,
) -> LevelChange:
    (place, stop), job, ratio = within, told.job, float(np.exp(effect))
    places = [0, *(each.onset.best for each in told.moves if each.onset.best < place)]
    before = float(np.exp(np.median(job.log[max(*places, place - 100) : place])))
    return LevelChange(
        onset=Millis(job.at[place]),
        kind=kind,
        effect_ratio=ratio,
        effect_seconds=before * (ratio - 1),
        probability=probability,
        onset_from=Millis(job.at[around[0]]),
        onset_to=Millis(job.at[around[1]]),
        before_seconds=before,
        after_seconds=before * ratio,
        runs=stop - place,
    )


def _shows(told: CaseFindings, shift: RivalShift) -> bool:
    """Whether the part of the job's change that a rival's shift explains exceeds the job's own noise."""
    noise = told.normal.levels.noise
    error = noise.innovation / (1 - noise.phi) * np.sqrt(2 / 24)
    return bool((shift.of.size / error) ** 2 >= ABSORBED_STRENGTH)


def _full(job: CaseSeries, shift: RivalShift) -> int:
    return min(shift.of.place + shift.of.rise, len(job) - 1)


def _absorbed(told: CaseFindings, shift: RivalShift) -> LevelChange:
    later = [each.of.place for each in told.normal.shifts if each.kind == shift.kind]
    kind: ChangeKind = "drop" if shift.of.size <= 0 else "ramp" if shift.of.rise else "step"
    return _told_change(
        told,
        (shift.of.place, min((each for each in later if each > shift.of.place), default=len(told.job))),
        effect=shift.of.size,
        kind=kind,
        around=(shift.of.place, shift.of.place),
        probability=ABSORBED_POSTERIOR,
    )


def _hypotheses(told: CaseFindings, k: int, index: int | None) -> list[Hypothesis]:
    shares, onset = told.shares[k], told.moves[k].onset
    order = [int(j) for j in np.argsort(-shares.commit, kind="stable")[:SHOWN] if shares.commit[j] > LEAST_POSTERIOR]
    found = [Hypothesis("none", shares.nothing, index)]
    if shares.infrastructure > LEAST_POSTERIOR:
        found.append(Hypothesis("infrastructure", shares.infrastructure, index))
    if shares.load > LEAST_POSTERIOR:
        found.append(Hypothesis("load", shares.load, index))
    at = float(told.job.at[onset.best])
    for j in order:
        lag = (at - float(told.commits.at[j])) / MS_PER_SECOND
        commit = Hypothesis(
            "commit", float(shares.commit[j]), index, told.commits.ids[j], told.commits.tables[j], max(lag, 0.0)
        )
        supporting(commit, job=told.job, commits=told.commits, structure=told.structure, shares=shares, commit=j)
        against(commit, commits=told.commits, structure=told.structure, shares=shares, commit=j)
        found.append(commit)
    total = sum(each.posterior for each in found)
    for each in found:
        each.posterior /= total
    return found
