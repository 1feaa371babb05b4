"""Decides which statement the data of a case support, in the order of precedence of docs/effects.md."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from limnograph.analysis.effect.bounds import EffectBounds, bounds_of, runs_until_verdict
from limnograph.analysis.effect.controls import CommonMovement, common_movement, response
from limnograph.analysis.effect.covariates import bytes_columns, load_columns
from limnograph.analysis.effect.history import has_shift, saw_kind_of_day
from limnograph.analysis.effect.outliers import clip_outliers
from limnograph.analysis.effect.prediction import Covariate, predict
from limnograph.analysis.effect.process import Floats, Kernels
from limnograph.analysis.effect.runs import (
    CONFOUNDING,
    JobRuns,
    control_series,
    event_columns,
    job_runs,
    next_event,
    runs_between,
    slope_columns,
)
from limnograph.domain.answers.effects import Effect, EffectCase, EffectSize, OtherEvent, Verdict

LEAST_BEFORE, LEAST_AFTER = 8, 5
"""Minimum runs, including killed ones, for any claim."""
LEAST_DURATIONS_BEFORE, LEAST_DURATIONS_AFTER = 6, 3
NO_EFFECT = 0.05
"""Bounds of the ratio within 1 ± this: no effect."""
_UNBOUNDED = 50.0
"""Minimum natural log of a ratio that counts as unbounded."""
_EVENT_SD = 0.3
"""Standard deviation of another event's effect on the level, natural log."""


_SLOPE_SD = 0.0025
"""Standard deviation of the change of the trend since a deploy or a schema change, natural log per usual gap."""


class _Comparison(NamedTuple):
    """Input of the estimate. `y`: log durations without outliers. `events`: steps at earlier events; `slopes`: time
    since those after which the trend may differ.
    """

    runs: JobRuns
    y: Floats
    kernels: Kernels
    movement: CommonMovement | None
    events: Floats
    slopes: Floats
    known: tuple[Covariate, ...]


def measure_effect(case: EffectCase) -> Effect:
    """The effect of the operation on the job's duration. Never raises if the case's lists have consistent lengths."""
    runs = job_runs(case)
    if reason := _too_few(runs):
        more = max(0, LEAST_AFTER - runs.runs_after) or None
        return _answer(case, runs, "unknown", reason, more=more if runs.runs_before >= LEAST_BEFORE else None)
    others = [each for each in case.others or () if each.kind in CONFOUNDING]
    later = next_event(others, case.operation.committed_at)
    interrupted = later if later and runs.at[-1] >= later.at else None
    shorter = job_runs(case, interrupted.at) if interrupted else runs
    comparison = _comparison(case, shorter if shorter.after > 1 else runs, others)
    if reason := _not_separable(comparison):
        return _answer(case, runs, "not_separable", reason)
    if reason := _confounded(case, runs, others):
        return _answer(case, runs, "confounded", reason)
    if interrupted and shorter.after < LEAST_AFTER:
        text = f"only {shorter.after} run{'s' * (shorter.after != 1)} ended before another {interrupted.kind}"
        return _answer(case, runs, "unknown", text)
    remarks = [f"from the {shorter.after} runs before another {interrupted.kind}"] if interrupted else []
    remarks += [] if comparison.movement else ["no controls"]
    return _judged(case, comparison, runs, remarks, expects_runs=later is None)


def _too_few(runs: JobRuns) -> str:
    if runs.runs_before < LEAST_BEFORE:
        return f"{runs.runs_before} runs before; at least {LEAST_BEFORE} are needed"
    if runs.runs_after < LEAST_AFTER:
        return f"{runs.runs_after} runs after; at least {LEAST_AFTER} are needed"
    if runs.before < LEAST_DURATIONS_BEFORE or runs.after < LEAST_DURATIONS_AFTER:
        return "too few runs ended; a killed run has no duration"
    return ""


