"""What share of a reader's seconds each part of the structure costs, as a sum of costs.

`following.py` asks how seconds change where a metric doubles; here a small file, a manifest or a byte costs the same
whether there are few or many. Which law holds is not known, and the two together name a driver better than either.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from limnograph.analysis.forecast.following import STRUCTURE, decided_shares, run_noise, solved
from limnograph.analysis.forecast.grid import DAY_H, HOUR_MS, Floats, Longs
from limnograph.analysis.forecast.series import HistoryGrid

_BYTES = STRUCTURE.index("total_bytes")
_SKEW = STRUCTURE.index("skew_max_over_median")
_USUAL = np.array([0.25, 0.35, 0.1, 0.1, 0.1, 0.3])
"""Of each part of the structure, and of what does not depend on it. They need not sum to 1: runs decide."""
_SPREAD = np.array([0.35, 0.35, 0.35, 0.35, 0.35, 0.6])
_LEAST_NOISE = 0.06
_HISTORY_D = 28
_LEAST_RUNS = 8
_LEAST_LATEST = (3, 5)
_ROUNDS = 3


class CostShare(NamedTuple):
    """Share of the seconds of now, and how far runs decide it, 0 to 1: the rest is what is usual."""

    share: float = float("nan")
    decided: float = float("nan")


NO_SHARE = CostShare()


def cost_shares(series: HistoryGrid, cut: int) -> dict[str, CostShare]:
    """Of each structural metric at index `cut`; empty with too few runs to tell."""
    times, seconds, read = series.runs()
    hour = times // HOUR_MS - series.start
    known = (hour >= max(cut - _HISTORY_D * DAY_H, 1)) & (hour < cut) & (seconds > 0)
    if known.sum() < _LEAST_RUNS:
        return {}
    own = seconds[known] / np.exp(series.load_at(times[known]))
    latest = max(_LEAST_LATEST[1], own.size // (_HISTORY_D // 2))
    costs = _relative(series, cut, hour[known], np.where(read[known] > 0, read[known], np.nan))
    found, decided = _fit(costs, own / float(np.median(own[-latest:])), run_noise(np.log(own)))
    parts = map(CostShare, found[:-1].tolist(), decided[:-1].tolist())
    return dict(zip(STRUCTURE, parts, strict=True))


def _relative(series: HistoryGrid, cut: int, hours: Longs, read: Floats) -> Floats:
    """Each part of the structure at each run over what it is now, and a constant; 1 where it is not known."""
    columns = []
    for place, name in enumerate(STRUCTURE):
        states, now = series.states(name)[hours], float(series.levels(name)[cut])
        if place == _SKEW and now > 1:
            states, now = np.log(np.maximum(states, 1.0)), float(np.log(now))
        columns.append(states / now if now > 0 else np.ones(hours.size))
    latest = read[-max(_LEAST_LATEST[0], hours.size // _HISTORY_D) :]
    if np.isfinite(latest).any():
        columns[_BYTES] = np.where(np.isfinite(read), read / np.nanmedian(latest), columns[_BYTES])
    return np.nan_to_num(np.stack([*columns, np.ones(hours.size)], axis=1), nan=1.0)


def _fit(costs: Floats, seconds: Floats, noise: float) -> tuple[Floats, Floats]:
    """Least squares of relative errors, with a prior of usual shares, and far outliers clipped."""
    found: Floats = _USUAL / _USUAL.sum()
    relative = costs
    weight = (max(2 * noise, _LEAST_NOISE) / _SPREAD) ** 2
    for _ in range(_ROUNDS):
        fitted = np.maximum(costs @ found, 0.05)
        far = np.exp(3 * noise + 0.1)
        clipped = np.clip(seconds, fitted / far, fitted * far)
        relative = costs / fitted[:, None]
        found = solved(relative, clipped / fitted, _USUAL, weight, np.zeros(_USUAL.size))
    return found, decided_shares(relative, weight)
