"""Who committed, from commits that engines reported: for commits whose summary names no user.

Cost: a look-up per commit that is shown; of reports older than those in memory, those of the page's span are read.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from limnograph.domain.facts.reads import RAW_DAYS
from limnograph.domain.ids import TableName
from limnograph.domain.time import MICROS_PER_SECOND, Micros, truncated
from limnograph.ports.clock import Clock
from limnograph.ports.query_engine import MetaQuery, QueryEngine
from limnograph.services.lake.history import History
from limnograph.services.reads.log import ReadLog, UserReport, names_user
from limnograph.services.reads.of_history import names_of
from limnograph.services.rollups.fold import DAY

NEAR = 3_600 * MICROS_PER_SECOND
"""A report is about a commit at most this long before or after it: a table that was dropped and created again has the
same versions, and may have the same name.
"""
COLUMNS = ("kind", "catalog", "namespace", "table", "at", "snapshot_id", "user", "outcome")


class UserLookup(NamedTuple):
    """`reports`: those of a snapshot id, of tables of any name."""

    reports: Callable[[int], Sequence[UserReport]]

    def of(self, history: History, snapshot_id: int, at: Micros | None) -> str | None:
        """The user whom a report of this commit names; None if none does."""
        near = [each for each in self.reports(snapshot_id) if at is not None and abs(each.at - at) <= NEAR]
        for each in near:
            if each.table == history.name:
                return each.user
        names: Mapping[TableName, Micros] = names_of(history) if near else {}
        return next((each.user for each in near if at is not None and at < names.get(each.table, at)), None)


NO_USERS = UserLookup(lambda _snapshot_id: ())


class CommitUsers:
    """Immutable after construction."""

    def __init__(self, log: ReadLog, engine: QueryEngine, clock: Clock) -> None:
        self._log, self._engine, self._clock = log, engine, clock
        self.in_memory = UserLookup(log.users_of)

    @property
    def is_complete(self) -> bool:
        """Whether the reports of the last days were loaded; they are soon after the start."""
        return self._log.floor is not None

    def is_in_memory(self, at: Micros) -> bool:
        """Whether all reports of commits since an instant are in memory."""
        floor = self._log.floor
        return floor is not None and at >= Micros(floor + NEAR)

    def between(self, start: Micros, end: Micros) -> UserLookup:
        """Of commits in `[start, end)`. Blocks: reads `reports` for what is not in memory. Raises SourceError."""
        first = max(Micros(start - NEAR), Micros(truncated(self._clock.now(), DAY) - RAW_DAYS * DAY))
        last = Micros(end + NEAR)
        if self.is_in_memory(start) or first >= last:
            return self.in_memory
        rows = self._engine.select(MetaQuery(table="reports", columns=COLUMNS, start=first, end=last))
        found: dict[int, list[UserReport]] = defaultdict(list)
        for row in rows.iter_rows(named=True):
            if row["table"] and names_user(row):
                name = TableName(row["catalog"] or "", row["namespace"] or "", row["table"])
                found[row["snapshot_id"]].append(UserReport(name, row["at"], row["user"]))
        return UserLookup(lambda snapshot_id: (*found.get(snapshot_id, ()), *self._log.users_of(snapshot_id)))