def _comparison(case: EffectCase, runs: JobRuns, others: list[OtherEvent]) -> _Comparison:
    operation = case.operation
    kernels = Kernels(runs.at, runs.before)
    controls = [control_series(each.times, each.duration_seconds) for each in case.controls or ()]
    known = load_columns(runs.at, runs.before, case.load.times, case.load.value) if case.load else []
    if runs.read_bytes is not None:
        last, next_ = runs.at[runs.before - 1], runs.at[runs.before]
        grown = any(each.kind == "append" and last <= each.at <= next_ for each in case.others or ())
        known += bytes_columns(runs.read_bytes, runs.before, grown)
    return _Comparison(
        runs=runs,
        y=clip_outliers(runs.logs, runs.before, kernels),
        kernels=kernels,
        movement=common_movement(runs.at, runs.before, operation.started_at, operation.committed_at, controls),
        events=event_columns(runs, others, operation.started_at),
        slopes=slope_columns(runs, others, operation.started_at, kernels.clock),
        known=tuple(known),
    )


def _not_separable(comparison: _Comparison) -> str:
    """Why the data support no claim; empty if they do."""
    runs, y, kernels, movement, events, _, known = comparison
    if movement is None:
        usual = y - sum((each.column * each.mean for each in known), np.zeros(y.size))
        columns = np.column_stack([events, *(each.column for each in known)])
        if has_shift(usual, runs.before, kernels, columns):
            return "there are no controls, and the history has shifts that no event of the table explains"
    elif not movement.agree:
        return "the controls disagree about that time"
    if not saw_kind_of_day(runs.at, runs.before):
        return "all runs after it fall on a kind of day that the history does not have"
    return ""


def _confounded(case: EffectCase, runs: JobRuns, others: list[OtherEvent]) -> str:
    operation = case.operation
    for each in others:
        if runs_between(runs, each, operation.started_at, operation.committed_at) <= 1:
            return f"another {each.kind} with at most one run between"
    return ""


def _estimate(comparison: _Comparison) -> EffectBounds:
    runs, y, kernels, movement, events, slopes, known = comparison
    steps = known + tuple(Covariate(each, 0.0, _EVENT_SD) for each in events.T)
    steps += tuple(Covariate(each, 0.0, _SLOPE_SD) for each in slopes.T)
    if movement is None:
        return bounds_of(predict(y, runs.before, kernels, steps, np.zeros((y.size, 0))), 0.0)
    follows = response(y, runs.before, kernels, movement)
    moved = y - follows.mean * movement.at_runs
    measured = follows.mean**2 * movement.noise
    prediction = predict(moved, runs.before, kernels, steps, movement.at_runs[:, None], measured=measured)
    return bounds_of(prediction, follows.sd * abs(float(prediction.response[0])))


def _judged(
    case: EffectCase, comparison: _Comparison, runs: JobRuns, remarks: list[str], *, expects_runs: bool
) -> Effect:
    """`expects_runs`: no other event followed, so that further runs show only this operation."""
    bounds = _estimate(comparison)
    verdict: Verdict = "unknown"
    if bounds.high < 0:
        verdict = "helped"
    elif bounds.low > 0:
        verdict = "worse"
    elif bounds.low >= math.log1p(-NO_EFFECT) and bounds.high <= math.log1p(NO_EFFECT):
        verdict = "none"
    text = f"between {100 * (_ratio(bounds.low) - 1):+.0f} % and {100 * (_ratio(bounds.high) - 1):+.0f} %"
    more = None
    if verdict == "unknown" and expects_runs:
        more = runs_until_verdict(bounds, comparison.runs.at, runs.before, NO_EFFECT)
    return _answer(case, runs, verdict, "; ".join([text, *remarks]), bounds, more=more)


def _answer(
    case: EffectCase,
    runs: JobRuns,
    verdict: Verdict,
    because: str,
    bounds: EffectBounds | None = None,
    *,
    more: int | None = None,
) -> Effect:
    usual = math.exp(float(np.median(runs.logs[: runs.before]))) if runs.before else math.nan

    def size(change: float) -> EffectSize | None:
        ratio = _ratio(change)
        return EffectSize(ratio=ratio, seconds=(ratio - 1) * usual) if math.isfinite(ratio * usual) else None

    return Effect(
        id=case.id,
        verdict=verdict,
        because=because,
        estimate=size(bounds.change) if bounds else None,
        low=size(bounds.low) if bounds else None,
        high=size(bounds.high) if bounds else None,
        runs_before=runs.runs_before,
        runs_after=runs.runs_after,
        more_runs=more,
    )


def _ratio(change: float) -> float:
    """Ratio from a natural log; infinite if it is too large for a double or for a reader."""
    return math.exp(change) if change < _UNBOUNDED else math.inf
