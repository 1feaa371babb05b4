"""The thresholds of one table: those of all tables, and its objective for freshness."""

from __future__ import annotations

from limnograph.domain.finding_limits import FindingLimits
from limnograph.domain.ids import TableName
from limnograph.domain.objectives import Objectives


class TableLimits:
    """Immutable after construction."""

    def __init__(self, limits: FindingLimits, objectives: Objectives) -> None:
        self._limits, self._objectives = limits, objectives

    def of(self, name: TableName | None) -> FindingLimits:
        """The thresholds of a table. O(objectives)."""
        promised = None if name is None else self._objectives.freshness(name)
        return self._limits if promised is None else self._limits._replace(freshness=promised)
