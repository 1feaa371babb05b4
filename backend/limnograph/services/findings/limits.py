"""The thresholds of one table: those of all tables, and its objective for freshness."""

from __future__ import annotations

from limnograph.domain.finding_limits import FindingLimits
from limnograph.domain.ids import TableName
from limnograph.domain.objectives import Objectives


class TableLimits:
    """Used by one thread at a time."""

    def __init__(self, limits: FindingLimits, objectives: Objectives) -> None:
        self._limits, self._objectives = limits, objectives
        self._known: dict[TableName, FindingLimits] = {}

    def of(self, name: TableName | None) -> FindingLimits:
        """The thresholds of a table."""
        if name is None:
            return self._limits
        known = self._known.get(name)
        if known is None:
            promised = self._objectives.freshness(name)
            known = self._limits if promised is None else self._limits._replace(freshness=promised)
            self._known[name] = known
        return known
