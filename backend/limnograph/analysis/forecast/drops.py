"""Drops of a state, such as compactions and expiries: when they happened, how far apart they usually are."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from limnograph.analysis.forecast.grid import Floats, Longs, middle

LEAST_SHARE = 0.1
SMALL_SHARE = 0.015
"""A fall counts as a drop if it takes away this share of the highest state of the last 28 days: compactions take much,
expiries that run often take little.
"""
_NEAR_H = 3
"""Falls within these hours are one drop."""
_DAY_H = 24
_WINDOW_H = 28 * _DAY_H


class Drops(NamedTuple):
    """Hours of drops (indexes of the states), the median time between them (NaN with fewer than two), hours since the
    last one (NaN without one), and the median share that one takes away.
    """

    hours: Longs
    usual_h: float
    since_h: float
    share: float


def find_drops(states: Floats, least: float = LEAST_SHARE) -> Drops:
    """Drops in the last 28 days of states that end at the cut-off, of at least the share `least` of the highest."""
    offset = max(states.size - _WINDOW_H, 0)
    recent = states[offset:]
    known = np.isfinite(recent)
    if known.sum() < 2:
        return Drops(np.zeros(0, np.int64), np.nan, np.nan, 0.0)
    change = np.diff(recent)
    falls = np.flatnonzero(change < -least * np.nanmax(recent))
    if not falls.size:
        return Drops(np.zeros(0, np.int64), np.nan, np.nan, 0.0)
    first = np.concatenate([[True], np.diff(falls) > _NEAR_H])
    starts = falls[first]
    ends = np.append(np.flatnonzero(first)[1:] - 1, falls.size - 1)
    shares = 1 - recent[falls[ends] + 1] / recent[starts]
    usual = middle(np.diff(starts).astype(np.float64)) if starts.size > 1 else np.nan
    since = float(recent.size - 1 - falls[-1])
    return Drops(starts + 1 + offset, usual, since, middle(shares))


def growth_per_day(states: Floats, least: float = LEAST_SHARE) -> float:
    """Median change of the state in a day, without its drops, over the last 28 days; NaN where less than a day is
    known. Of the state and not of the level: the mean of a day that ends with a compaction does not rise at all.
    """
    recent = states[-(_WINDOW_H + 1) :]
    change = np.diff(recent)
    known = np.isfinite(change)
    if known.sum() < _DAY_H:
        return float("nan")
    change = np.where(known & (change >= -least * np.nanmax(recent)), change, 0.0)[known.argmax() :]
    days = change[change.size % _DAY_H :].reshape(-1, _DAY_H).sum(axis=1)
    return float(np.median(days))
