"""All rules on one table: the state after each portion of facts, and the episodes that it contains."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from limnograph.analysis.findings import (
    bursts,
    commit_times,
    compaction,
    contributions,
    deletes,
    hot_partitions,
    level,
    objectives,
)
from limnograph.analysis.findings.bursts import BurstState
from limnograph.analysis.findings.commit_times import CommitTimes
from limnograph.analysis.findings.compaction import CompactionState
from limnograph.analysis.findings.contributions import Contributions
from limnograph.analysis.findings.deletes import DeleteHistory
from limnograph.analysis.findings.facts import COLUMNS, TableFacts
from limnograph.analysis.findings.hot_partitions import HotPartitionState
from limnograph.analysis.findings.level import LevelState
from limnograph.analysis.findings.levels import LEVELS
from limnograph.analysis.findings.objectives import ObjectiveState
from limnograph.analysis.findings.storage import rewriting, tiny_commits, unmaterialized
from limnograph.analysis.findings.storage.rewriting import RewritingState
from limnograph.analysis.findings.storage.tiny_commits import TinyState
from limnograph.analysis.findings.storage.unmaterialized import DeletedRows
from limnograph.domain.finding_codes import FindingCode
from limnograph.domain.finding_limits import FindingLimits
from limnograph.domain.time import Micros

_LIMITS = FindingLimits()


class TableState(NamedTuple):
    """What is remembered of a table's past. `at`: the instant of the last evaluation; `last`: the last known number of
    each column.
    """

    at: Micros | None = None
    last: Mapping[str, float] = {}
    levels: Mapping[FindingCode, LevelState] = {}
    times: CommitTimes = CommitTimes()
    bursts: BurstState = BurstState()
    compaction: CompactionState = CompactionState()
    deletes: DeleteHistory = DeleteHistory()
    objective: ObjectiveState = ObjectiveState()
    contributions: Contributions = Contributions()
    hot: HotPartitionState = HotPartitionState()
    rewriting: RewritingState = RewritingState()
    tiny: TinyState = TinyState()
    deleted: DeletedRows = DeletedRows()


def advance(state: TableState, facts: TableFacts, *, until: Micros, limits: FindingLimits = _LIMITS) -> TableState:
    """The state at `until`, after the moves since the last evaluation. `facts` may reach further on both sides. The
    result is the same for any portions in which the moves arrive in order. O(new moves).
    """
    new = facts.between(state.at, until)
    measures = {rule.code: rule.level(new, limits, state.last) for rule in LEVELS}
    growth, seen = deletes.grown(state.deletes, new, limits)
    measures["delete_files_growing"] = growth
    measures["write_mode_mismatch"], rewrites = rewriting.rewritten(state.rewriting, new, limits)
    measures["snapshots_unbounded"] = commit_times.unexpired(state.times, new, limits)
    placed = dict(zip(measures, level.placed(list(measures.values()), limits), strict=True))
    levels = {
        code: level.advance(
            state.levels.get(code, LevelState()), new.times, new.ids, of_code, until=until, limits=limits
        )
        for code, of_code in placed.items()
    }
    return TableState(
        at=until,
        last=_last(state.last, new),
        levels=levels,
        times=commit_times.advance(state.times, new, until=until, limits=limits),
        bursts=bursts.advance(state.bursts, new, until=until, limits=limits),
        compaction=compaction.advance(
            state.compaction, new, placed["small_files"].positions, until=until, limits=limits
        ),
        deletes=seen,
        objective=objectives.advance(state.objective, new.times, new.ids, until=until, promised=limits.freshness),
        contributions=contributions.advance(state.contributions, new),
        hot=hot_partitions.advance(state.hot, new, until=until, limits=limits),
        rewriting=rewrites,
        tiny=tiny_commits.advance(state.tiny, new, until=until, limits=limits),
        deleted=unmaterialized.advance(state.deleted, new, until=until, limits=limits),
    )


def due(state: TableState, limits: FindingLimits = _LIMITS) -> Micros:
    """The next instant at which an episode opens or closes although nothing is committed; NEVER if none does."""
    return Micros(
        min(
            bursts.due(state.bursts, limits),
            commit_times.due(state.times, limits),
            compaction.due(state.compaction, limits),
            objectives.due(state.objective, limits.freshness),
            hot_partitions.due(state.hot, limits),
            tiny_commits.due(state.tiny),
            unmaterialized.due(state.deleted, limits),
            *(level.due(each, limits) for each in state.levels.values()),
        )
    )


def _last(known: Mapping[str, float], facts: TableFacts) -> Mapping[str, float]:
    """The last known number of each column."""
    if not len(facts.times):
        return known
    newest = facts.known[:, ::-1]
    values = newest[np.arange(len(COLUMNS)), (~np.isnan(newest)).argmax(axis=1)]
    found = zip(COLUMNS, values.tolist(), np.isnan(values).tolist(), strict=True)
    return {**known, **{name: value for name, value, is_unknown in found if not is_unknown}}
