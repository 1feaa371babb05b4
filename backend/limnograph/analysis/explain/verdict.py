"""The answer as people and programs read it: changes, ranked hypotheses, whom to name, and one sentence.

Never "root cause": a commit "coincides with" a change or is the "most likely" suspect until a person confirms it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from limnograph.analysis.explain.attribution import Shares
from limnograph.analysis.explain.case import Commits, Series
from limnograph.analysis.explain.evidence import against, supporting
from limnograph.analysis.explain.normalise import Normalised
from limnograph.analysis.explain.onset import Onset
from limnograph.analysis.explain.ramp import Move
from limnograph.analysis.explain.rivals import Shift
from limnograph.analysis.explain.structure import Structure
from limnograph.domain.explanations import (
    ChangeKind,
    Confidence,
    Explanation,
    Hypothesis,
    LevelChange,
    Selection,
)

TAU = 0.5
"""Posterior from which a commit is named: more likely it than not."""
WORDS: tuple[tuple[float, Confidence], ...] = ((0.85, "strong"), (TAU, "possible"), (0.2, "weak"))
SPEED_UP = 0.3
"""What it is worth to explain a speed-up, beside a slowdown of the same size: slow jobs are what people ask about."""
FAINT = 0.02
"""Size (log) of a change that does not stand out."""
SHOWN = 12
"""Suspects of a change that are told; the rest is too unlikely to help."""
LEAST_POSTERIOR = 0.002
ABSORBED_STRENGTH = 16.0
"""Squared standard errors of a rival's shift in the job itself, to be told as a change."""
ABSORBED_POSTERIOR = 0.95


@dataclass(frozen=True, slots=True)
class Told:
    """All that was found out about a case."""

    job: Series
    commits: Commits
    normal: Normalised
    structure: Structure
    moves: list[Move]
    ends: list[bool]
    shares: list[Shares]


def too_little(case: str, runs: int, least: int) -> Explanation:
    """The answer to a question with too few runs."""
    verdict = f"Too little data: {runs} runs with a duration, at least {least} are needed."
    return Explanation(case, [], [Hypothesis("none", 1.0)], [], verdict, "none")


def tell(case: str, told: Told, selection: Selection | None) -> Explanation:
    """Put the answer together; only changes inside the selection are told."""
    changes: list[LevelChange] = []
    hypotheses: list[Hypothesis] = []
    for k, move in enumerate(told.moves):
        shares = told.shares[k]
        if not _asked(told.job, _extent(told.job, move), selection):
            continue
        if _only_ends(told, k):
            continue  # the end of a pulse is no change of its own
        index = None
        if shares.real >= TAU or (shares.commit.size and shares.commit.max() >= TAU):
            index = len(changes)
            changes.append(_change(told, k))
        hypotheses += _hypotheses(told, k, index)
    for shift in told.normal.shifts:
        if _shows(told, shift) and _asked(told.job, (shift.place, shift.place), selection):
            changes.append(_absorbed(told, shift))
            rest = Hypothesis("none", 1 - ABSORBED_POSTERIOR, len(changes) - 1)
            hypotheses += [Hypothesis(shift.kind, ABSORBED_POSTERIOR, len(changes) - 1), rest]
    return concluded(case, changes, hypotheses)


def concluded(case: str, changes: list[LevelChange], hypotheses: list[Hypothesis]) -> Explanation:
    """Rank, blame and verdict, which follow from the posteriors."""
    hypotheses = sorted(hypotheses, key=lambda each: -_weight(changes, each)) or [Hypothesis("none", 1.0)]
    suspects = [each for each in hypotheses if _is_blamed(changes, each)]
    blamed = list(dict.fromkeys(each.commit_id for each in suspects if each.commit_id is not None))
    verdict, confidence = _verdict(changes, hypotheses)
    return Explanation(case, changes, hypotheses, blamed, verdict, confidence)


def _weight(changes: list[LevelChange], each: Hypothesis) -> float:
    """Rank: how much of the change of the job's duration a hypothesis is expected to explain."""
    if each.change is None:
        return each.posterior * FAINT
    size = float(np.log(changes[each.change].effect_ratio))
    return each.posterior * (size if size > 0 else -SPEED_UP * size)


def _only_ends(told: Told, k: int) -> bool:
    """Whether a change is the end of a pulse that no commit explains."""
    commit = told.shares[k].commit
    return told.ends[k] and not (commit.size and commit.max() >= TAU)


def _is_blamed(changes: list[LevelChange], suspect: Hypothesis) -> bool:
    """Maintenance that made the job faster is credited by its rank and by the verdict; that is no blame."""
    if suspect.kind != "commit" or suspect.change is None or suspect.posterior < TAU:
        return False
    return changes[suspect.change].effect_ratio > 1


def _asked(job: Series, extent: tuple[int, int], selection: Selection | None) -> bool:
    """Whether a change that sets in and rises between these runs meets the selection, give or take two runs."""
    if selection is None:
        return True
    slack = 2 * job.gap
    over = selection.start is not None and job.at[extent[1]] < selection.start - slack
    return not (over or (selection.end is not None and job.at[extent[0]] > selection.end + slack))


