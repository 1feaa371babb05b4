"""Levels of a series: optimal partitioning under squared error with pruning (PELT; Killick, Fearnhead, Eckley 2012)."""

from __future__ import annotations

import numpy as np

from limnograph.analysis.explain.case import Floats

PRUNED = 8
"""Steps between two checks of which starts can be pruned: checking costs more than it saves."""


def segment(values: Floats, penalty: float, least: int) -> list[int]:
    """Indices where a new level starts, ascending, without 0. `values` have unit noise; a level has `least` of them."""
    size = values.size
    if size < 2 * least:
        return []
    sums = np.concatenate([[0.0], np.cumsum(values)])
    previous = np.zeros(size + 1, np.int64)
    # For each open start: its index, the sum up to it, and the minimum cost up to it.
    starts, before, cost = np.zeros(size + 1), np.zeros(size + 1), np.zeros(size + 1)
    least_cost = np.zeros(size + 1)
    count = 1
    for end in range(least, size + 1):
        gained = sums[end] - before[:count]
        reached = cost[:count] - gained * gained / (end - starts[:count])
        best = int(reached.argmin())
        previous[end] = starts[best]
        least_cost[end] = reached[best] + penalty
        if end % PRUNED == 0:
            # A start that is worse even without the penalty of one more change can never become the best.
            left = np.flatnonzero(reached <= least_cost[end])
            count = left.size
            for column in (starts, before, cost):
                column[:count] = column[left]
        if end >= 2 * least - 1:
            opened = end - least + 1
            starts[count], before[count], cost[count] = opened, sums[opened], least_cost[opened]
            count += 1
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
