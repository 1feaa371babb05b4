"""Around a change: the bounds of its size, and which other series changed then. Pure; instants epoch ms."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from limnograph.analysis.effect import measure_effect
from limnograph.domain.answers.effects import ControlJob, EffectCase, EffectLoad, EffectOperation, EffectRuns
from limnograph.domain.answers.explanations import ChangeBounds, CompetingChange, LevelChange, LoadSeries, RunSeries
from limnograph.domain.time import Millis
from limnograph.services.explain import signals as explain_signals
from limnograph.services.jobs.series import QueryResult
from limnograph.services.jobs.signals import Signal

Floats = npt.NDArray[np.float64]
MOST_RUNS = 100
NEAR_RUNS = 20
"""Runs on each side of a change in whose time the job's resources are compared: a change hours earlier is unrelated."""
LEAST_OTHERS = 3
"""The least number of values of another series on each side to decide whether it changed."""
MOVED = 0.1
_Reach = tuple[float, float]
"""From an instant on and before another, epoch ms."""


class _Sides(NamedTuple):
    """Logarithms of the durations before and after a change."""

    before: Floats
    after: Floats

    def least(self) -> int:
        return min(self.before.size, self.after.size)


def around(
    changes: Sequence[LevelChange],
    job: RunSeries,
    controls: Sequence[RunSeries],
    load: LoadSeries | None,
    used: Mapping[Signal, QueryResult] = MappingProxyType({}),
) -> list[ChangeBounds]:
    """One result per change. A side reaches to the next change, but covers at most MOST_RUNS of the job."""
    onsets = sorted({change.onset for change in changes})
    series = _logs(job.times, job.duration_seconds)
    found = []
    for change in changes:
        earlier = max((at for at in onsets if at < change.onset), default=None)
        later = min((at for at in onsets if at > change.onset), default=None)
        first, last = _reach(series[0], change.onset, earlier, later)
        sides = _sides(series, first, change.onset, last)
        effect = measure_effect(_case(change, job, controls, load, (first, last)))
        others = [_sides(_logs(each.times, each.duration_seconds), first, change.onset, last) for each in controls]
        moved = [_sides(_logs(load.times, load.values), first, change.onset, last)] if load else []
        near = _reach(series[0], change.onset, earlier, later, NEAR_RUNS)
        signals = [explain_signals.around(kind, told, change.onset, near) for kind, told in used.items()]
        competing = [_competing("jobs", others, change), _competing("load", moved, change), *signals]
        found.append(
            ChangeBounds(
                runs_before=sides.before.size,
                runs_after=sides.after.size,
                low_seconds=effect.low.seconds if effect.low else None,
                high_seconds=effect.high.seconds if effect.high else None,
                unbounded_because=None if effect.low and effect.high else effect.because,
                competing=[each for each in competing if each is not None],
            )
        )
    return found


def _logs(times_ms: Sequence[float | None], values: Sequence[float | None]) -> tuple[Floats, Floats]:
    """Logarithms in time order; unknown and non-positive values are left out."""
    pairs = sorted(
        (at, math.log(value))
        for at, value in zip(times_ms, values, strict=True)
        if at is not None and value is not None and value > 0 and math.isfinite(at + value)
    )
    columns = np.array(pairs, np.float64).reshape(-1, 2)
    return columns[:, 0], columns[:, 1]


def _reach(
    at: Floats, onset: Millis, earlier: Millis | None, later: Millis | None, most: int = MOST_RUNS
) -> tuple[float, float]:
    place = int(np.searchsorted(at, onset))
    near = at[max(0, place - most) : place + most]
    first_ms, last_ms = (float(near[0]), float(near[-1]) + 1) if near.size else (onset, onset)
    return max(first_ms, earlier or first_ms), min(last_ms, later or last_ms)


def _sides(series: tuple[Floats, Floats], earliest_ms: float, onset: Millis, latest_ms: float) -> _Sides:
    at, log = series
    start, middle, end = np.searchsorted(at, (earliest_ms, onset, latest_ms))
    return _Sides(log[start:middle], log[middle:end])


def _case(
    change: LevelChange, job: RunSeries, controls: Sequence[RunSeries], load: LoadSeries | None, reach: _Reach
) -> EffectCase:
    """The case of the effect ledger for a change: as if an operation had ended at its onset."""
    at, seconds = _known(job.times, job.duration_seconds, reach)
    others = [(each.id, *_known(each.times, each.duration_seconds, reach)) for each in controls]
    worked = _known(load.times, load.values, reach) if load else None
    return EffectCase(
        id=job.id or "",
        runs=EffectRuns(times=at, duration_seconds=seconds),
        operation=EffectOperation(started_at=change.onset, committed_at=change.onset),
        controls=[ControlJob(job=name or "", times=times, duration_seconds=took) for name, times, took in others],
        load=EffectLoad(times=worked[0], value=worked[1]) if worked else None,
    )


def _known(
    times_ms: Sequence[float | None], values: Sequence[float | None], reach: _Reach
) -> tuple[list[Millis], list[float]]:
    """Instants and positive values within the reach, in time order."""
    pairs = sorted(
        (Millis(round(at)), value)
        for at, value in zip(times_ms, values, strict=True)
        if at is not None and value is not None and value > 0 and math.isfinite(at + value)
        if reach[0] <= at < reach[1]
    )
    return [at for at, _ in pairs], [value for _, value in pairs]


def _competing(kind: str, others: Sequence[_Sides], change: LevelChange) -> CompetingChange | None:
    steps = [float(np.median(each.after) - np.median(each.before)) for each in others if each.least() >= LEAST_OTHERS]
    if not steps:
        return None
    way = 1 if change.effect_ratio >= 1 else -1
    moved = sum(way * step >= math.log1p(MOVED) for step in steps)
    ratio = math.exp(float(np.median(steps)))
    return CompetingChange(kind=kind, series=len(steps), moved=moved, ratio=ratio)  # type: ignore[arg-type]  # two literals
