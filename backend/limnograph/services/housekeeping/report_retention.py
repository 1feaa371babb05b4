"""Retention of reports: raw rows are kept for 7 whole days, after their hours are rolled up; rows of hours as long as
those of snapshots.
"""

from __future__ import annotations

import datetime as dt

import msgspec

from limnograph.domain.facts.meta_tables import READS_HOURLY, REPORTS
from limnograph.domain.facts.reads import RAW_DAYS
from limnograph.domain.failpoints import Failpoints
from limnograph.domain.time import MICROS_PER_SECOND, Micros, truncated
from limnograph.ports.clock import Clock
from limnograph.ports.meta_upkeep import MetaUpkeep, Where
from limnograph.services.rollups.fold import DAY
from limnograph.services.rollups.marks import RAW_FLOOR, raw_floor
from limnograph.services.rollups.reads_step import ReadRollups


class ReportRetentionReport(msgspec.Struct, frozen=True):
    """The result: deleted reports, and months of hourly rows."""

    reports: int = 0
    months: int = 0


class ReportRetention:
    """Retention of the reports of one store. `hourly_days`: days for which rows of hours are kept."""

    def __init__(
        self, upkeep: MetaUpkeep, rollups: ReadRollups, clock: Clock, failpoints: Failpoints, hourly_days: int
    ) -> None:
        self._upkeep, self._rollups, self._clock = upkeep, rollups, clock
        self._failpoints, self._hourly_days = failpoints, hourly_days

    def old(self) -> bool:
        """Whether any rows may be old enough to be deleted."""
        cutoff = self._cutoff(RAW_DAYS)
        raw = (part.start for part in self._upkeep.standing(REPORTS).parts)
        return self._floor() < cutoff and (any(at is not None and at < cutoff for at in raw) or bool(self._months()))

    def run(self) -> ReportRetentionReport:
        """Delete expired rows. Raises SourceError, and Conflict if another commit came first."""
        position = self._upkeep.standing(REPORTS).position
        cutoff = self._cutoff(RAW_DAYS)
        self._rollups.run()  # Now every report up to that position is in its hour.
        old = self._upkeep.rows(REPORTS, position, ("event_id",), Where(end=cutoff)).height
        if self._floor() < cutoff:
            self._failpoints.reach("before_close_reports")
            date = dt.datetime.fromtimestamp(cutoff / MICROS_PER_SECOND, dt.UTC).date()
            self._upkeep.set_properties(REPORTS, {RAW_FLOOR: date.isoformat()})
            self._failpoints.reach("after_close_reports")
        if old:
            self._failpoints.reach("before_delete_reports")
            self._upkeep.delete_before(REPORTS, cutoff)
            self._failpoints.reach("after_delete_reports")
        ends = self._months()
        if ends:
            self._upkeep.delete_before(READS_HOURLY, max(ends))
        return ReportRetentionReport(old, len(ends))

    def _floor(self) -> Micros:
        return raw_floor(self._upkeep.standing(REPORTS).properties) or Micros(0)

    def _cutoff(self, days: int) -> Micros:
        return Micros(truncated(self._clock.now(), DAY) - days * DAY)

    def _months(self) -> list[Micros]:
        """Ends of the months of hourly rows that are too old."""
        oldest = self._cutoff(self._hourly_days)
        parts = self._upkeep.standing(READS_HOURLY).parts
        return [part.end for part in parts if part.end is not None and part.end <= oldest]
