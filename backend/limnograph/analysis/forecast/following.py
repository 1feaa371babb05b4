"""How a reader follows the structure of its table: log seconds per log of each structural metric.

A regression of the log of each run on logs of the structure at its start, over four weeks, without the fleet's common
load. Runs see the saw-tooth within a day, which levels average out: they show more than days. What is usual is the
prior, and weighs the more the noisier the runs are.
"""

from __future__ import annotations

from operator import mul
from typing import NamedTuple

import numpy as np

from limnograph.analysis.forecast.grid import DAY_H, HOUR_MS, Floats
from limnograph.analysis.forecast.series import GIB, HistoryGrid

STRUCTURE = ("small_files", "total_bytes", "manifests", "total_delete_files", "skew_max_over_median")
"""Metrics that readers may follow."""
_BYTES = STRUCTURE.index("total_bytes")
_USUAL = (0.2, 0.2, 0.15, 0.2, 0.2)
_USUAL_OF_READ = 0.5
"""Log seconds per log of the bytes that a run reads."""
_PER_GIB = (0.2, 0.0, 0.15, 0.2, 0.2)
_PER_GIB_OF_READ = -0.3
"""A fixed cost is spread over more bytes."""
_SPREAD = 0.3
_LEAST_NOISE = 0.06
_HISTORY_D = 28
_LEAST_RUNS = 8
_ROUNDS = 25
_FAR = 3.0
_JITTER = 1e-9


class RunFit(NamedTuple):
    """A regression on runs.

    decided  how far runs decide each coefficient, 0 to 1: the rest is its prior
    runs  their number
    noise  what is left of a log second; `unexplained`: its share of all that they vary
    """

    found: Floats
    decided: Floats
    runs: int
    noise: float
    unexplained: float


def responses(series: HistoryGrid, metric: str, cut: int) -> dict[str, float]:
    """Response of a reader's level to each structural metric, not negative."""
    found, _ = response_fit(series, metric, cut)
    return found


def response_fit(series: HistoryGrid, metric: str, cut: int) -> tuple[dict[str, float], RunFit | None]:
    """`responses`, and the regression behind them, None with too few runs; `decided` of the parts of `STRUCTURE`."""
    per_gib = metric == "reader_seconds_per_gib"
    prior = np.array([*_PER_GIB, _PER_GIB_OF_READ] if per_gib else [*_USUAL, _USUAL_OF_READ])
    fitted, fit = prior, None
    times, seconds, read = series.runs()
    hour = times // HOUR_MS - series.start
    known = (hour >= max(cut - _HISTORY_D * DAY_H, 1)) & (hour < cut) & (seconds > 0)
    if per_gib:
        known &= read > 0
    if known.sum() >= _LEAST_RUNS:
        log_read = np.log(np.where(read[known] > 0, read[known], np.nan) / GIB)
        logs = np.log(seconds[known]) - series.load_at(times[known]) - (log_read if per_gib else 0.0)
        columns = [*(_logs(series, name)[hour[known]] for name in STRUCTURE), log_read]
        least = np.array([0.0] * len(STRUCTURE) + [-1.0 if per_gib else 0.0])
        fit = _fit(np.stack(columns, axis=1), logs, prior, least)
        fitted = fit.found
        decided = fit.decided[: len(STRUCTURE)].copy()
        decided[_BYTES] = max(decided[_BYTES], fit.decided[-1])
        fit = fit._replace(decided=decided)
    found = fitted[: len(STRUCTURE)].copy()
    if not per_gib:
        found[_BYTES] += fitted[-1]
    return dict(zip(STRUCTURE, found.tolist(), strict=True)), fit


def _fit(logs: Floats, level: Floats, prior: Floats, least: Floats) -> RunFit:
    """Least squares with a prior around `prior`, by coordinates, not below `least`."""
    there = np.isfinite(logs)
    means = np.where(there, logs, 0.0).sum(axis=0) / np.maximum(there.sum(axis=0), 1)
    x = np.where(there, logs - means, 0.0)
    y, noise = _without_spikes(level)
    weight = (max(2 * noise, _LEAST_NOISE) / _SPREAD) ** 2
    found = solved(x, y, prior, np.full(prior.size, weight), least)
    left = float(np.sqrt(np.mean((y - x @ found) ** 2)))
    varied = float(np.sqrt(np.mean(y**2)))
    return RunFit(found, decided_shares(x, np.full(prior.size, weight)), len(y), left, left / (varied + 1e-9))


def decided_shares(x: Floats, weight: Floats) -> Floats:
    """How far data decides each coefficient of `solved`, 0 to 1: the rest is its prior."""
    spread = np.linalg.inv(x.T @ x + np.diag(weight) + _JITTER * np.eye(weight.size))
    return np.asarray(1 - weight * np.diag(spread))


def solved(x: Floats, y: Floats, prior: Floats, weight: Floats, least: Floats) -> Floats:
    """Least squares with a prior of `weight` around `prior`, by coordinates, not below `least`."""
    # Plain numbers: numpy takes longer to call than these few products take.
    products, pulls = (x.T @ x).tolist(), (x.T @ y + weight * prior).tolist()
    found, weights, floors = prior.tolist(), weight.tolist(), least.tolist()
    for _ in range(_ROUNDS):
        for place, row in enumerate(products):
            others = sum(map(mul, row, found)) - row[place] * found[place]
            found[place] = max(floors[place], (pulls[place] - others) / (row[place] + weights[place]))
    return np.array(found)


def _without_spikes(level: Floats) -> tuple[Floats, float]:
    """Moves around the median, with the far ones clipped, and the noise from one run to the next."""
    y = level - np.median(level)
    noise = run_noise(level)
    far = _FAR * max(noise, float(np.quantile(np.abs(y), 0.9)))
    y = np.clip(y, -far, far)
    return y - y.mean(), noise


def run_noise(logs: Floats) -> float:
    """Noise of the log from one run to the next."""
    steps = np.diff(logs)
    return max(1.4826 * float(np.median(np.abs(steps - np.median(steps)))) / float(np.sqrt(2)), 0.02)


def _logs(series: HistoryGrid, metric: str) -> Floats:
    states = series.states(metric)
    top = np.fmax.reduce(states) if states.size else np.nan
    floor = 0.05 * top + 1e-6 if np.isfinite(top) else 1e-6
    return np.asarray(np.log(np.maximum(states, 0) + floor))
