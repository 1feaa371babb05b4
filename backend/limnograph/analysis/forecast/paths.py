"""Day bootstrap: futures of a level drawn from its own days. A rise adds, a fall multiplies: a compaction leaves
a share of what there is, however much that is by then.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from limnograph.analysis.forecast.grid import DAY_H, Floats, Longs

HISTORY_D = 28
PATHS = 48
_RECENT = 0.95
"""Weight of a day relative to the next one."""


class DayBlocks(NamedTuple):
    """Effect of each day on a state, as affine maps: state after = a x + b; its mean over the day = mean_a x + mean_b.
    `[series, day]`, latest day first; `days`: how many are known.
    """

    a: Floats
    b: Floats
    mean_a: Floats
    mean_b: Floats
    days: Longs


def day_blocks(states: Floats) -> DayBlocks:
    """Blocks of series that end at the cut-off: `states[series, HISTORY_D * 24 + 1]`, NaN where not known."""
    before, after = states[:, :-1], states[:, 1:]
    known = np.isfinite(before) & np.isfinite(after)
    with np.errstate(invalid="ignore", divide="ignore"):
        falls = known & (after < before)
        factor = np.where(falls, after / np.where(before > 0, before, 1.0), 1.0)
        added = np.where(known & ~falls, after - before, 0.0)
    shape = (len(states), HISTORY_D, DAY_H)
    factor, added = factor.reshape(shape)[:, ::-1], added.reshape(shape)[:, ::-1]
    a, b = np.ones(shape[:2]), np.zeros(shape[:2])
    mean_a, mean_b = np.zeros(shape[:2]), np.zeros(shape[:2])
    for hour in range(DAY_H):
        a = a * factor[..., hour]
        b = b * factor[..., hour] + added[..., hour]
        mean_a += a / DAY_H
        mean_b += b / DAY_H
    days = (known.reshape(shape).sum(axis=2) >= DAY_H // 2)[:, ::-1].sum(axis=1)
    return DayBlocks(a, b, mean_a, mean_b, days)


def draw_paths(blocks: DayBlocks, state: Floats, days: int) -> Floats:
    """Levels at the end of each future day: `[series, PATHS, days]`. The same random numbers for every series."""
    rng = np.random.default_rng(20)
    drawn = rng.random((PATHS, days))
    same_weekday = rng.random((PATHS, days)) < 0.5
    known = np.maximum(blocks.days, 1)[:, None, None]
    total = 1 - _RECENT**known
    place = np.floor(np.log1p(-drawn * total) / np.log(_RECENT)).astype(np.int64)
    week = np.broadcast_to((-1 - np.arange(days)) % 7, place.shape)
    weeks = known // 7
    matched = week + 7 * np.floor(drawn * np.maximum(weeks, 1)).astype(np.int64)
    place = np.where(same_weekday & (weeks >= 2), matched, place)
    place = np.minimum(place, known - 1)
    found = np.empty(place.shape)
    row = np.arange(len(state))[:, None]
    current = np.repeat(state[:, None], PATHS, axis=1)
    for day in range(days):
        chosen = place[:, :, day]
        found[:, :, day] = blocks.mean_a[row, chosen] * current + blocks.mean_b[row, chosen]
        current = blocks.a[row, chosen] * current + blocks.b[row, chosen]
    return found
