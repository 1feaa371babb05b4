"""`delete_files_growing`: delete files are added for a week and none is merged."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from limnograph.analysis.findings.facts import UNKNOWN, Ints, TableFacts, changed
from limnograph.analysis.findings.level import LONG_AGO, MeasuredLevel
from limnograph.domain.finding_limits import DAY, FindingLimits

LOOK_BACK = 7 * DAY
_NONE = np.zeros(0, np.int64)


class DeleteHistory(NamedTuple):
    """Changes of the number of delete files in the last week and the one before it. `removed`: when delete files were
    last removed; `created`: whether the first value is that of the table's first commit.
    """

    times: Ints = _NONE
    counts: Ints = _NONE
    removed: int = LONG_AGO
    created: bool = False
    begun: bool = False


def grown(state: DeleteHistory, facts: TableFacts, limits: FindingLimits) -> tuple[MeasuredLevel, DeleteHistory]:
    """Delete files more than seven days before, per move, as a level; and the history with these moves. Unknown for a
    table whose first commits are not known. O(moves).
    """
    totals = facts.integers("total_delete_files")
    known = np.flatnonzero(totals != UNKNOWN)
    times, counts = facts.times[known], totals[known]
    created = state.created
    if not state.begun and len(facts.times):
        created = bool(facts.integers("parent_id")[0] == UNKNOWN and facts.integers("added_data_files")[0] != UNKNOWN)
    every_time, every = np.concatenate([state.times, times]), np.concatenate([state.counts, counts])
    removed = np.zeros(len(every), np.bool_)
    removed[1:] = np.diff(every) < 0
    removed[len(state.times) :] |= facts.integers("removed_delete_files")[known] > 0
    fallen = np.where(removed, every_time, state.removed)
    fallen = np.maximum.accumulate(fallen)
    new = slice(len(state.times), None)
    before = every_time.searchsorted(times - LOOK_BACK, "right") - 1
    then = np.where(before >= 0, every[np.maximum(before, 0)], 0 if created else UNKNOWN)
    growth = np.where(then == UNKNOWN, np.nan, counts - then)
    data = facts.numbers("total_data_files")[known]
    matters = (times - fallen[new] >= LOOK_BACK) & (counts >= limits.delete_share * data)
    values = np.full(len(facts.times), np.nan)
    values[known] = growth
    applies = np.zeros(len(facts.times), np.bool_)
    applies[known] = matters
    level = MeasuredLevel(values, limits.delete_files - 1.0, applies)
    return level, _kept(state, every_time, every, fallen, created, begun=state.begun or len(facts.times) > 0)


def _kept(
    state: DeleteHistory, times: Ints, counts: Ints, fallen: Ints, created: bool, *, begun: bool
) -> DeleteHistory:
    """The changes within the last week, and the value before them."""
    if not len(times):
        return state._replace(created=created, begun=begun)
    changes = np.flatnonzero(changed(counts))
    recent = changes[times[changes] > times[-1] - LOOK_BACK]
    first = changes[changes < (recent[0] if len(recent) else len(times))][-1:]
    keep = np.concatenate([first, recent])
    return DeleteHistory(times[keep], counts[keep], int(fallen[-1]), created and len(first) == 0, begun)
