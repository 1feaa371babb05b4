"""How soon files to merge are back after a rewrite removed them: the debt's half-life."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from limnograph.analysis.findings.facts import TableFacts
from limnograph.domain.time import MICROS_PER_MS

LEAST_FILES = 20
"""Rewrites of fewer files say nothing about the writer."""


def debt_half_lives(facts: TableFacts) -> list[float]:
    """Milliseconds from each rewrite that at least halved the debt until half of it was back, in time order. A rewrite
    whose debt has not come back, or whose debt is unknown, has none. O(moves).
    """
    debt, known = facts.numbers("debt_files"), np.flatnonzero(~np.isnan(facts.numbers("debt_files")))
    found: list[float] = []
    for before, after in pairwise(known):
        moves = range(int(before) + 1, int(after) + 1)
        if debt[before] < LEAST_FILES or 2 * debt[after] > debt[before] or not facts.replaced[list(moves)].any():
            continue
        later = known[known > after]
        back = later[debt[later] >= debt[before] / 2]
        if back.size:
            found.append(float(facts.times[back[0]] - facts.times[after]) / MICROS_PER_MS)
    return found
