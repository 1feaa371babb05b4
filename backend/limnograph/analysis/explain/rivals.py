"""What else could have moved the job: level shifts that other jobs saw at the same time, and shifts of its own load."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from limnograph.analysis.explain.case import Floats, Series
from limnograph.analysis.explain.changes import find_levels
from limnograph.analysis.explain.cycles import DAY_MS, WEEK_MS, cycles, has_weeks
from limnograph.analysis.explain.smoothing import running_median, scale

SHIFT_KEPT = 16.0
"""Squared standard errors that a shift of another series needs to count as one."""
NEAR_RUNS = 12
NEAR_MS = 4 * 3_600_000.0
"""The job's own shift is read off this close to the rival's, on both sides; at least so many runs."""
MOST_RESPONSE = 1.6
"""Of a job to a rival's shift, in log over log: more than that is not the rival's doing."""
MISFIT = 0.35
"""Standard deviation of that response around the usual one."""
OWN_SHARE, OWN_SCALE = 0.1, 0.3
"""How often a job moves at such a place by itself, and by how much (log)."""
TOGETHER, ALONE, LOADED = 0.8, 0.4, 0.6
"""How often a job follows a shift of several other jobs, of the only other one, of its load, before any was seen."""
SEEN_BY = 2.0
"""Standard errors from which another job counts as having moved."""
COUPLED = 0.3
"""Correlation from which the job follows its load also between shifts."""

Rival = Literal["infrastructure", "load"]


@dataclass(frozen=True, slots=True)
class Shift:
    """A rival's shift: first run at or after it, and the part of the job's own change that it explains (log)."""

    kind: Rival
    place: int
    size: float
    seen: float


def shared_mode(controls: Sequence[Series], at: Floats) -> Floats | None:
    """What other jobs have in common at these instants: median of their centred logs; None where there is none."""
    rows = [_held(each, at) for each in controls if len(each) >= 2 * NEAR_RUNS]
    if not rows:
        return None
    known = np.column_stack(rows)
    counted = np.isfinite(known).sum(axis=1)
    if (counted > 0).mean() < 0.5:
        return None
    ordered = np.sort(known, axis=1)  # NaN last
    low = ordered[np.arange(at.size), np.maximum((counted - 1) // 2, 0)]
    high = ordered[np.arange(at.size), np.maximum(counted // 2, 0)]
    return _filled((low + high) / 2)


def load_mode(load: Series | None, at: Floats) -> Floats | None:
    """The load's centred log at these instants."""
    if load is None or len(load) < 2 * NEAR_RUNS:
        return None
    found = _held(load, at)
    return _filled(found) if np.isfinite(found).mean() >= 0.5 else None


def _held(each: Series, at: Floats) -> Floats:
    """A series at other instants, between its neighbours; unknown beyond its ends and in holes of it."""
    smooth = running_median(each.log, 3) - np.median(each.log)
    found = np.interp(at, each.at, smooth, left=np.nan, right=np.nan)
    after = np.clip(np.searchsorted(each.at, at), 1, len(each) - 1)
    hole = each.at[after] - each.at[after - 1] > 12 * max(each.gap, 1.0)
    return np.where(hole & (each.at[after] != at), np.nan, found)


def _filled(values: Floats) -> Floats:
    known = np.flatnonzero(np.isfinite(values))
    return np.interp(np.arange(values.size), known, values[known])


def levels_of(at: Floats, mode: Floats) -> tuple[list[int], Floats]:
    """Places of a rival's shifts and its level at each place, its own daily cycle taken out first."""
    weekly = has_weeks(at)
    flat = mode - cycles(at, mode - rough_level(at, mode, WEEK_MS if weekly else DAY_MS), weekly=weekly)[0]
    found = find_levels(flat, SHIFT_KEPT)
    return found.places, found.level


