"""The job's log duration without effects other than commits': other jobs' shifts, load, daily cycle, single spikes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from limnograph.analysis.explain.case import CaseSeries, Floats, Ints
from limnograph.analysis.explain.changes import MOST_BINS, Levels, criterion, find_levels
from limnograph.analysis.explain.cycles import DAY_MS, WEEK_MS, cycles, has_weeks
from limnograph.analysis.explain.drift import DRIFT_PARAMETERS, without_drift
from limnograph.analysis.explain.modes import coupling, load_mode, rough_level, shared_mode, without_cycles
from limnograph.analysis.explain.rivals import (
    LOADED,
    Rivalry,
    RivalShift,
    SeriesShift,
    moved_together,
    responses,
    shifts_of,
)
from limnograph.analysis.explain.smoothing import binned, bins, median, running_median, scale

USUAL = 0.8
"""Default response of a job to its load (log over log), if none was measured from run to run."""
SPIKE_WIDTH = 5
SPIKE = 3.0
"""Deviations from the median of its neighbours beyond which a run is cut off (measured: law of section 7)."""


@dataclass(frozen=True, slots=True)
class NormalisedSeries:
    """Log seconds with only the changes to be explained, their levels, and the rivals' shifts."""

    values: Floats
    levels: Levels
    shifts: list[RivalShift]


def normalise(
    job: CaseSeries, controls: Sequence[CaseSeries], load: CaseSeries | None, kept: float
) -> NormalisedSeries:
    """Remove the rivals, then the cycle, twice: the second time around the levels that the first one found."""
    values = clip_spikes(job.log - median(job.log))
    edges = bins(len(job), MOST_BINS)
    at = binned(job.at, edges)
    shifts: list[RivalShift] = []
    mode, work = shared_mode(controls, at), load_mode(load, at)
    if work is not None:
        follows = coupling(binned(values, edges), work)
        moved, level = shifts_of(at, work)
        values = values - follows * np.interp(job.at, at, work - level)
        rivalry = Rivalry("load", [each.among(edges) for each in moved], follows or USUAL, [LOADED] * len(moved))
        values, found = _without(job, values, rivalry)
        shifts += found
    if mode is not None:
        full = [each.among(edges) for each in shifts_of(at, mode)[0]]
        others = without_cycles(controls) if full else []
        follow = [moved_together(others, *_times(job, each), each.size) for each in full]
        values, found = _without(job, values, Rivalry("infrastructure", full, 1.0, follow))
        shifts += found
    return NormalisedSeries(*_best(job, values, edges, at, kept), shifts)


def _best(job: CaseSeries, values: Floats, edges: Ints, at: Floats, kept: float) -> tuple[Floats, Levels]:
    """Levels alone, with a cycle, or with a drift: whichever explains the runs with the lowest BIC."""
    plain = find_levels(values, kept)
    best, least, spent = (values, plain), criterion(values, plain, 0), 0
    for weekly in (False, True) if has_weeks(at) else (False,):
        coarse = binned(values, edges)
        around = rough_level(at, coarse, WEEK_MS if weekly else DAY_MS)
        places: list[int] = []
        for _ in range(2):
            cycle, parameters = cycles(at, coarse - around, weekly=weekly, places=places)
            if not parameters:
                break
            flat = clip_spikes(values - np.interp(job.at, at, cycle))
            levels = find_levels(flat, kept)
            around, places = np.zeros_like(coarse), np.unique(np.searchsorted(edges, levels.places)).tolist()
            cost = criterion(flat, levels, parameters)
            if cost < least:
                best, least, spent = (flat, levels), cost, parameters
    flat = without_drift(job.at, *best)
    levels = find_levels(flat, kept, best[1].places)
    return (flat, levels) if criterion(flat, levels, spent + DRIFT_PARAMETERS) < least else best


def _times(job: CaseSeries, moved: SeriesShift) -> tuple[float, float]:
    last = len(job) - 1
    return float(job.at[min(moved.place, last)]), float(job.at[min(moved.place + moved.rise, last)])


def _without(job: CaseSeries, values: Floats, rival: Rivalry) -> tuple[Floats, list[RivalShift]]:
    found = responses(job.at, values, rival)
    return values - sum((each.of.size * each.of.shape(len(job)) for each in found), np.zeros(len(job))), found


def clip_spikes(values: Floats) -> Floats:
    """Values cut off at SPIKE deviations from the running median of five."""
    middle = running_median(values, SPIKE_WIDTH)
    off = values - middle
    bound = SPIKE * scale(off)
    return middle + np.clip(off, -bound, bound) if bound > 0 else values
