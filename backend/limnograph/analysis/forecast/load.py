"""Common move of a fleet's readers: how much slower than usual everything ran in an hour, whatever the table."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import numpy as np

from limnograph.analysis.forecast.grid import HOUR_MS, Floats, Longs, middle
from limnograph.domain.forecasts.cases import ReaderRuns

LEAST_JOBS = 3
_NEAR_H = 3


class FleetLoad:
    """Immutable after construction. `logs[k]`: log of the common factor in hour `first_hour` + k; 0: not known."""

    def __init__(self, first_hour: int, logs: Floats) -> None:
        self.first_hour = first_hour
        self.logs = logs

    def mean(self, since_hour: int, until_hour: int) -> float:
        """Mean log over hours [since, until)."""
        part = self.logs[max(since_hour - self.first_hour, 0) : max(until_hour - self.first_hour, 0)]
        return float(part.mean()) if part.size else 0.0

    def at(self, times: Longs) -> Floats:
        """Logs at instants in ms."""
        if not self.logs.size:
            return np.zeros(len(times))
        place = np.asarray(times, np.int64) // HOUR_MS - self.first_hour
        inside = (place >= 0) & (place < self.logs.size)
        return np.where(inside, self.logs[np.clip(place, 0, self.logs.size - 1)], 0.0)


NO_LOAD = FleetLoad(0, np.zeros(0))


def common_load(runs: Iterable[ReaderRuns], before: int | None = None) -> FleetLoad:
    """Median over jobs of log(duration / the job's median around then), by hour; jobs with 8 runs and more count.

    before  runs that start at or after this instant in ms are ignored
    """
    places, moves, jobs = [], [], []
    for job, each in enumerate(runs):
        times = np.asarray(each.times, np.int64)
        seconds = np.array(each.duration_seconds, np.float64)
        known = np.isfinite(seconds) & (seconds > 0) & (times < (before or np.iinfo(np.int64).max))
        if known.sum() < 8:
            continue
        logs = np.log(seconds[known])
        places.append(times[known] // HOUR_MS)
        moves.append(logs - _slow_median(logs))
        jobs.append(np.full(logs.size, job))
    if len(places) < LEAST_JOBS:
        return NO_LOAD
    return _by_hour(np.concatenate(places), np.concatenate(moves), np.concatenate(jobs))


def _slow_median(logs: Floats, half: int = 40) -> Floats:
    edges = np.linspace(0, logs.size, max(1, logs.size // half) + 1).astype(int)
    middles = [middle(logs[low:high]) for low, high in pairwise(edges.tolist())]
    return np.interp(np.arange(logs.size), (edges[:-1] + edges[1:] - 1) / 2, middles)


def _by_hour(hours: Longs, moves: Floats, jobs: Longs) -> FleetLoad:
    start, count = int(hours.min()), int(hours.max() - hours.min()) + 1
    found = np.zeros(count)
    order = np.argsort(hours, kind="stable")
    hours, moves, jobs = hours[order] - start, moves[order], jobs[order]
    low = np.searchsorted(hours, np.arange(count) - _NEAR_H // 2)
    high = np.searchsorted(hours, np.arange(count) + _NEAR_H // 2, side="right")
    for hour in np.flatnonzero(high - low >= LEAST_JOBS).tolist():
        near = slice(low[hour], high[hour])
        if len(set(jobs[near].tolist())) >= LEAST_JOBS:
            found[hour] = middle(moves[near])
    return FleetLoad(start, found)
