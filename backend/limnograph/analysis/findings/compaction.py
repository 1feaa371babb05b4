"""`compaction_stopped` and `compaction_ineffective`: rewrites that no longer come, or no longer reduce the debt."""

from __future__ import annotations

from itertools import pairwise
from statistics import median
from typing import NamedTuple

import numpy as np

from limnograph.analysis.findings.facts import UNKNOWN, Ints, TableFacts, changed, last_known
from limnograph.analysis.findings.level import NEVER, OVER, UNKNOWN_POSITION
from limnograph.analysis.findings.stretch import Stretch, ended
from limnograph.domain.finding_limits import FindingLimits
from limnograph.domain.time import Micros

REPLACES_KEPT = 10


class CompactionState(NamedTuple):
    """Instants in microseconds.

    replaces   latest `replace` commits
    owed       when the debt became too large; None while it is not
    committed  first commit since the latest replace; None if there was none
    debt       last known debt in files; None if unknown
    failed     ineffective rewrites in a row
    """

    replaces: tuple[Micros, ...] = ()
    owed: Micros | None = None
    committed: Micros | None = None
    debt: int | None = None
    failed: int = 0
    stopped: Stretch | None = None
    stops: tuple[Stretch, ...] = ()
    ineffective: Stretch | None = None
    failures: tuple[Stretch, ...] = ()


def advance(
    state: CompactionState, facts: TableFacts, positions: Ints, *, until: Micros, limits: FindingLimits
) -> CompactionState:
    """The state after more moves. `positions`: of the measure of `small_files`, which these rules share. O(moves), but
    only rewrites, the commits after them and changes of the debt are looked at one by one.
    """
    files = last_known(state.debt, facts.numbers("debt_files"))
    if not _matters(state, facts):
        return state._replace(debt=_known(files[-1])) if len(files) else state
    for place in _turns(state, facts, positions).tolist():
        at, snapshot_id = Micros(facts.times[place]), int(facts.ids[place])
        state = _stopped(state, Micros(at - 1), limits)
        if facts.is_commit[place] and facts.replaced[place]:
            before = state.debt if place == 0 else _known(files[place - 1])
            state = _replaced(state._replace(debt=before), facts, place, limits)
        elif facts.is_commit[place] and state.committed is None:
            state = state._replace(committed=at)
        state = _owing(state, int(positions[place]), at, snapshot_id)
    if len(files):
        state = state._replace(debt=_known(files[-1]))
    return _stopped(state, until, limits)


def _turns(state: CompactionState, facts: TableFacts, positions: Ints) -> Ints:
    """Indexes of rewrites, of the first commit after each, and of the moves at which the debt becomes known or changes
    its side of the limit.
    """
    rewrites = facts.is_commit & facts.replaced
    commits = np.flatnonzero(facts.is_commit)
    follows = np.concatenate([[state.committed is None], rewrites[commits]])[: len(commits)].astype(np.bool_)
    known = np.flatnonzero(positions != UNKNOWN_POSITION)
    turns = known[changed(positions[known], np.cumsum(rewrites, dtype=np.int64)[known])]
    found = [np.flatnonzero(rewrites), commits[follows], turns]
    return np.unique(np.concatenate(found)).astype(np.int64)


def _owing(state: CompactionState, position: int, at: Micros, snapshot_id: int) -> CompactionState:
    """With what a move says about the debt."""
    if position == OVER and state.owed is None:
        return state._replace(owed=at)
    if position not in {OVER, UNKNOWN_POSITION} and state.owed is not None:
        return _paid(state, at, snapshot_id)
    return state


def _known(value: float) -> int | None:
    return None if np.isnan(value) else int(value)


def _matters(state: CompactionState, facts: TableFacts) -> bool:
    """Without any rewrite there is nothing to expect."""
    return bool(state.replaces) or bool(facts.replaced.any())


def due(state: CompactionState, limits: FindingLimits) -> Micros:
    """When the absence of a rewrite becomes a finding."""
    if state.stopped is not None or state.owed is None or state.committed is None:
        return NEVER
    wait = wait_us(state, limits)
    return NEVER if wait is None else Micros(max(state.replaces[-1] + wait, state.owed, state.committed))


def wait_us(state: CompactionState, limits: FindingLimits) -> int | None:
    """Microseconds after a rewrite in which the next one is expected; None after fewer than three."""
    if len(state.replaces) < limits.replaces:
        return None
    gap = median(later - before for before, later in pairwise(state.replaces))
    return int(max(limits.replace_gaps * gap, limits.replace_least))


def _stopped(state: CompactionState, until: Micros, limits: FindingLimits) -> CompactionState:
    when = due(state, limits)
    if when > until:
        return state
    return state._replace(stopped=Stretch(state.replaces[-1], when))


def _replaced(state: CompactionState, facts: TableFacts, place: int, limits: FindingLimits) -> CompactionState:
    """With a rewrite."""
    at, snapshot_id = Micros(facts.times[place]), int(facts.ids[place])
    if state.stopped is not None:
        closed = state.stopped._replace(closed=at, closed_by=str(snapshot_id))
        state = state._replace(stopped=None, stops=ended(state.stops, closed))
    state = state._replace(replaces=(*state.replaces, at)[-REPLACES_KEPT:], committed=None, owed=None)
    removed, after = (int(facts.integers(name)[place]) for name in ("removed_data_files", "debt_files"))
    if state.debt is None or UNKNOWN in {removed, after} or removed < limits.rewritten_files:
        return state
    if state.debt - after < limits.removed_debt * state.debt:
        failed = state.failed + 1
        if failed >= 2 and state.ineffective is None:
            state = state._replace(ineffective=Stretch(at, at, snapshot_id))
        return state._replace(failed=failed)
    if state.ineffective is not None:
        closed = state.ineffective._replace(closed=at, closed_by=str(snapshot_id))
        state = state._replace(ineffective=None, failures=ended(state.failures, closed))
    return state._replace(failed=0)


def _paid(state: CompactionState, at: Micros, snapshot_id: int) -> CompactionState:
    """The debt is gone without a rewrite: files were deleted or overwritten."""
    state = state._replace(owed=None)
    if state.stopped is None:
        return state
    closed = state.stopped._replace(closed=at, closed_by=str(snapshot_id))
    return state._replace(stopped=None, stops=ended(state.stops, closed))
