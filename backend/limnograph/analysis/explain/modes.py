"""The common movement of other jobs and the effect of the load, at the job's own instants; the job's load response."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from limnograph.analysis.explain.case import CaseSeries, Floats
from limnograph.analysis.explain.changes import MOST_BINS
from limnograph.analysis.explain.cycles import DAY_MS, cycles
from limnograph.analysis.explain.smoothing import binned, bins, median, running_median

LEAST_RUNS = 24
"""Minimum number of runs for another series to be used."""
COUPLED = 0.3
"""Minimum correlation for which the job follows its load between shifts too."""


def shared_mode(controls: Sequence[CaseSeries], at: Floats) -> Floats | None:
    """The common movement of other jobs at these instants: median of their centred logs; None if there is none."""
    rows = [_held(each, at) for each in controls if len(each) >= LEAST_RUNS]
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


def load_mode(load: CaseSeries | None, at: Floats) -> Floats | None:
    """The load's centred log at these instants."""
    if load is None or len(load) < LEAST_RUNS:
        return None
    found = _held(load, at)
    return _filled(found) if np.isfinite(found).mean() >= 0.5 else None


def _held(each: CaseSeries, at: Floats) -> Floats:
    """A series at other instants, interpolated between its neighbours; unknown beyond its ends and in its gaps."""
    smooth = running_median(each.log, 3) - median(each.log)
    found = np.interp(at, each.at, smooth, left=np.nan, right=np.nan)
    after = np.clip(np.searchsorted(each.at, at), 1, len(each) - 1)
    hole = each.at[after] - each.at[after - 1] > 12 * max(each.gap_ms, 1.0)
    return np.where(hole & (each.at[after] != at), np.nan, found)


def _filled(values: Floats) -> Floats:
    known = np.flatnonzero(np.isfinite(values))
    return np.interp(np.arange(values.size), known, values[known])


def rough_level(at: Floats, values: Floats, period_ms: float = DAY_MS) -> Floats:
    """A rough level without variation within a day (or a week): the median over that period around each instant."""
    width = int(np.clip(round(at.size * period_ms / max(float(at[-1] - at[0]), 1.0)), 1, at.size))
    middles = np.median(sliding_window_view(values, width), axis=1)
    return middles[np.clip(np.arange(at.size) - width // 2, 0, middles.size - 1)]


def without_cycles(controls: Sequence[CaseSeries]) -> list[CaseSeries]:
    """Each of the other jobs without its own daily cycle, which would hide a shift of a few hours."""
    found = []
    for each in controls:
        if len(each) < LEAST_RUNS:
            continue
        edges = bins(len(each), MOST_BINS)
        at, coarse = binned(each.at, edges), binned(each.log, edges)
        cycle = cycles(at, coarse - rough_level(at, coarse))[0]
        found.append(replace(each, log=each.log - np.interp(each.at, at, cycle)))
    return found


def coupling(job: Floats, load: Floats) -> float:
    """How the job follows its load from run to run (log over log); 0 if not clearly."""
    own, other = job - running_median(job, 25), load - running_median(load, 25)
    bound = 3 * median(np.abs(own)) + 1e-12
    own = np.clip(own, -bound, bound)
    power = float(other @ other)
    if power <= 1e-12:
        return 0.0
    correlation = float(own @ other) / np.sqrt(power * float(own @ own) + 1e-300)
    return float(np.clip(own @ other / power, 0.0, 1.5)) if correlation > COUPLED else 0.0
