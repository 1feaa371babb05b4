"""Levels of a series: optimal partitioning under squared error with pruning (PELT; Killick, Fearnhead, Eckley 2012)."""

from __future__ import annotations

import numpy as np

from limnograph.analysis.explain.case import Floats


def segment(values: Floats, penalty: float, least: int) -> list[int]:
    """Indices at which a new level starts, rising, without 0. `values` have unit noise, a level `least` of them."""
    size = values.size
    if size < 2 * least:
        return []
    sums = np.concatenate([[0.0], np.cumsum(values)])
    cost = np.full(size + 1, np.inf)
    cost[0] = 0.0
    previous = np.zeros(size + 1, np.int64)
    starts = np.zeros(size + 1, np.int64)
    count = 1
    for end in range(least, size + 1):
        open_ = starts[:count]
        gained = sums[end] - sums[open_]
        reached = cost[open_] - gained * gained / (end - open_)
        best = int(reached.argmin())
        cost[end] = reached[best] + penalty
        previous[end] = open_[best]
        if end >= 2 * least - 1:
            # A start that is worse even without the penalty of one more change can never be the best again.
            left = open_[reached <= cost[end]]
            count = left.size + 1
            starts[: left.size] = left
            starts[left.size] = end - least + 1
    changes: list[int] = []
    place = int(previous[size])
    while place > 0:
        changes.append(place)
        place = int(previous[place])
    return changes[::-1]


def levels(values: Floats, changes: list[int]) -> Floats:
    """The mean of each segment, repeated over it."""
    edges = np.array([0, *changes, values.size])
    lengths = np.diff(edges)
    return np.repeat(np.add.reduceat(values, edges[:-1]) / lengths, lengths)
