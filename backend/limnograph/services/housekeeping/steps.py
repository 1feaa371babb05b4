"""The steps of housekeeping: which are due, and what each does between its failpoints. Does not run or record them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from limnograph.domain.facts.meta_tables import (
    COLUMN_STATS,
    HOURLY,
    META_TABLES,
    READS_HOURLY,
    REPORTS,
    SNAPSHOTS,
    MetaTable,
)
from limnograph.domain.failpoints import Failpoints
from limnograph.domain.metrics import pipeline as metrics
from limnograph.domain.time import MICROS_PER_SECOND, Micros
from limnograph.ports.meta_upkeep import MetaTableState, MetaUpkeep, PartitionFiles
from limnograph.ports.meter import Meter, NullMeter
from limnograph.services.housekeeping import schedule
from limnograph.services.housekeeping.column_retention import ColumnRetention
from limnograph.services.housekeeping.deepening import Deepening
from limnograph.services.housekeeping.forecast_steps import ForecastSteps
from limnograph.services.housekeeping.journal import Journal, StepKey
from limnograph.services.housekeeping.report_retention import ReportRetention
from limnograph.services.housekeeping.retention import RetentionStep
from limnograph.services.housekeeping.step import HousekeepingStep, StepOutcome
from limnograph.services.pipeline.metering import tell_sizes
from limnograph.services.pipeline.repair import Repairs
from limnograph.services.rollups.marks import ROLLED_AT, number
from limnograph.services.rollups.reads_step import ReadRollups
from limnograph.services.rollups.step import Rollups

CLEARED = "limnograph.reports-without-literals"
"""Property of `reports` once its rows have no filters and no metadata beyond the allow-list."""
CLOSED = "closed"
"""Subject under which rewrites of closed partitions are scheduled."""


class Steps:
    """Decides which steps of one store are due."""

    def __init__(
        self,
        upkeep: MetaUpkeep,
        journal: Journal,
        rollups: Rollups,
        retention: RetentionStep,
        failpoints: Failpoints,
        *,
        reads: ReadRollups,
        report_retention: ReportRetention,
        column_retention: ColumnRetention,
        repairs: Repairs | None = None,
        deepening: Deepening | None = None,
        forecasts: ForecastSteps | None = None,
        meter: Meter | None = None,
    ) -> None:
        self._upkeep, self._journal = upkeep, journal
        self._reads, self._report_retention = reads, report_retention
        self._column_retention, self._forecasts = column_retention, forecasts
        self._rollups, self._retention, self._failpoints = rollups, retention, failpoints
        self._repairs, self._deepening, self._meter = repairs, deepening, meter or NullMeter()

    def due(self, now: Micros) -> Iterator[HousekeepingStep]:
        """Due steps, most urgent first: steps that readers wait for, then those that keep commits and reads cheap."""
        yield from self._rollup(now)
        yield from self._read_rollup(now)
        if self._forecasts is not None:
            yield from self._forecasts.forecast(now)
        standing = {table: self._upkeep.standing(table) for table in META_TABLES}
        tell_sizes(self._meter, standing)
        for steps in (self._expiry, self._open_parts, self._closed_parts, self._manifests):
            for table, stands in standing.items():
                yield from steps(table, stands, now)
        yield from self._retain(now)
        yield from self._clear_literals(standing[REPORTS], now)
        yield from self._retain_reports(now)
        yield from self._retain_columns(now)
        yield from self._repair(now)
        for table, stands in standing.items():
            yield from self._orphans(table, stands, now)
        yield from self._deepen(now)
        if self._forecasts is not None:
            yield from self._forecasts.train(now)

    def _rollup(self, now: Micros) -> Iterator[HousekeepingStep]:
        key = StepKey("rollup", HOURLY.name)
        rolled_at = Micros(number(self._upkeep.standing(HOURLY).properties.get(ROLLED_AT))) or None
        last = max((at for at in (rolled_at, self._journal.last(key)) if at is not None), default=None)
        if schedule.passed(last, now, schedule.ROLLUP_SECONDS) and self._rollups.behind():
            yield HousekeepingStep(key, HOURLY, self._roll)

    def _roll(self) -> StepOutcome:
        done = self._rollups.run()
        detail = {"hours": done.hours, "days": done.days, "closed_days": done.closed}
        return StepOutcome(did=bool(done.hours or done.days), rows=done.hours + done.days, detail=detail)

    def _read_rollup(self, now: Micros) -> Iterator[HousekeepingStep]:
        key = StepKey("rollup", READS_HOURLY.name)
        last = max((at for at in (self._reads.rolled_at(), self._journal.last(key)) if at is not None), default=None)
        if schedule.passed(last, now, schedule.ROLLUP_SECONDS) and self._reads.behind():
            yield HousekeepingStep(key, READS_HOURLY, self._roll_reads)

    def _roll_reads(self) -> StepOutcome:
        rows = self._reads.run()
        return StepOutcome(did=rows > 0, rows=rows)

    def _retain_reports(self, now: Micros) -> Iterator[HousekeepingStep]:
        key = StepKey("retention", REPORTS.name)
        if schedule.passed(self._journal.last(key), now, schedule.DAY_SECONDS) and self._report_retention.old():
            yield HousekeepingStep(key, REPORTS, self._keep_reports)

    def _keep_reports(self) -> StepOutcome:
        done = self._report_retention.run()
        return StepOutcome(
            did=bool(done.reports or done.months), rows=done.reports, detail={"months_of_hours": done.months}
        )

    def _retain_columns(self, now: Micros) -> Iterator[HousekeepingStep]:
        key = StepKey("retention", COLUMN_STATS.name)
        if schedule.passed(self._journal.last(key), now, schedule.DAY_SECONDS) and self._column_retention.old():
            yield HousekeepingStep(key, COLUMN_STATS, self._keep_columns)

    def _keep_columns(self) -> StepOutcome:
        done = self._column_retention.run()
        return StepOutcome(did=bool(done.rows), rows=done.rows, detail={"days": done.days})

    def _retain(self, now: Micros) -> Iterator[HousekeepingStep]:
        key = StepKey("retention", SNAPSHOTS.name)
        if schedule.passed(self._journal.last(key), now, schedule.DAY_SECONDS) and self._retention.old():
            yield HousekeepingStep(key, SNAPSHOTS, self._keep)

    def _keep(self) -> StepOutcome:
        done = self._retention.run()
        self._meter.put(metrics.LATE, done.late_facts)
        return StepOutcome(
            rows=done.deleted_rows, late_facts=done.late_facts, detail={"months_of_hours": done.deleted_months}
        )

    def _clear_literals(self, standing: MetaTableState, now: Micros) -> Iterator[HousekeepingStep]:
        """Once per table: later rows have no literals."""
        key = StepKey("repair", REPORTS.name)
        due = standing.position is not None and CLEARED not in standing.properties
        if due and schedule.passed(self._journal.last(key), now, schedule.HOUR_SECONDS):
            yield self._step(key, REPORTS, "clear_literals", self._clear)

    def _clear(self) -> None:
        self._upkeep.clear_literals()
        self._upkeep.set_properties(REPORTS, {CLEARED: "true"})

    def _repair(self, now: Micros) -> Iterator[HousekeepingStep]:
        key = StepKey("repair", SNAPSHOTS.name)
        if self._repairs is not None and schedule.passed(self._journal.last(key), now, schedule.DAY_SECONDS):
            yield HousekeepingStep(key, SNAPSHOTS, partial(self._mend, self._repairs))

    @staticmethod
    def _mend(repairs: Repairs) -> StepOutcome:
        """If nothing is damaged, no row is written, and the next process checks again."""
        damaged = repairs.damaged()
        if not damaged:
            return StepOutcome(did=False)
        done = repairs.retry_damaged()
        return StepOutcome(rows=done.snapshots_replaced, detail={"damaged": damaged, "failed": len(done.failed)})

    def _deepen(self, now: Micros) -> Iterator[HousekeepingStep]:
        """After all that is due, and not at once again: it may take as long as there is history."""
        key = StepKey("deepen", SNAPSHOTS.name)
        if self._deepening is None or not schedule.passed(self._journal.last(key), now, schedule.DEEPEN_SECONDS):
            return
        if self._deepening.behind():
            yield HousekeepingStep(key, SNAPSHOTS, partial(self._read_deeper, self._deepening))

    def _read_deeper(self, deepening: Deepening) -> StepOutcome:
        done = deepening.run()
        if done.deep_since is not None:
            self._meter.put(metrics.DEEP_SINCE, done.deep_since / MICROS_PER_SECOND)
        return StepOutcome(did=bool(done.rows or done.failed), rows=done.rows, detail={"failed": done.failed})

    def _expiry(self, table: MetaTable, standing: MetaTableState, now: Micros) -> Iterator[HousekeepingStep]:
        key = StepKey("expire", table.name)
        older_than = now - schedule.SNAPSHOT_SECONDS * MICROS_PER_SECOND
        if schedule.expiry_due(standing, self._journal.last(key), now):
            yield self._step(
                key, table, "expire", lambda: self._upkeep.expire(table, older_than, schedule.SNAPSHOTS_KEPT)
            )

    def _open_parts(self, table: MetaTable, standing: MetaTableState, now: Micros) -> Iterator[HousekeepingStep]:
        for part in standing.parts:
            key = StepKey("compact", table.name, label(part))
            if schedule.open_part_due(part, self._journal.last(key), now):
                # A day is sorted whole every hour; in a month, or a table without partitions, only small files are
                # rewritten.
                whole = table.partition is not None and table.partition[1] == "day"
                yield self._compaction(key, table, part, whole=whole)

    def _closed_parts(self, table: MetaTable, standing: MetaTableState, now: Micros) -> Iterator[HousekeepingStep]:
        key = StepKey("compact", table.name, CLOSED)
        batch = schedule.closed_batch(standing, self._journal.last(key), now)
        if batch is not None:
            yield self._compaction(key, table, batch, whole=True)

    def _compaction(self, key: StepKey, table: MetaTable, part: PartitionFiles, *, whole: bool) -> HousekeepingStep:
        detail = {"from": part.start, "to": part.end, "files": part.files, "bytes": part.bytes}
        return self._step(
            key, table, "compact", lambda: self._upkeep.compact(table, part, whole=whole), {"part": detail}
        )

    def _manifests(self, table: MetaTable, standing: MetaTableState, now: Micros) -> Iterator[HousekeepingStep]:
        key = StepKey("manifests", table.name)
        many = standing.manifests >= schedule.MANY_MANIFESTS
        if many and schedule.passed(self._journal.last(key), now, schedule.HOUR_SECONDS):
            yield self._step(key, table, "rewrite_manifests", lambda: self._upkeep.rewrite_manifests(table))

    def _orphans(self, table: MetaTable, standing: MetaTableState, now: Micros) -> Iterator[HousekeepingStep]:
        """Daily from the second day: in a younger installation no file is old enough."""
        key = StepKey("orphans", table.name)
        last, oldest = self._journal.last(key), self._journal.oldest
        settled = oldest is not None and schedule.passed(oldest, now, schedule.DAY_SECONDS)
        if standing.position is not None and settled and schedule.passed(last, now, schedule.DAY_SECONDS):
            yield HousekeepingStep(
                key, table, lambda: self._sweep(table, now - schedule.ORPHAN_SECONDS * MICROS_PER_SECOND)
            )

    def _sweep(self, table: MetaTable, older_than: Micros) -> StepOutcome:
        """A dry run first: its count is recorded whatever the removal returns."""
        found = self._upkeep.orphans(table, older_than, remove=False)
        removed = 0
        if found:
            self._failpoints.reach("before_remove_orphans")
            removed = self._upkeep.orphans(table, older_than, remove=True)
            self._failpoints.reach("after_remove_orphans")
        return StepOutcome(rows=removed, detail={"found": found, "removed": removed})

    def _step(
        self,
        key: StepKey,
        table: MetaTable,
        name: str,
        act: Callable[[], None],
        detail: dict[str, Any] | None = None,
    ) -> HousekeepingStep:
        """A step that runs one procedure between its failpoints."""

        def run() -> StepOutcome:
            self._failpoints.reach(f"before_{name}")
            act()
            self._failpoints.reach(f"after_{name}")
            return StepOutcome(detail=detail or {})

        return HousekeepingStep(key, table, run)


def label(part: PartitionFiles) -> str:
    """The display name of a partition: its first day, or `all`."""
    if part.start is None:
        return "all"
    return dt.datetime.fromtimestamp(part.start / MICROS_PER_SECOND, dt.UTC).date().isoformat()
