"""The retention step: deletes raw rows that are old AND whose ids have left the lake, after their days are rolled up. A
row whose id is still in its table's metadata is kept at any age, as the next pass would add it again. Rows that other
rows are differences from are kept too, and so are late rows, which no roll-up contains. This module decides and
deletes; the ids still in the lake are an input.
"""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Callable, Mapping

import msgspec
import polars as pl

from limnograph.domain.facts.meta_tables import DAILY, HOURLY, SNAPSHOTS
from limnograph.domain.failpoints import Failpoints
from limnograph.domain.time import Micros, truncated
from limnograph.ports.clock import Clock
from limnograph.ports.meta_upkeep import MetaUpkeep, Position, Where
from limnograph.services.rollups.fold import DAY
from limnograph.services.rollups.marks import RAW_FLOOR, raw_floor
from limnograph.services.rollups.step import Rollups

KEYS_AT_ONCE = 100_000
"""Rows deleted by one commit."""
_THIN = ("table_uuid", "snapshot_id", "committed_at", "observed_at", "partitions_base", "partitions_scope")
_KEY = ["table_uuid", "snapshot_id"]
_Key = tuple[str, int]


class LakeIds(msgspec.Struct, frozen=True):
    """The ids that the lake still has. `retained`: ids of the series whose metadata was read now; `dropped`: series
    that are gone for good. A series in neither could not be read and loses no rows.
    """

    retained: Mapping[str, frozenset[int]]
    dropped: frozenset[str]

    def left(self, series: str, snapshot_id: int) -> bool:
        """Whether an id has left the lake."""
        return series in self.dropped or (series in self.retained and snapshot_id not in self.retained[series])


class RetentionReport(msgspec.Struct, frozen=True):
    """The result of retention. `late_facts`: raw rows that arrived after their day's roll-up was closed."""

    deleted_rows: int = 0
    late_facts: int = 0
    deleted_months: int = 0


