"""Other causes that may have moved the job: shifts that other jobs show at the same time, and shifts of its own load.

A shift is sudden or takes hours; its shape is measured on the rival, its size on the job.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from limnograph.analysis.explain.case import CaseSeries, Floats, Ints, median_gap_ms
from limnograph.analysis.explain.changes import find_levels
from limnograph.analysis.explain.cycles import DAY_MS, WEEK_MS, cycles, has_weeks
from limnograph.analysis.explain.modes import rough_level
from limnograph.analysis.explain.ramp import moves
from limnograph.analysis.explain.smoothing import scale

SHIFT_KEPT = 16.0
"""Minimum squared standard errors of a shift of another series."""
NEAR_RUNS = 12
NEAR_MS = 4 * 3_600_000.0
"""The job's own shift is measured within this distance of the rival's, on both sides, and over this many runs at least.
"""
MOST_RESPONSE = 1.6
"""Maximum response of a job to a rival's shift, in log over log: anything above is not the rival's effect."""
MISFIT = 0.35
"""Standard deviation of that response around the usual one."""
OWN_SHARE, OWN_SCALE = 0.1, 0.3
"""How often a job moves at such an index by itself, and by how much (log)."""
TOGETHER, ALONE, LOADED = 0.8, 0.4, 0.6
"""Prior of a job following a shift of several other jobs, of the only other job, and of its load."""
SEEN_BY = 2.0
"""Minimum standard errors for which another job counts as having moved."""

Rival = Literal["infrastructure", "load"]


@dataclass(frozen=True, slots=True)
class SeriesShift:
    """A shift of a series: its first index, indexes until its full height (0: sudden), and that height (log)."""

    place: int
    rise: int
    size: float

    def shape(self, count: int) -> Floats:
        """Share of its height at each of `count` indexes."""
        if not self.rise:
            return (np.arange(count) >= self.place).astype(np.float64)
        return np.clip((np.arange(count) - self.place) / self.rise, 0.0, 1.0)

    def among(self, edges: Ints) -> SeriesShift:
        """The same shift, found in bins, with indexes of the values in the bins."""
        until = int(edges[min(self.place + self.rise, edges.size - 1)])
        return SeriesShift(int(edges[self.place]), until - int(edges[self.place]), self.size)


@dataclass(frozen=True, slots=True)
class RivalShift:
    """A rival's shift among the job's runs: its length is the rival's, its height the part of the job's it explains."""

    kind: Rival
    of: SeriesShift
    seen: float


def shifts_of(at: Floats, mode: Floats) -> tuple[list[SeriesShift], Floats]:
    """A rival's shifts and the resulting level at each index, after its own daily cycle is removed."""
    weekly = has_weeks(at)
    flat = mode - cycles(at, mode - rough_level(at, mode, WEEK_MS if weekly else DAY_MS), weekly=weekly)[0]
    levels = find_levels(flat, SHIFT_KEPT)
    rival = CaseSeries(at, flat, median_gap_ms(at))
    found = [SeriesShift(each.onset.best, each.rise, each.effect) for each in moves(rival, flat, levels)]
    return found, np.sum([each.size * each.shape(at.size) for each in found], axis=0) if found else np.zeros(at.size)


def moved_together(controls: Sequence[CaseSeries], since_ms: float, until_ms: float, way: float) -> float:
    """How often a job would follow: whether other jobs, not just one of several, moved that way in between.

    `controls`: without their own cycles.
    """
    if len(controls) < 2:
        return ALONE
    steps = [_step_at(each.at, each.log, *_places(each, since_ms, until_ms), (0, len(each))) for each in controls]
    known = [np.sign(way) * own / error for own, error in steps if np.isfinite(own) and error > 0]
    moved = sum(each > SEEN_BY for each in known)
    return TOGETHER if moved >= max(2, (len(known) + 1) // 2) else 0.0


def _places(each: CaseSeries, since_ms: float, until_ms: float) -> tuple[int, int]:
    first, full = np.searchsorted(each.at, (since_ms, until_ms))
    return int(first), int(full - first)


@dataclass(frozen=True, slots=True)
class Rivalry:
    """Shifts of a rival among the job's runs, the usual response, and how often a job follows each of them."""

    kind: Rival
    moved: list[SeriesShift]
    usual: float
    follows: list[float]


def responses(at: Floats, job: Floats, rival: Rivalry) -> list[RivalShift]:
    """The part of each rival shift that the job shows at the same index, if it likely responds.

    A step of the job there is the rival's effect (near the usual response), its own, or noise. The noise of such a step
    is the size of the same step at all other indexes, which includes how the job wanders.
    """
    found = []
    begins = [each.place for each in rival.moved] + [job.size]
    ends = [0] + [each.place + each.rise for each in rival.moved]
    for k, (moved, follows) in enumerate(zip(rival.moved, rival.follows, strict=True)):
        rise = max(0, min(moved.rise, begins[k + 1] - moved.place))
        own, error = _step_at(at, job, moved.place, rise, (min(ends[k], moved.place), begins[k + 1]))
        if not np.isfinite(own) or moved.size == 0 or follows == 0:
            continue
        spread = MISFIT * abs(moved.size)
        doing = follows * _density(own - rival.usual * moved.size, np.hypot(spread, error))
        chance = (1 - OWN_SHARE) * _density(own, error) + OWN_SHARE * _density(own, np.hypot(OWN_SCALE, error))
        if doing < (1 - follows) * chance:
            continue
        trust = spread**2 / (spread**2 + error**2)
        share = (trust * own + (1 - trust) * rival.usual * moved.size) / moved.size
        size = float(np.clip(share, 0.0, MOST_RESPONSE)) * moved.size
        found.append(RivalShift(rival.kind, replace(moved, size=size), moved.size))
    return found


def _density(value: float, deviation: float) -> float:
    return float(np.exp(-0.5 * (value / deviation) ** 2) / deviation)


def _step_at(at: Floats, values: Floats, place: int, rise: int, within: tuple[int, int]) -> tuple[float, float]:
    """Mean soon after a rise minus the mean just before it, and its error: the usual size of such steps elsewhere."""
    top = place + rise
    low, high = max(within[0], _back(at, place, NEAR_MS)), min(within[1], _on(at, top, NEAR_MS))
    before, after = place - low, high - top
    if min(before, after) < 2:
        return np.nan, np.nan
    sums = np.concatenate([[0.0], np.cumsum(values)])
    later = (sums[before + rise + after :] - sums[before + rise : sums.size - after]) / after
    means = later - (sums[before : sums.size - rise - after] - sums[: sums.size - before - rise - after]) / before
    return float(means[place - before]), max(scale(means), 1e-6)


def _back(at: Floats, place: int, width_ms: float) -> int:
    if place >= at.size:
        return max(place - NEAR_RUNS, 0)
    return min(int(np.searchsorted(at, at[place] - width_ms)), max(place - NEAR_RUNS, 0))


def _on(at: Floats, place: int, width_ms: float) -> int:
    if place >= at.size:
        return at.size
    return max(int(np.searchsorted(at, at[place] + width_ms)), min(place + NEAR_RUNS, at.size))
