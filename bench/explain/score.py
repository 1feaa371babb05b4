"""Scores a method's answers against the truth, per scenario, for the worst scenario and pooled. The only scorer.

Definitions are in docs/explain-benchmark.md. A metric without cases is None, never 0.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
import numpy as np

from explain.cases import MINUTE, Answer, Case, Labelled, Truth

TOLERANCE = 30 * MINUTE
ECE_BINS = 10


class Scores(msgspec.Struct):
    """Metrics over a set of cases. Shares 0 to 1; onset errors in samples of the job (inf: no change reported)."""

    cases: int
    top1: float | None = None
    top3: float | None = None
    tolerant_top1: float | None = None
    precision: float | None = None
    recall: float | None = None
    f1: float | None = None
    false_blame: float | None = None
    cause_named: float | None = None
    onset_median: float | None = None
    onset_p90: float | None = None
    effect_error: float | None = None
    ece: float | None = None
    ece_top: float | None = None


class Judged(msgspec.Struct):
    """The contribution of one answer to the metrics."""

    truth: Truth
    top1: bool
    top3: bool
    tolerant_top1: bool
    blamed: int
    hits: int
    cause_named: bool
    onset_errors: list[float]
    effect_errors: list[float]
    believed: list[tuple[float, bool]]


def judge(labelled: Labelled, answer: Answer) -> Judged:
    """Compare one answer with its truth.

    Ranks are among commits offered for a slowdown: a hypothesis without a commit takes no rank, nor does maintenance
    that is correctly credited with an improvement.
    """
    truth, case = labelled.truth, labelled.case
    guilty = truth.guilty
    commits = [each for each in answer["hypotheses"] if each["kind"] == "commit"]
    named = dict.fromkeys(each["commit_id"] for each in commits)
    ranked = [each for each in named if each not in truth.credited]
    blamed = set(answer["blamed"])
    first = answer["hypotheses"][0] if answer["hypotheses"] else {"kind": "none"}
    onsets, effects = _onset_errors(case, truth, answer["changes"])
    return Judged(
        truth=truth,
        top1=bool(guilty & set(ranked[:1])),
        top3=bool(guilty & set(ranked[:3])),
        tolerant_top1=_near(case, ranked[:1], guilty),
        blamed=len(blamed),
        hits=len(blamed & guilty),
        cause_named=not blamed and (first["kind"] == truth.cause),
        onset_errors=onsets,
        effect_errors=effects,
        believed=_believed(commits, guilty | truth.credited),
    )


def _near(case: Case, ranked: list[str], guilty: set[str]) -> bool:
    times = {each["id"]: each["committed_at"] for each in case["commits"]}
    return any(abs(times[mine] - times[true]) <= TOLERANCE for mine in ranked for true in guilty)


def _onset_errors(case: Case, truth: Truth, changes: list[dict[str, Any]]) -> tuple[list[float], list[float]]:
    """Samples between each true onset and the nearest reported one, and the relative error of that one's slowdown."""
    onsets, effects = [], []
    times = sorted(case["job"]["times"])
    for effect in truth.effects:
        if not changes:
            onsets.append(float("inf"))
            continue
        nearest = min(changes, key=lambda change: abs(change["onset"] - effect.onset))
        onsets.append(abs(bisect.bisect_left(times, nearest["onset"]) - bisect.bisect_left(times, effect.onset)))
        if nearest.get("effect_ratio") is not None:
            true = effect.effect_ratio - 1
            effects.append(abs(nearest["effect_ratio"] - 1 - true) / abs(true))
    return onsets, effects


def _believed(commits: list[dict[str, Any]], right: set[str]) -> list[tuple[float, bool]]:
    """Posterior and truth of each commit offered; a commit offered for several changes counts once for each."""
    return [(each["posterior"], each["commit_id"] in right) for each in commits if each.get("posterior") is not None]


def calibration_error(believed: Sequence[tuple[float, bool]]) -> float | None:
    """Expected calibration error: |mean posterior - share of guilty| over ten equal bins, weighted by their size."""
    if not believed:
        return None
    posterior = np.array([each[0] for each in believed])
    guilty = np.array([each[1] for each in believed], float)
    bins = np.minimum((posterior * ECE_BINS).astype(int), ECE_BINS - 1)
    sums = np.bincount(bins, posterior - guilty, ECE_BINS)
    return float(np.abs(sums).sum() / len(posterior))


def summarise(judged: Iterable[Judged]) -> Scores:
    """Metrics of all these answers combined; precision and recall are pooled over commits."""
    each = list(judged)
    guilty = [one for one in each if one.truth.guilty]
    innocent = [one for one in each if not one.truth.guilty]
    blamed, hits = sum(one.blamed for one in each), sum(one.hits for one in each)
    true = sum(len(one.truth.guilty) for one in each)
    precision = hits / blamed if blamed and guilty else None
    recall = hits / true if true else None
    onsets = [error for one in guilty for error in one.onset_errors]
    errors = [error for one in guilty for error in one.effect_errors]
    tops = [one.believed[0] for one in each if one.believed]
    return Scores(
        cases=len(each),
        top1=_share(one.top1 for one in guilty),
        top3=_share(one.top3 for one in guilty),
        tolerant_top1=_share(one.tolerant_top1 for one in guilty),
        precision=precision,
        recall=recall,
        f1=_f1(precision, recall),
        false_blame=_share(one.blamed > 0 for one in innocent),
        cause_named=_share(one.cause_named for one in innocent),
        onset_median=_quantile(onsets, 0.5),
        onset_p90=_quantile(onsets, 0.9),
        effect_error=_quantile(errors, 0.5),
        ece=calibration_error([pair for one in each for pair in one.believed]),
        ece_top=calibration_error(tops),
    )


def _share(flags: Iterable[bool]) -> float | None:
    values = list(flags)
    return sum(values) / len(values) if values else None


def _f1(precision: float | None, recall: float | None) -> float | None:
    if recall is None:
        return None
    return 2 * precision * recall / (precision + recall) if precision and recall else 0.0


def _quantile(values: list[float], share: float) -> float | None:
    return float(np.quantile(values, share, method="higher")) if values else None


def per_scenario(judged: Sequence[Judged]) -> dict[str, Scores]:
    """Metrics of each scenario in order of appearance, then `pooled`."""
    names = dict.fromkeys(one.truth.scenario for one in judged)
    table = {name: summarise(one for one in judged if one.truth.scenario == name) for name in names}
    return {**table, "pooled": summarise(judged)}


def worst(table: dict[str, Scores], metric: str, *, highest: bool = False) -> tuple[str, float] | None:
    """Scenario and value of the lowest (or highest) metric; None if no scenario has it."""
    values = [(name, getattr(row, metric)) for name, row in table.items() if name != "pooled"]
    known = [(name, value) for name, value in values if value is not None]
    return (max if highest else min)(known, key=lambda pair: pair[1]) if known else None
