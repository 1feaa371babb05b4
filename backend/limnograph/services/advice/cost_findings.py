"""`objective_missed` of tables that cost more than is promised, from the last evaluation of their advice."""

from __future__ import annotations

from collections.abc import Callable

from limnograph.analysis.findings.observed.subject_levels import SubjectLevel
from limnograph.analysis.findings.storage.cost_objective import cost_level
from limnograph.domain.finding_limits import FindingLimits
from limnograph.domain.ids import TableName
from limnograph.domain.objectives import Objectives
from limnograph.ports.clock import Clock
from limnograph.services.advice.board import AdviceBoard
from limnograph.services.findings.evaluator import FindingsEvaluator
from limnograph.services.findings.storage.level_observer import LevelObserver


class CostFindings:
    """Called by one task at a time. `board`: the advice of all tables."""

    def __init__(
        self, board: Callable[[], AdviceBoard], objectives: Objectives, clock: Clock, limits: FindingLimits
    ) -> None:
        self._board, self._objectives = board, objectives
        self._levels = LevelObserver("costs", clock, limits=limits)

    def observe(self, evaluator: FindingsEvaluator) -> None:
        """Hand the episodes of all tables to the evaluator. Findings of a table whose cost is not known stay as they
        are. O(tables).
        """
        levels: dict[str, list[SubjectLevel]] = {}
        board = self._board()
        unknown = set(board.failed)
        for uuid, table in board.tables.items():
            advised = table.advised
            name = TableName(advised.catalog or "", advised.namespace or "", advised.table or "")
            limit = self._objectives.cost(name)
            if limit is None:
                continue
            level = cost_level(advised.bytes, advised.cost_per_month, limit, advised.currency)
            if level is None:
                unknown.add(uuid)
            else:
                levels[uuid] = [level]
        self._levels.take(evaluator, levels, unknown)
