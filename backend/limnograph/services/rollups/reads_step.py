"""The roll-up of reads as a step: hours with new reports, or with reports of a name that is newly known, are read at
one cut, rolled up whole and merged. Idempotent. Its progress is in properties of `reads_hourly`, set after the merge: a
crash in between repeats it.

Reports name a table; a row belongs to the table's identity, which is who had the name when the report was made. Cost of
a run: one read of new reports, of the names of all tables, and of all reports of the dirty hours.
"""

from __future__ import annotations

import polars as pl

from limnograph.domain.facts.meta_tables import CHANGES, READS_HOURLY, REPORTS, SNAPSHOTS
from limnograph.domain.failpoints import Failpoints
from limnograph.domain.time import Micros
from limnograph.ports.clock import Clock
from limnograph.ports.meta_upkeep import MetaUpkeep, Position, Where
from limnograph.services.rollups.fold import HOUR, Stamp
from limnograph.services.rollups.marks import ROLLED_AT, ROLLED_CHANGES, ROLLED_REPORTS, number, raw_floor
from limnograph.services.rollups.names import NAME, NAMED_COLUMNS, with_owner
from limnograph.services.rollups.reads_fold import KEY, REPORT_COLUMNS, reads_of, roll_reads

_SPOKEN = ("event_id", "kind", "at", "operation", *NAME)
_COUNTS = (*KEY, "scans", "queries")


class ReadRollups:
    """Rolls up the reports of one store. Days before the floor of `reports` lost raw rows and stay as they are."""

    def __init__(self, upkeep: MetaUpkeep, clock: Clock, failpoints: Failpoints) -> None:
        self._upkeep, self._clock, self._failpoints = upkeep, clock, failpoints

    def rolled_at(self) -> Micros | None:
        """When reads were last rolled up."""
        return Micros(number(self._upkeep.standing(READS_HOURLY).properties.get(ROLLED_AT))) or None

    def behind(self) -> bool:
        """Whether reports arrived since the last roll-up, or names of tables that have reports may have."""
        reports = self._upkeep.standing(REPORTS).position
        changes = self._upkeep.standing(CHANGES).position
        marks = self._marks()
        return reports is not None and (
            reports.sequence > marks[0] or (changes is not None and changes.sequence > marks[1])
        )

    def run(self) -> int:
        """Roll up all dirty hours; returns the number of rows merged. Raises SourceError, and Conflict if another
        roll-up came first.
        """
        changes = self._upkeep.standing(CHANGES).position
        reports = self._upkeep.standing(REPORTS).position
        if reports is None:
            return 0
        stamp = Stamp(reports.sequence, changes.sequence if changes else 0, self._clock.now())
        names = self._upkeep.rows(CHANGES, changes, NAMED_COLUMNS, Where(equal={"kind": "named"}))
        hours = self._dirty(reports, changes)
        rows = self._rolled(hours, reports, names, stamp) if hours else pl.DataFrame()
        if not rows.is_empty():
            self._failpoints.reach("before_merge_reads")
            self._upkeep.merge(READS_HOURLY, rows)
            self._failpoints.reach("after_merge_reads")
        self._failpoints.reach("before_mark_reads")
        marks = zip((ROLLED_REPORTS, ROLLED_CHANGES, ROLLED_AT), map(str, stamp), strict=True)
        self._upkeep.set_properties(READS_HOURLY, dict(marks))
        self._failpoints.reach("after_mark_reads")
        return rows.height

    def _marks(self) -> tuple[int, int]:
        properties = self._upkeep.standing(READS_HOURLY).properties
        return number(properties.get(ROLLED_REPORTS)), number(properties.get(ROLLED_CHANGES))

    def _dirty(self, reports: Position, changes: Position | None) -> list[Micros]:
        """Hours that may have changed, from the floor on."""
        since_reports, since_changes = self._marks()
        fresh = self._upkeep.fresh(REPORTS, reports, since_reports, _SPOKEN)
        if changes is not None and since_reports:
            renamed = self._upkeep.fresh(CHANGES, changes, since_changes, NAMED_COLUMNS)
            renamed = renamed.filter(pl.col("kind") == "named")
            if not renamed.is_empty():
                standing = self._upkeep.rows(REPORTS, reports, _SPOKEN, Where())
                fresh = pl.concat([fresh, standing.join(renamed, on=NAME, how="semi")])
        floor = raw_floor(self._upkeep.standing(REPORTS).properties) or 0
        hours = reads_of(fresh).select((pl.col("at") // HOUR * HOUR).alias("hour")).unique()
        return sorted(Micros(hour) for hour in hours["hour"] if hour >= floor)

    def _rolled(self, hours: list[Micros], reports: Position, names: pl.DataFrame, stamp: Stamp) -> pl.DataFrame:
        """Rows of the hours, and empty ones in the place of those whose reports now belong to another table."""
        span = Where(start=hours[0], end=hours[-1] + HOUR)
        dirty = pl.DataFrame({"hour": hours}, schema={"hour": pl.Int64})
        found = self._upkeep.rows(REPORTS, reports, REPORT_COLUMNS, span)
        found = reads_of(found).with_columns((pl.col("at") // HOUR * HOUR).alias("hour")).join(dirty, on="hour")
        owned = with_owner(found.drop("hour"), names).drop_nulls("table_uuid")
        rows = roll_reads(self._with_live(owned), stamp)
        standing = self._upkeep.rows(READS_HOURLY, self._upkeep.standing(READS_HOURLY).position, _COUNTS, span)
        gone = standing.join(dirty, on="hour", how="semi").join(rows, on=list(KEY), how="anti", nulls_equal=True)
        gone = gone.filter((pl.col("scans") > 0) | (pl.col("queries") > 0)).select(KEY)
        return pl.concat([rows, _empty(gone, stamp, rows)])

    def _with_live(self, reads: pl.DataFrame) -> pl.DataFrame:
        """With the number of live data files of the snapshot that was read, where its row is known."""
        ids = frozenset(reads["snapshot_id"].drop_nulls())
        where = Where(tables=frozenset(reads["table_uuid"]), ids=ids)
        columns = ("table_uuid", "snapshot_id", "total_data_files")
        known = self._upkeep.rows(SNAPSHOTS, self._upkeep.standing(SNAPSHOTS).position, columns, where)
        known = known.rename({"total_data_files": "live_files"}).unique(["table_uuid", "snapshot_id"])
        return reads.join(known, on=["table_uuid", "snapshot_id"], how="left")


def _empty(keys: pl.DataFrame, stamp: Stamp, like: pl.DataFrame) -> pl.DataFrame:
    """Rows without any scan or query."""
    told = {"scans": 0, "queries": 0, **stamp._asdict()}
    return keys.select(
        pl.col(name) if name in KEY else pl.lit(told.get(name)).cast(kind).alias(name)
        for name, kind in like.schema.items()
    )
