"""How unusual a commit is for its own table: each number against the same operation there, then a likelihood ratio.

No threshold depends on the unit of a feature: what counts is how rare such a commit is among the commits of the case.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from limnograph.analysis.explain.case import FEATURES, CaseCommits, Flags, Floats, Ints
from limnograph.analysis.explain.smoothing import MAD_TO_SIGMA, median

OWN_COMMITS = 6
"""Minimum commits of one operation to form a history; with fewer, the whole table's history is used."""
OWN_WRITES = 20
"""The same for one writer's operation: a backfill of ten commits is compared with the table's usual ones, not itself.
"""
KNOTS = np.array([3.0, 6.0])
"""Deviations at which a commit is odd, and at which it is extreme (interpolated between)."""
LEVELS = ("usual", "odd", "extreme", "changed")
GUILTY = np.array([0.2, 0.15, 0.45, 0.2])
"""Prior of a guilty commit being usual, odd, extreme, or one that changes schema or spec."""
MOST_RATIO = 300.0
_FLOOR = 0.15


@dataclass(frozen=True, slots=True)
class CommitStructure:
    """Per commit: deviation of each feature (NaN: unknown), combined score, likelihood ratio of guilt.

    `typical`: the feature's median in the history that the commit was compared with.
    """

    deviations: Floats
    typical: Floats
    score: Floats
    ratio: Floats
    flagged: Flags


def structure(commits: CaseCommits) -> CommitStructure:
    """Compare every commit with its table's history."""
    logs = np.log1p(commits.features)
    operations = commits.table * (int(commits.operation.max(initial=0)) + 1) + commits.operation
    histories = (commits.kind, np.unique(operations, return_inverse=True)[1], commits.table)
    deviations, typical = _deviations(logs, histories)
    score = _score(deviations)
    flagged = commits.schema_changed | commits.spec_changed
    return CommitStructure(deviations, np.expm1(typical), score, _ratio(score, flagged), flagged)


def _deviations(logs: Floats, histories: Sequence[Ints]) -> tuple[Floats, Floats]:
    deviations, typical = np.full_like(logs, np.nan), np.full_like(logs, np.nan)
    for column in range(logs.shape[1]):
        values = logs[:, column]
        if not np.isfinite(values).any():
            continue
        middle = _usual(values, histories)
        spread = _usual(np.abs(values - middle), histories)
        # A count of n varies by its root: 3 files instead of 2 mean nothing, even if the history never varied.
        least = np.sqrt(_FLOOR**2 + 0.25 / np.exp(middle))
        deviations[:, column] = (values - middle) / np.hypot(MAD_TO_SIGMA * spread, least)
        typical[:, column] = middle
    return deviations, typical


def _usual(values: Floats, histories: Sequence[Ints]) -> Floats:
    """Median of a commit's own history: of its writer's operation, else of the operation, its table, the case."""
    found = np.full_like(values, np.nanmedian(values))
    few = np.ones(values.size, bool)
    for history, least in zip(histories, (OWN_WRITES, OWN_COMMITS, OWN_COMMITS), strict=True):
        middle, count = grouped_median(values, history)
        own = few & (count >= least)
        found[own] = middle[own]
        few &= ~own
        if not few.any():
            break
    return found


def grouped_median(values: Floats, group: Ints) -> tuple[Floats, Ints]:
    """Median of the known values in each value's group, and their number; NaN for a group without any."""
    size = int(group.max(initial=-1)) + 1
    order = np.argsort(values)  # NaN last, also within its group
    # There are few groups: 16-bit numbers are sorted by counting.
    narrow = np.min_scalar_type(max(size, 1))
    order = order[np.argsort(group[order].astype(narrow), kind="stable")]
    start = np.searchsorted(group[order], np.arange(size))
    count = np.bincount(group[np.isfinite(values)], minlength=size)
    safe = np.maximum(count, 1)
    low = order[np.minimum(start + (safe - 1) // 2, values.size - 1)]
    high = order[np.minimum(start + safe // 2, values.size - 1)]
    middle = np.where(count > 0, (values[low] + values[high]) / 2, np.nan)
    return np.asarray(middle[group]), np.asarray(count[group])


def _score(deviations: Floats) -> Floats:
    """The larger of the most deviating feature and all combined, each relative to what is usual in the case."""
    known = np.isfinite(deviations)
    filled = np.where(known, deviations, 0.0)
    count = known.sum(axis=1)
    most = np.where(known, deviations, -np.inf).max(axis=1, initial=-np.inf)
    most = np.where(count > 0, most, 0.0)
    together = filled.sum(axis=1) / np.maximum(count, 1)
    spread = MAD_TO_SIGMA * median(np.abs(together)) if together.size else 0.0
    return np.asarray(np.maximum(most, together / max(spread, 0.5)))


def memberships(score: Floats, flagged: Flags) -> Floats:
    """Membership of each commit in usual, odd, extreme, changed; rows sum to 1."""
    odd = np.clip((score - (KNOTS[0] - 1)) / 2, 0, 1)
    extreme = np.clip((score - (KNOTS[1] - 1)) / 2, 0, 1)
    rows = np.column_stack([1 - odd, odd - extreme, extreme, np.zeros_like(score)])
    rows[flagged] = (0, 0, 0, 1)
    return rows


def _ratio(score: Floats, flagged: Flags) -> Floats:
    """P(such a commit | guilty) / P(such a commit), the second learned from the case; monotonic in the score."""
    share = memberships(score, flagged)
    usual = (share.sum(axis=0) + 0.5) / (score.size + 1)
    ratio = np.minimum(GUILTY / usual, MOST_RATIO)
    ratio[1] = max(ratio[0], min(ratio[1], ratio[2]))
    return np.asarray(share @ ratio)


def top_features(found: CommitStructure, commit: int, most: int = 3) -> list[tuple[str, float, float]]:
    """Name, deviation and typical value of a commit's most deviating features, positive deviations first."""
    row = found.deviations[commit]
    order = [int(k) for k in np.argsort(-np.where(np.isfinite(row), row, -np.inf)) if np.isfinite(row[k])]
    return [(FEATURES[k], float(row[k]), float(found.typical[commit, k])) for k in order[:most]]
