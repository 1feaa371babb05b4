"""`write_mode_mismatch`: small row-level changes that write the whole table again, week after week.

Copy-on-write commits of seven days that each change at most a hundredth of the number of rows they write again. A
commit that replaces every file is a reload, and one that adds far more rows than it replaces is a load: neither counts.
A commit that adds delete files shows that the table merges on read, and forgets what was before it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from limnograph.analysis.findings.facts import Flags, Floats, Ints, TableFacts, last_known
from limnograph.analysis.findings.level import MeasuredLevel
from limnograph.domain.finding_limits import DAY, FindingLimits

WINDOW = 7 * DAY
_NONE = np.zeros(0, np.int64)


class RewritingState(NamedTuple):
    """Commits of the last seven days that count, and what they wrote. `records`: rows before the next move; `live`:
    bytes of the table.
    """

    times: Ints = _NONE
    bytes: Ints = _NONE
    records: float | None = None
    live: float | None = None


def rewritten(state: RewritingState, facts: TableFacts, limits: FindingLimits) -> tuple[MeasuredLevel, RewritingState]:
    """Bytes that these commits wrote again in seven days, per move, as a level whose limit is the table's size; and the
    state after the moves. O(moves).
    """
    if not len(facts.times):
        nothing = np.zeros(0)
        return MeasuredLevel(nothing, nothing, np.zeros(0, np.bool_)), state
    total = last_known(state.records, facts.numbers("total_records"))
    counts = _is_small(facts, total, state, limits)
    size = facts.integers("added_bytes")
    merges = facts.integers("added_delete_files") > 0
    times, written = (
        np.concatenate([state.times, facts.times]),
        np.concatenate([state.bytes, np.where(counts, size, 0)]),
    )
    marks = np.concatenate([np.ones(len(state.times), np.int64), counts.astype(np.int64)])
    new = np.arange(len(state.times), len(times))
    reset = np.concatenate([np.zeros(len(state.times), np.bool_), merges])
    since = np.maximum.accumulate(np.where(reset, np.arange(len(times)), -1))[new] + 1
    starts = np.maximum(np.searchsorted(times, times[new] - WINDOW, "right"), since)
    sums, numbers = (np.concatenate([[0], np.cumsum(each)]) for each in (written, marks))
    ends = np.maximum(new + 1, starts)
    live = last_known(state.live, facts.numbers("total_bytes"))
    level = MeasuredLevel(
        (sums[ends] - sums[starts]).astype(np.float64),
        np.maximum(live - 1, 0),
        numbers[ends] - numbers[starts] >= limits.rewriting_commits,
    )
    keep = np.flatnonzero((marks > 0) & (np.arange(len(times)) >= starts[-1]))
    return level, RewritingState(times[keep], written[keep], _or_none(total[-1]), _or_none(live[-1]))


def _is_small(facts: TableFacts, total: Floats, state: RewritingState, limits: FindingLimits) -> Flags:
    """Which moves write many rows again and change few."""
    added, removed, files = (
        facts.integers(name) for name in ("added_data_files", "removed_data_files", "total_data_files")
    )
    rows = facts.numbers("added_records")
    before = np.concatenate([[np.nan if state.records is None else state.records], total[:-1]])
    again = rows - (total - before)
    rewrites = facts.is_commit & ~facts.replaced & (added > 0) & (removed > 0)
    rewrites &= (facts.integers("added_delete_files") <= 0) & (files > added) & (facts.integers("added_bytes") > 0)
    few = (again - rows <= limits.rewriting_dropped * again) & (rows - again <= limits.rewriting_grown * again)
    found: Flags = rewrites & (again > 0) & few
    return found


def _or_none(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
