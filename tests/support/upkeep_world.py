"""Meta tables in memory with housekeeping over them, and ways to write facts as a pipeline would."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lakes import FixedClock
from limnograph.adapters.meta.schema import arrow_table
from limnograph.domain.facts.events import ReportFact
from limnograph.domain.facts.meta_tables import (
    CHANGES,
    DAILY,
    HOURLY,
    MAINTENANCE,
    REPORTS,
    SNAPSHOTS,
    ChangeFact,
    MetaTable,
    SnapshotFact,
)
from limnograph.domain.failpoints import Failpoints
from limnograph.ports.meta_upkeep import Where
from limnograph.ports.meter import Meter
from limnograph.services.housekeeping.column_retention import ColumnRetention
from limnograph.services.housekeeping.forecast_steps import ForecastSteps
from limnograph.services.housekeeping.journal import Journal
from limnograph.services.housekeeping.report_retention import ReportRetention
from limnograph.services.housekeeping.retention import LakeIds, RetentionStep
from limnograph.services.housekeeping.runner import Housekeeping, StepReport
from limnograph.services.housekeeping.steps import Steps
from limnograph.services.rollups.fold import DAY, HOUR
from limnograph.services.rollups.reads_step import ReadRollups
from limnograph.services.rollups.step import Rollups
from memory_meta import MemoryMetaStore
from memory_upkeep import MemoryUpkeep

NOW = 20_000 * DAY + 10 * HOUR
"""Ten o'clock of a day."""


class World:
    """`lake`: ids that the lake still has, by series; `dropped`: series that it has no more."""

    def __init__(self, now: int = NOW) -> None:
        self.clock = FixedClock(now)
        self.store = MemoryMetaStore()
        self.store.ensure()
        self.upkeep = MemoryUpkeep(self.store, self.clock)
        self.lake: dict[str, set[int]] = {}
        self.dropped: set[str] = set()

    def ids(self) -> LakeIds:
        return LakeIds({series: frozenset(ids) for series, ids in self.lake.items()}, frozenset(self.dropped))

    def rollups(self, failpoint: str = "", **bounds: int) -> Rollups:
        return Rollups(self.upkeep, self.clock, Failpoints(failpoint), **({"hourly_days": 400} | bounds))

    def retention(self, failpoint: str = "", raw_days: int = 30, hourly_days: int = 400) -> RetentionStep:
        failpoints = Failpoints(failpoint)
        rollups = Rollups(self.upkeep, self.clock, failpoints, hourly_days)
        return RetentionStep(self.upkeep, rollups, self.ids, clock=self.clock, failpoints=failpoints, raw_days=raw_days)

    def read_rollups(self, failpoint: str = "") -> ReadRollups:
        return ReadRollups(self.upkeep, self.clock, Failpoints(failpoint))

    def report_retention(self, failpoint: str = "", hourly_days: int = 400) -> ReportRetention:
        reads = self.read_rollups(failpoint)
        return ReportRetention(self.upkeep, reads, self.clock, Failpoints(failpoint), hourly_days)

    def column_retention(self, failpoint: str = "") -> ColumnRetention:
        return ColumnRetention(self.upkeep, self.clock, Failpoints(failpoint))

    def housekeeping(
        self,
        failpoint: str = "",
        meter: Meter | None = None,
        repairs: Any = None,
        forecasts: Callable[[Journal], ForecastSteps] | None = None,
    ) -> Housekeeping:
        """As a process that has just started would have it."""
        failpoints = Failpoints(failpoint)
        journal = Journal(self.store, self.upkeep, lambda rows: arrow_table(MAINTENANCE, rows), failpoints)
        rollups = Rollups(self.upkeep, self.clock, failpoints, 400)
        retention = RetentionStep(self.upkeep, rollups, self.ids, clock=self.clock, failpoints=failpoints, raw_days=30)
        steps = Steps(
            self.upkeep,
            journal,
            rollups,
            retention,
            failpoints,
            reads=self.read_rollups(failpoint),
            report_retention=self.report_retention(failpoint),
            column_retention=self.column_retention(failpoint),
            repairs=repairs,
            forecasts=forecasts(journal) if forecasts else None,
            meter=meter,
        )
        return Housekeeping(self.upkeep, journal, steps, self.clock, ("lake", "limnograph"), meter=meter)

    def settle(self, housekeeping: Housekeeping | None = None) -> list[StepReport]:
        """Steps until none is due."""
        made = housekeeping or self.housekeeping()
        found: list[StepReport] = []
        while (report := made.run_due()) is not None:
            found.append(report)
            assert len(found) < 200
        return found

    def commit(self, snapshot_id: int, at: int, *, series: str = "u", main: bool = True, **columns: Any) -> None:
        """A snapshot's row, observed now, and main's move to it; its id is in the lake."""
        self.rows(self.fact(snapshot_id, at, series, **columns))
        if main:
            self.moves((snapshot_id, at), series=series)
        self.lake.setdefault(series, set()).add(snapshot_id)

    def fact(self, snapshot_id: int, at: int, series: str = "u", **columns: Any) -> SnapshotFact:
        known = {"table": series, "operation": "append", "observed_at": self.clock.now(), "total_records": 0} | columns
        return SnapshotFact(table_uuid=series, snapshot_id=snapshot_id, committed_at=at, **known)

    def rows(self, *facts: SnapshotFact) -> None:
        self.store.append(SNAPSHOTS, arrow_table(SNAPSHOTS, facts), self.store.head(SNAPSHOTS), "run")

    def moves(self, *moves: tuple[int, int], series: str = "u") -> None:
        facts = [ChangeFact(table_uuid=series, kind="ref", subject="main", to_value=str(i), at=at) for i, at in moves]
        self.store.append(CHANGES, arrow_table(CHANGES, facts), self.store.head(CHANGES), "run")

    def named(self, series: str, at: int, table: str = "") -> None:
        """A table took a name: its own, unless another is given."""
        name = {"catalog": "lake", "namespace": "sales", "table": table or series}
        fact = ChangeFact(table_uuid=series, kind="named", subject=".".join(name.values()), at=at, **name)
        self.store.append(CHANGES, arrow_table(CHANGES, [fact]), self.store.head(CHANGES), "run")

    def reports(self, *facts: ReportFact) -> None:
        self.store.append(REPORTS, arrow_table(REPORTS, facts), self.store.head(REPORTS), "run")

    def read(self, table: MetaTable, *columns: str) -> list[dict[str, Any]]:
        names = columns or tuple(column.name for column in table.columns)
        found = self.upkeep.rows(table, self.upkeep.standing(table).position, names, Where())
        return found.sort(names[:2]).to_dicts()

    def hours(self, *columns: str) -> list[dict[str, Any]]:
        return self.read(HOURLY, "table_uuid", "hour", *columns)

    def days(self, *columns: str) -> list[dict[str, Any]]:
        return self.read(DAILY, "table_uuid", "day", *columns)

    def left(self, series: str = "u") -> list[int]:
        """Ids that still have a raw row."""
        return sorted(
            r["snapshot_id"] for r in self.read(SNAPSHOTS, "table_uuid", "snapshot_id") if r["table_uuid"] == series
        )