def _around(job: Series, onset: Onset) -> tuple[int, int]:
    """First and last run of the nine tenths of an onset's probability that lie in the middle."""
    weight = np.cumsum(onset.weight())
    low, high = (onset.first + int(np.searchsorted(weight, edge)) for edge in (0.05, 0.95))
    return low, min(high, len(job) - 1)


def _extent(job: Series, move: Move) -> tuple[int, int]:
    """Runs from where a change may set in to where it has its full height."""
    low, high = _around(job, move.onset)
    return low, min(max(high, move.onset.best + move.rise), len(job) - 1)


def _change(told: Told, k: int) -> LevelChange:
    move, job = told.moves[k], told.job
    place = move.onset.best
    kind: ChangeKind = "step" if move.effect > 0 else "drop"
    if move.effect > 0 and k + 1 < len(told.moves) and _only_ends(told, k + 1):
        kind = "pulse"
    elif move.effect > 0 and move.rise:
        kind = "ramp"
    around = _around(job, move.onset)
    return _told_change(told, place, effect=move.effect, kind=kind, around=around, probability=told.shares[k].real)


def _told_change(
    told: Told, place: int, *, effect: float, kind: ChangeKind, around: tuple[int, int], probability: float
) -> LevelChange:
    job, ratio = told.job, float(np.exp(effect))
    places = [0, *(each.onset.best for each in told.moves if each.onset.best < place)]
    before = float(np.exp(np.median(job.log[max(*places, place - 100) : place])))
    return LevelChange(
        onset=int(job.at[place]),
        kind=kind,
        effect_ratio=ratio,
        effect_seconds=before * (ratio - 1),
        probability=probability,
        onset_from=int(job.at[around[0]]),
        onset_to=int(job.at[around[1]]),
        before_seconds=before,
        after_seconds=before * ratio,
    )


def _shows(told: Told, shift: Shift) -> bool:
    """Whether the part of the job's change that a rival's shift explains stands out of the job's own noise."""
    noise = told.normal.levels.noise
    error = noise.innovation / (1 - noise.phi) * np.sqrt(2 / 24)
    return bool((shift.size / error) ** 2 >= ABSORBED_STRENGTH)


def _absorbed(told: Told, shift: Shift) -> LevelChange:
    kind: ChangeKind = "step" if shift.size > 0 else "drop"
    return _told_change(
        told,
        shift.place,
        effect=shift.size,
        kind=kind,
        around=(shift.place, shift.place),
        probability=ABSORBED_POSTERIOR,
    )


def _hypotheses(told: Told, k: int, index: int | None) -> list[Hypothesis]:
    shares, onset = told.shares[k], told.moves[k].onset
    order = [int(j) for j in np.argsort(-shares.commit, kind="stable")[:SHOWN] if shares.commit[j] > LEAST_POSTERIOR]
    found = [Hypothesis("none", shares.nothing, index)]
    if shares.infrastructure > LEAST_POSTERIOR:
        found.append(Hypothesis("infrastructure", shares.infrastructure, index))
    if shares.load > LEAST_POSTERIOR:
        found.append(Hypothesis("load", shares.load, index))
    at = float(told.job.at[onset.best])
    for j in order:
        lag = (at - float(told.commits.at[j])) / 1000
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


def _verdict(changes: list[LevelChange], hypotheses: list[Hypothesis]) -> tuple[str, Confidence]:
    if not changes:
        return "No change of this job's duration stands out.", "none"
    told = [each for each in hypotheses if each.change is not None]
    best = told[0] if told else hypotheses[0]
    # A slowdown is what people ask about: the commit that ended it comes after the one that began it, and explains
    # nothing where none did.
    blamed = (each for each in told if _is_blamed(changes, each))
    of_best = (each for each in told if each.kind == "commit" and each.change == best.change)
    commit = next(blamed, None) or next(of_best, None)
    confidence: Confidence = "none"
    if commit is not None:
        confidence = next((word for least, word in WORDS if commit.posterior >= least), "none")
        if commit.posterior >= TAU and commit.change is not None:
            return _named(changes[commit.change], commit), confidence
    change = changes[best.change or 0]
    if best.kind == "infrastructure":
        return f"Other jobs moved at the same time: infrastructure most likely explains {size_words(change)}.", "none"
    if best.kind == "load":
        return f"The job's load moved at the same time and most likely explains {size_words(change)}.", "none"
    return f"No commit explains {size_words(change)}.", "weak" if confidence == "weak" else "none"


def _named(change: LevelChange, commit: Hypothesis) -> str:
    word = "Most likely" if commit.posterior >= WORDS[0][0] else "Possibly"
    where = f" of {commit.table}" if commit.table else ""
    return f"{word}: commit {commit.commit_id}{where} coincides with {size_words(change)}."


def size_words(change: LevelChange) -> str:
    """`the slowdown from 52 s to 160 s`."""
    way = "slowdown" if change.effect_ratio >= 1 else "speed-up"
    return f"the {way} from {change.before_seconds:.3g} s to {change.after_seconds:.3g} s"
