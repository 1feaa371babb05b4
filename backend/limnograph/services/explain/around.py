"""Around a change: the bounds of its size, and which other series changed then. Pure; instants epoch ms."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from limnograph.domain.answers.explanations import ChangeBounds, CompetingChange, LevelChange, LoadSeries, RunSeries
from limnograph.domain.time import Millis
from limnograph.services.explain import signals as explain_signals
from limnograph.services.jobs.series import QueryResult
from limnograph.services.jobs.signals import Signal

Floats = npt.NDArray[np.float64]
LEAST_RUNS = 8
"""The least number of runs on each side of a change that bounds its size."""
MOST_RUNS = 100
NEAR_RUNS = 20
"""Runs on each side of a change in whose time the job's resources are compared: a change hours earlier is unrelated."""
LEAST_OTHERS = 3
"""The least number of values of another series on each side to decide whether it changed."""
MOVED = 0.1
NORMAL_95 = 1.96
OUTLIER = 3.0
"""Robust standard deviations from the level at which the deviation of a run is clipped."""


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
        low, high = _bounds(change, sides)
        others = [_sides(_logs(each.times, each.duration_seconds), first, change.onset, last) for each in controls]
        moved = [_sides(_logs(load.times, load.values), first, change.onset, last)] if load else []
        near = _reach(series[0], change.onset, earlier, later, NEAR_RUNS)
        signals = [explain_signals.around(kind, told, change.onset, near) for kind, told in used.items()]
        competing = [_competing("jobs", others, change), _competing("load", moved, change), *signals]
        found.append(
            ChangeBounds(
                runs_before=sides.before.size,
                runs_after=sides.after.size,
                low_seconds=low,
                high_seconds=high,
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


def _bounds(change: LevelChange, sides: _Sides) -> tuple[float | None, float | None]:
    """Bounds of the change in seconds. Neighbouring runs are correlated, so they contain less information than
    independent ones.
    """
    if sides.least() < LEAST_RUNS:
        return None, None
    rests = [_rests(side) for side in sides]
    together = np.concatenate(rests)
    spread = float(np.sqrt(np.mean(together**2)))
    pairs = np.concatenate([rest[1:] * rest[:-1] for rest in rests])
    alike = float(np.clip(pairs.mean() / max(spread**2, 1e-12), 0.0, 0.9))
    error = spread * math.sqrt((1 / sides.before.size + 1 / sides.after.size) * (1 + alike) / (1 - alike))
    size = math.log(change.effect_ratio)
    low, high = (change.before_seconds * (math.exp(size + sign * NORMAL_95 * error) - 1) for sign in (-1, 1))
    return low, high


def _rests(side: Floats) -> Floats:
    """Distances from the side's level, with single spikes clipped."""
    rest = side - np.median(side)
    scale = 1.4826 * float(np.median(np.abs(rest)))
    return np.clip(rest, -OUTLIER * scale, OUTLIER * scale) if scale > 0 else rest


def _competing(kind: str, others: Sequence[_Sides], change: LevelChange) -> CompetingChange | None:
    steps = [float(np.median(each.after) - np.median(each.before)) for each in others if each.least() >= LEAST_OTHERS]
    if not steps:
        return None
    way = 1 if change.effect_ratio >= 1 else -1
    moved = sum(way * step >= math.log1p(MOVED) for step in steps)
    ratio = math.exp(float(np.median(steps)))
    return CompetingChange(kind=kind, series=len(steps), moved=moved, ratio=ratio)  # type: ignore[arg-type]  # two literals
