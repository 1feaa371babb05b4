"""Who added files, delete files and snapshots since the last maintenance commit: the cause of conditions that build up
slowly, which no single commit explains.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from limnograph.analysis.findings.facts import TableFacts
from limnograph.domain.time import Micros

MOST_WRITERS = 20


class Share(NamedTuple):
    """What one writer added."""

    data_files: int = 0
    delete_files: int = 0
    commits: int = 0


class Contributions(NamedTuple):
    """Shares by writer. `since`: the last maintenance commit; None if none is known."""

    since: Micros | None = None
    shares: Mapping[str | None, Share] = {}


def advance(state: Contributions, facts: TableFacts) -> Contributions:
    """With more moves. O(moves since the last maintenance commit)."""
    replaces = np.flatnonzero(facts.replaced & facts.is_commit)
    first = int(replaces[-1]) + 1 if len(replaces) else 0
    if len(replaces):
        state = Contributions(Micros(facts.times[replaces[-1]]))
    places = np.flatnonzero(facts.is_commit[first:]) + first
    if not len(places):
        return state
    shares = dict(state.shares)
    codes = facts.writers.codes[places]
    data = np.maximum(facts.integers("added_data_files")[places], 0)
    deletes = np.maximum(facts.integers("added_delete_files")[places], 0)
    for code, writer in enumerate(facts.writers.names):
        mine = codes == code
        commits = int(mine.sum())
        if commits:
            known = shares.get(writer, Share())
            files, removes = int(data[mine].sum()), int(deletes[mine].sum())
            shares[writer] = Share(known.data_files + files, known.delete_files + removes, known.commits + commits)
    if len(shares) > MOST_WRITERS:
        largest = sorted(shares.items(), key=lambda item: (-item[1].commits, item[0] or ""))[:MOST_WRITERS]
        shares = dict(largest)
    return state._replace(shares=shares)


def largest(state: Contributions, what: str) -> tuple[str | None, float] | None:
    """The writer that added most of `what`, a field of Share, and its share of it; None if nothing was added."""
    amounts = {writer: int(getattr(share, what)) for writer, share in state.shares.items()}
    total = sum(amounts.values())
    if not total:
        return None
    writer = min(amounts, key=lambda name: (-amounts[name], name or ""))
    return writer, amounts[writer] / total
