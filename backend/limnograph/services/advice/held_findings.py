"""`held_bytes` of all tables whose bytes are known from the last evaluation of their advice."""

from __future__ import annotations

from collections.abc import Callable

from limnograph.analysis.findings.observed.subject_levels import SubjectLevel
from limnograph.analysis.findings.storage.held_bytes import held_levels
from limnograph.domain.finding_limits import FindingLimits
from limnograph.ports.clock import Clock
from limnograph.services.advice.board import AdviceBoard
from limnograph.services.findings.evaluator import FindingsEvaluator
from limnograph.services.findings.storage.level_observer import LevelObserver


class HeldFindings:
    """Called by one task at a time. `board`: the advice of all tables."""

    def __init__(
        self,
        board: Callable[[], AdviceBoard],
        clock: Clock,
        limits: FindingLimits = FindingLimits(),  # noqa: B008  # immutable
    ) -> None:
        self._board, self._limits = board, limits
        self._levels = LevelObserver("storage", clock, limits=limits)

    def observe(self, evaluator: FindingsEvaluator) -> None:
        """Hand the episodes of all tables to the evaluator. Findings of a table whose bytes are not known stay as they
        are. O(tables).
        """
        levels: dict[str, list[SubjectLevel]] = {}
        board = self._board()
        unknown = set(board.failed)
        for uuid, table in board.tables.items():
            if table.advised.bytes is None:
                unknown.add(uuid)
            else:
                levels[uuid] = held_levels(table.advised.bytes, table.retention, table.refs, self._limits)
        self._levels.take(evaluator, levels, unknown)