def rough_level(at: Floats, values: Floats, period: float = DAY_MS) -> Floats:
    """A rough level without what happens within a day (or a week): the median of the whole one around each instant."""
    width = int(np.clip(round(at.size * period / max(float(at[-1] - at[0]), 1.0)), 1, at.size))
    middles = np.median(sliding_window_view(values, width), axis=1)
    return middles[np.clip(np.arange(at.size) - width // 2, 0, middles.size - 1)]


def moved_together(controls: Sequence[Series], when: float, way: float) -> float:
    """How often a job would follow: whether other jobs moved that way at the instant, not one of several alone."""
    rows = [each for each in controls if len(each) >= 2 * NEAR_RUNS]
    if len(rows) < 2:
        return ALONE
    steps = [_step_at(each.at, each.log, int(np.searchsorted(each.at, when)), 0, len(each)) for each in rows]
    known = [np.sign(way) * own / error for own, error in steps if np.isfinite(own) and error > 0]
    moved = sum(each > SEEN_BY for each in known)
    return TOGETHER if moved >= max(2, (len(known) + 1) // 2) else 0.0


@dataclass(frozen=True, slots=True)
class Rivalry:
    """Shifts of a rival: their places, its level at each place, the usual response, and each shift's prior."""

    kind: Rival
    places: list[int]
    level: Floats
    usual: float
    follows: list[float]


def responses(at: Floats, job: Floats, rival: Rivalry) -> list[Shift]:
    """How much of each of the rival's shifts the job shows at the same place, where it likely does so.

    What the job shows there is the rival's doing (near the usual response), its own, or noise. The noise of such a
    step is how far the same step is from 0 at all other places: it knows how the job wanders.
    """
    found = []
    edges = [0, *rival.places, job.size]
    for k, place in enumerate(rival.places):
        size = float(rival.level[place] - rival.level[place - 1])
        own, error = _step_at(at, job, place, edges[k], edges[k + 2])
        if not np.isfinite(own) or size == 0 or rival.follows[k] == 0:
            continue
        spread = MISFIT * abs(size)
        doing = rival.follows[k] * _density(own - rival.usual * size, np.hypot(spread, error))
        chance = (1 - OWN_SHARE) * _density(own, error) + OWN_SHARE * _density(own, np.hypot(OWN_SCALE, error))
        if doing < (1 - rival.follows[k]) * chance:
            continue
        trust = spread**2 / (spread**2 + error**2)
        share = float(np.clip((trust * own + (1 - trust) * rival.usual * size) / size, 0.0, MOST_RESPONSE))
        found.append(Shift(rival.kind, place, share * size, size))
    return found


def _density(value: float, deviation: float) -> float:
    return float(np.exp(-0.5 * (value / deviation) ** 2) / deviation)


def _step_at(at: Floats, values: Floats, place: int, first: int, last: int) -> tuple[float, float]:
    """Mean near after a place less that near before it, and its error: how large such steps are everywhere."""
    low, high = max(first, _back(at, place, NEAR_MS)), min(last, _on(at, place, NEAR_MS))
    before, after = place - low, high - place
    if min(before, after) < 2:
        return np.nan, np.nan
    sums = np.concatenate([[0.0], np.cumsum(values)])
    means = (sums[before + after :] - sums[before:-after]) / after - (
        sums[before:-after] - sums[: -before - after]
    ) / before
    return float(means[place - before]), max(scale(means), 1e-6)


def _back(at: Floats, place: int, width: float) -> int:
    if place >= at.size:
        return max(place - NEAR_RUNS, 0)
    return min(int(np.searchsorted(at, at[place] - width)), max(place - NEAR_RUNS, 0))


def _on(at: Floats, place: int, width: float) -> int:
    if place >= at.size:
        return at.size
    return max(int(np.searchsorted(at, at[place] + width)), min(place + NEAR_RUNS, at.size))


def coupling(job: Floats, load: Floats) -> float:
    """How the job follows its load from run to run (log over log), 0 when it does not clearly."""
    own, other = job - running_median(job, 25), load - running_median(load, 25)
    bound = 3 * float(np.median(np.abs(own))) + 1e-12
    own = np.clip(own, -bound, bound)
    power = float(other @ other)
    if power <= 1e-12:
        return 0.0
    correlation = float(own @ other) / np.sqrt(power * float(own @ own) + 1e-300)
    return float(np.clip(own @ other / power, 0.0, 1.5)) if correlation > COUPLED else 0.0