class RetentionStep:
    """Retention of one store: `raw_days` of `snapshots`, `hourly_days` of hourly rows; daily rows are kept forever."""

    def __init__(
        self,
        upkeep: MetaUpkeep,
        rollups: Rollups,
        ids: Callable[[], LakeIds],
        *,
        clock: Clock,
        failpoints: Failpoints,
        raw_days: int,
    ) -> None:
        self._upkeep, self._rollups, self._ids = upkeep, rollups, ids
        self._clock, self._failpoints, self._raw_days = clock, failpoints, raw_days

    def old(self) -> bool:
        """Whether any rows are old enough to be checked."""
        raw = self._upkeep.standing(SNAPSHOTS).parts
        hours = self._upkeep.standing(HOURLY).parts
        return any(p.start is not None and p.start < self._cutoff() for p in raw) or any(
            p.end is not None and p.end <= self._rollups.oldest_hour() for p in hours
        )

    def run(self) -> RetentionReport:
        """Delete expired rows. Raises SourceError, and Conflict if another commit came first."""
        position = self._upkeep.standing(SNAPSHOTS).position
        self._rollups.run()  # Now every row up to that position is in its roll-up or late.
        rows, late = self._delete_rows(position)
        return RetentionReport(rows, late, self._delete_hours())

    def _cutoff(self) -> Micros:
        return truncated(self._clock.now(), DAY) - self._raw_days * DAY

    def _delete_rows(self, position: Position | None) -> tuple[int, int]:
        """The number of deleted rows and of late ones."""
        old = self._upkeep.rows(SNAPSHOTS, position, _THIN, Where(end=self._cutoff()))
        if old.is_empty():
            return 0, 0
        old = self._with_rolled(old)
        floor = raw_floor(self._upkeep.standing(SNAPSHOTS).properties)
        unrolled = pl.col("rolled_at").is_null() | (pl.col("observed_at") > pl.col("rolled_at")).fill_null(value=False)
        late = 0 if floor is None else old.filter(unrolled & (pl.col("day") < floor)).height
        ids = self._ids()
        left = [ids.left(*key) for key in old.select(_KEY).iter_rows()]
        going = old.filter(pl.Series(left, dtype=pl.Boolean) & ~unrolled)
        going = self._without_bases(old, going, position)
        if not going.is_empty():
            self._raise_floor(floor, Micros(going["day"].sort()[-1]) + DAY)
            self._delete(going)
        return going.height, late

    def _with_rolled(self, rows: pl.DataFrame) -> pl.DataFrame:
        """With their day, and when that day of their table was last rolled up."""
        where = Where(tables=frozenset(rows["table_uuid"]), end=self._cutoff())
        position = self._upkeep.standing(DAILY).position
        days = self._upkeep.rows(DAILY, position, ("table_uuid", "day", "rolled_at"), where)
        day = (pl.col("committed_at") // DAY * DAY).alias("day")
        return rows.with_columns(day).join(days, on=["table_uuid", "day"], how="left")

    def _without_bases(self, old: pl.DataFrame, going: pl.DataFrame, position: Position | None) -> pl.DataFrame:
        """Without the rows that a retained row is a difference from, directly or indirectly."""
        if going.is_empty():
            return going
        where = Where(tables=frozenset(going["table_uuid"]), start=self._cutoff())
        newer = self._upkeep.rows(SNAPSHOTS, position, _THIN, where)
        staying = pl.concat([newer, old.join(going, on=_KEY, how="anti").select(newer.columns)])
        needed = needed_bases(staying, going)
        return going.filter(pl.Series([key not in needed for key in going.select(_KEY).iter_rows()], dtype=pl.Boolean))

    def _raise_floor(self, floor: Micros | None, day: Micros) -> None:
        """Raise the floor before the first row of a day is deleted; it never falls."""
        if floor is not None and floor >= day:
            return
        self._failpoints.reach("before_raise_floor")
        date = dt.datetime.fromtimestamp(day / 1_000_000, dt.UTC).date()
        self._upkeep.set_properties(SNAPSHOTS, {RAW_FLOOR: date.isoformat()})
        self._failpoints.reach("after_raise_floor")

    def _delete(self, going: pl.DataFrame) -> None:
        for part in going.sort("committed_at").iter_slices(KEYS_AT_ONCE):
            self._failpoints.reach("before_delete_raw")
            self._upkeep.delete(part.select(*_KEY, "committed_at"))
            self._failpoints.reach("after_delete_raw")

    def _delete_hours(self) -> int:
        """Delete the months of hourly rows that ended before the oldest retained hour, and return their number."""
        oldest = self._rollups.oldest_hour()
        ends = [p.end for p in self._upkeep.standing(HOURLY).parts if p.end is not None and p.end <= oldest]
        if ends:
            self._failpoints.reach("before_delete_hours")
            self._upkeep.delete_before(HOURLY, max(ends))
            self._failpoints.reach("after_delete_hours")
        return len(ends)


def needed_bases(staying: pl.DataFrame, going: pl.DataFrame) -> set[_Key]:
    """Keys of `going` that the partitions of a row in `staying` are based on."""
    base_of = _bases(going)
    held = {*going.select(_KEY).iter_rows()}
    needed: set[_Key] = set()
    for targets in _bases(staying).values():
        for target in targets:
            step: _Key | None = target
            while step in held and step not in needed:
                needed.add(step)
                step = next(iter(base_of.get(step, ())), None)
    return needed


def _bases(rows: pl.DataFrame) -> dict[_Key, list[_Key]]:
    """The base of every row that is a difference."""
    found: dict[_Key, list[_Key]] = defaultdict(list)
    told = rows.filter((pl.col("partitions_scope") == "changed") & pl.col("partitions_base").is_not_null())
    for series, snapshot_id, base in told.select(*_KEY, "partitions_base").iter_rows():
        found[series, snapshot_id].append((series, base))
    return found
