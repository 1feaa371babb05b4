"""Retention of statistics of columns: rows of commits for 7 whole days, then one row a day for 400 days. Idempotent: a
day is merged before its rows are deleted.
"""

from __future__ import annotations

from typing import Any

import msgspec
import polars as pl

from limnograph.analysis.column_values import stats_of, summed
from limnograph.domain.facts.column_stats import DAYS_KEPT, RAW_DAYS
from limnograph.domain.facts.meta_tables import COLUMN_DAYS, COLUMN_STATS
from limnograph.domain.failpoints import Failpoints
from limnograph.domain.time import Micros, truncated
from limnograph.ports.clock import Clock
from limnograph.ports.meta_upkeep import MetaUpkeep, Where
from limnograph.services.rollups.fold import DAY

_COLUMNS = ("table_uuid", "committed_at", "columns")


class ColumnRetentionReport(msgspec.Struct, frozen=True):
    """The result: deleted rows of commits, and days that were made of them."""

    rows: int = 0
    days: int = 0


class ColumnRetention:
    """Retention of the statistics of columns of one store."""

    def __init__(self, upkeep: MetaUpkeep, clock: Clock, failpoints: Failpoints) -> None:
        self._upkeep, self._clock, self._failpoints = upkeep, clock, failpoints

    def old(self) -> bool:
        """Whether any rows are old enough to be deleted."""
        starts = (part.start for part in self._upkeep.standing(COLUMN_STATS).parts)
        return any(start is not None and start < self._cutoff(RAW_DAYS) for start in starts) or bool(self._months())

    def run(self) -> ColumnRetentionReport:
        """Merge old days, then delete their rows. Raises SourceError, and Conflict if another commit came first."""
        position, cutoff = self._upkeep.standing(COLUMN_STATS).position, self._cutoff(RAW_DAYS)
        rows = self._upkeep.rows(COLUMN_STATS, position, _COLUMNS, Where(end=cutoff))
        days = column_days(rows, position.sequence if position else 0, self._clock.now())
        if not days.is_empty():
            self._failpoints.reach("before_merge_columns")
            self._upkeep.merge(COLUMN_DAYS, days)
            self._failpoints.reach("after_merge_columns")
            self._failpoints.reach("before_delete_columns")
            self._upkeep.delete_before(COLUMN_STATS, cutoff)
            self._failpoints.reach("after_delete_columns")
        ends = self._months()
        if ends:
            self._upkeep.delete_before(COLUMN_DAYS, max(ends))
        return ColumnRetentionReport(rows.height, days.height)

    def _cutoff(self, days: int) -> Micros:
        return Micros(truncated(self._clock.now(), DAY) - days * DAY)

    def _months(self) -> list[Micros]:
        """Ends of the months of days that are too old."""
        oldest = self._cutoff(DAYS_KEPT)
        parts = self._upkeep.standing(COLUMN_DAYS).parts
        return [part.end for part in parts if part.end is not None and part.end <= oldest]


def column_days(rows: pl.DataFrame, sequence: int, now: Micros) -> pl.DataFrame:
    """Rows of `column_stats_daily` from rows of `column_stats` (`table_uuid`, `committed_at`, `columns`)."""
    found = []
    dated = rows.drop_nulls("committed_at").with_columns((pl.col("committed_at") // DAY * DAY).alias("day"))
    for (uuid, day), part in dated.sort("committed_at").group_by("table_uuid", "day", maintain_order=True):
        stats = [stat for columns in part["columns"].to_list() for stat in stats_of(columns)]
        columns = msgspec.to_builtins(summed(stats))
        found.append((uuid, day, part.height, columns, sequence, 0, now))
    kinds: dict[str, Any] = {"table_uuid": pl.String, "day": pl.Int64, "commits": pl.Int64}
    kinds["columns"] = rows.schema["columns"]
    kinds |= dict.fromkeys(("source_sequence", "changes_sequence", "rolled_at"), pl.Int64)
    return pl.DataFrame(found, schema=kinds, orient="row")
