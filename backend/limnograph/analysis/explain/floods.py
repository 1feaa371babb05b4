"""A flood of commits is one suspect: each is small, but together they slow down planning.

A flood is many similar commits of one kind close together, far more than usual for the kind. A
stream that always commits every few seconds has none, and a large commit among small ones remains a separate suspect.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from limnograph.analysis.explain.case import FEATURES, CaseCommits, Flags, Floats, Ints

CLOSE_MS = 10_000.0
"""Maximum distance between neighbours of a flood."""
LONGEST_MS = 900_000.0
LEAST, TIMES = 10, 8.0
"""Minimum commits of a flood, absolute and as a multiple of the kind's usual number of commits together."""
HABIT = 3
"""Groups of a kind's commits; only more than these show how many commits usually occur together."""
MOST_SHARE = 0.5
"""Maximum share of one commit in the total of a flood."""
_STATES = [FEATURES.index(name) for name in ("manifests", "changed_partitions")]
"""Numbers that describe the table, or its width, after a commit, and so cannot be summed."""


def gathered(commits: CaseCommits) -> CaseCommits:
    """Every flood as its first commit with the numbers of all; other commits unchanged. O(n log n)."""
    if len(commits) < LEAST:
        return commits
    order = np.lexsort((commits.at, commits.kind))
    floods = _floods(commits.at[order], commits.kind[order])
    if not floods:
        return commits
    features, count, kept = commits.features.copy(), commits.count.copy(), np.ones(len(commits), bool)
    schema, spec = commits.schema_changed.copy(), commits.spec_changed.copy()
    for start, stop in floods:
        members = _alike(order[start:stop], commits.features)
        if members.size < LEAST:
            continue
        first, own = members[0], commits.features[members]
        known = np.isfinite(own)
        together = np.where(known, own, 0.0).sum(axis=0)
        together[_STATES] = np.where(known, own, 0.0).max(axis=0)[_STATES]
        features[first] = np.where(known.any(axis=0), together, np.nan)
        count[first] = members.size
        schema[first], spec[first] = commits.schema_changed[members].any(), commits.spec_changed[members].any()
        kept[members[1:]] = False
    whole = replace(commits, features=features, count=count, schema_changed=schema, spec_changed=spec)
    return _chosen(whole, kept)


def _alike(members: Ints, features: Floats) -> Ints:
    """The commits without those that contribute most of the total."""
    while members.size >= LEAST:
        own = np.nan_to_num(features[members])
        large = (np.delete(own, _STATES, axis=1) > MOST_SHARE * np.delete(own.sum(axis=0), _STATES)).any(axis=1)
        if not large.any():
            break
        members = members[~large]
    return members


def _floods(at: Floats, kind: Ints) -> list[tuple[int, int]]:
    """Stretches of commits sorted by kind and time."""
    parted = (np.diff(kind) != 0) | (np.diff(at) > CLOSE_MS)
    edges = np.concatenate([[0], np.flatnonzero(parted) + 1, [at.size]])
    starts, stops = edges[:-1], edges[1:]
    sizes = stops - starts
    many = np.flatnonzero((sizes >= LEAST) & (at[stops - 1] - at[starts] <= LONGEST_MS))
    of = kind[starts]
    usual = {each: _usual(sizes[of == each]) for each in np.unique(of[many]).tolist()}
    return [
        (int(starts[each]), int(stops[each])) for each in many.tolist() if sizes[each] >= TIMES * usual[int(of[each])]
    ]


def _usual(sizes: Ints) -> float:
    """How many commits of a kind usually occur together; 1 for a kind with too little history."""
    return float(np.median(sizes)) if sizes.size > HABIT else 1.0


def _chosen(commits: CaseCommits, kept: Flags) -> CaseCommits:
    names = np.flatnonzero(kept).tolist()
    return replace(
        commits,
        ids=tuple(commits.ids[place] for place in names),
        tables=tuple(commits.tables[place] for place in names),
        at=commits.at[kept],
        table=commits.table[kept],
        operation=commits.operation[kept],
        kind=commits.kind[kept],
        features=commits.features[kept],
        schema_changed=commits.schema_changed[kept],
        spec_changed=commits.spec_changed[kept],
        first_read_at=commits.first_read_at[kept],
        count=commits.count[kept],
    )
