"""The roll-up as a step: dirty hours since the last one, read at one cut, rolled up, merged. Idempotent. Its progress
is in properties (`marks.py`), set after both merges: a crash in between repeats it. The heads of a cut belong to one
instant, so of two cuts one is newer in both, and the newer roll-up wins.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import msgspec
import polars as pl

from limnograph.domain.errors import SourceUnavailable
from limnograph.domain.facts.meta_tables import CHANGES, DAILY, HOURLY, SNAPSHOTS, ChangeFact, MetaTable
from limnograph.domain.failpoints import Failpoints
from limnograph.domain.metadata.table import MAIN
from limnograph.domain.time import Micros, truncated
from limnograph.ports.clock import Clock
from limnograph.ports.meta_upkeep import MetaUpkeep, Position, Where
from limnograph.services.lake.history import main_log
from limnograph.services.rollups.fold import DAY, HOUR, MOVE_COLUMNS, ROW_COLUMNS, Stamp, fold_days, roll_hours
from limnograph.services.rollups.marks import ROLLED_AT, ROLLED_CHANGES, ROLLED_SNAPSHOTS, number, raw_floor

ROWS_AT_ONCE = 200_000
CUTS = 20
CLOCK_AHEAD = 3 * DAY
"""A writer's clock that is ahead dates a commit after the move of main to it, by at most this much."""
_FRESH_ROW = ("table_uuid", "snapshot_id", "committed_at")
_FRESH_MOVE = ("table_uuid", "kind", "subject", "to_value", "at")
_MOVE = ("table_uuid", "from_value", "to_value", "at")
_MAIN = {"kind": "ref", "subject": MAIN}
_PAIR = ["table_uuid", "hour"]
_HOURLY = tuple(column.name for column in HOURLY.columns)


class Cut(NamedTuple):
    """Heads of `snapshots` and `changes` at one instant."""

    snapshots: Position
    changes: Position | None

    def stamp(self, now: Micros) -> Stamp:
        """The stamp of a roll-up from this cut."""
        return Stamp(self.snapshots.sequence, self.changes.sequence if self.changes else 0, now)


class RollupReport(msgspec.Struct, frozen=True):
    """The result of a roll-up. `closed`: table-days left unchanged because some of their raw rows may be deleted."""

    hours: int = 0
    days: int = 0
    closed: int = 0


class Rollups:
    """Rolls up one store.

    `hourly_days`: older hours are kept only per day
    `rows_at_once`: dirty rows whose days are rolled up and merged together, which bounds the memory of a backfill
    """

    def __init__(
        self,
        upkeep: MetaUpkeep,
        clock: Clock,
        failpoints: Failpoints,
        hourly_days: int,
        rows_at_once: int = ROWS_AT_ONCE,
    ) -> None:
        self._upkeep, self._clock, self._failpoints = upkeep, clock, failpoints
        self._hourly_days, self._rows_at_once = hourly_days, rows_at_once

    def behind(self) -> bool:
        """Whether the heads moved since the last roll-up."""
        heads = (self._upkeep.standing(table).position for table in (SNAPSHOTS, CHANGES))
        return any(head is not None and head.sequence > mark for head, mark in zip(heads, self._marks(), strict=True))

    def run(self) -> RollupReport:
        """Roll up all dirty hours. Raises SourceError, and Conflict if another roll-up came first."""
        cut = self._cut()
        if cut is None:
            return RollupReport()
        stamp = cut.stamp(self._clock.now())
        dirty = self._dirty(cut)
        wanted = self._open(dirty)
        done = RollupReport(
            closed=dirty.select("table_uuid", _day()).n_unique() - wanted.select("table_uuid", _day()).n_unique()
        )
        for part in _parts(wanted, self._rows_at_once):
            hours, days = self._roll(part, cut, stamp)
            done = msgspec.structs.replace(done, hours=done.hours + hours, days=done.days + days)
        if not dirty.is_empty():
            self._mark(stamp)
        return done

    def _marks(self) -> tuple[int, int]:
        properties = self._upkeep.standing(HOURLY).properties
        return number(properties.get(ROLLED_SNAPSHOTS)), number(properties.get(ROLLED_CHANGES))

    def _mark(self, stamp: Stamp) -> None:
        self._failpoints.reach("before_mark_rolled")
        marks = zip((ROLLED_SNAPSHOTS, ROLLED_CHANGES, ROLLED_AT), map(str, stamp), strict=True)
        self._upkeep.set_properties(HOURLY, dict(marks))
        self._failpoints.reach("after_mark_rolled")

    def _cut(self) -> Cut | None:
        """None while `snapshots` is empty. Raises SourceUnavailable if the heads keep changing."""
        for _ in range(CUTS):
            before = self._upkeep.standing(SNAPSHOTS).position
            changes = self._upkeep.standing(CHANGES).position
            if before is None:
                return None
            if before == self._upkeep.standing(SNAPSHOTS).position:
                return Cut(before, changes)
        raise SourceUnavailable("meta store", f"commits interrupted the read of both table heads {CUTS} times")

    def _dirty(self, cut: Cut) -> pl.DataFrame:
        """`(table_uuid, hour, rows)` whose roll-up may have changed: hours of new rows, of new moves of main, and of
        moves that point at new rows.
        """
        since_rows, since_moves = self._marks()
        rows = self._upkeep.fresh(SNAPSHOTS, cut.snapshots, since_rows, _FRESH_ROW).drop_nulls("committed_at")
        moves = pl.DataFrame(schema={"table_uuid": pl.String, "at": pl.Int64})
        if cut.changes is not None:
            fresh = self._upkeep.fresh(CHANGES, cut.changes, since_moves, _FRESH_MOVE)
            main = (pl.col("kind") == "ref") & (pl.col("subject") == MAIN)
            moves = fresh.filter(main).select("table_uuid", "at")
        pointing = self._pointing(rows, cut)
        found = pl.concat([
            rows.select("table_uuid", _hour("committed_at"), pl.lit(1).alias("rows")),
            moves.select("table_uuid", _hour("at"), pl.lit(1).alias("rows")),
            pointing.select("table_uuid", _hour("at"), pl.lit(1).alias("rows")),
        ])  # fmt: skip
        return found.group_by(_PAIR).agg(pl.col("rows").sum()).sort("hour", "table_uuid")

    def _pointing(self, rows: pl.DataFrame, cut: Cut) -> pl.DataFrame:
        """Moves of main that point at the rows, from CLOCK_AHEAD before the earliest of them."""
        if rows.is_empty():
            return pl.DataFrame(schema={"table_uuid": pl.String, "at": pl.Int64})
        start = _bounds(rows, "committed_at")[0] - CLOCK_AHEAD
        where = Where(tables=frozenset(rows["table_uuid"]), start=start, equal=_MAIN)
        moves = self._upkeep.rows(CHANGES, cut.changes, _MOVE, where)
        moves = moves.with_columns(pl.col("to_value").cast(pl.Int64, strict=False).alias("snapshot_id"))
        return moves.join(rows.select("table_uuid", "snapshot_id"), on=["table_uuid", "snapshot_id"], how="semi")

    def _open(self, dirty: pl.DataFrame) -> pl.DataFrame:
        """Without the table-days before the floor that were rolled up once: some of their raw rows may be deleted. A
        table-day that never was rolled up has lost none, so it stays. For days older than all retained hours, every
        hour is requested.
        """
        floor = raw_floor(self._upkeep.standing(SNAPSHOTS).properties)
        wanted = dirty.with_columns(_day())
        if floor is not None and not wanted.is_empty():
            where = Where(tables=frozenset(wanted["table_uuid"]), end=floor)
            position = self._upkeep.standing(DAILY).position
            rolled = self._upkeep.rows(DAILY, position, ("table_uuid", "day"), where)
            wanted = wanted.join(rolled, on=["table_uuid", "day"], how="anti")
        oldest = self.oldest_hour()
        whole = wanted.filter(pl.col("day") < oldest).group_by("table_uuid", "day").agg(pl.col("rows").sum())
        hours = [whole.with_columns((pl.col("day") + hour * HOUR).alias("hour")) for hour in range(24)]
        late = wanted.filter(pl.col("day") >= oldest)
        return pl.concat([late, *(part.select(late.columns) for part in hours)]).sort("hour", "table_uuid")

    def oldest_hour(self) -> Micros:
        """Start of the oldest day whose hours are kept."""
        return truncated(self._clock.now(), DAY) - self._hourly_days * DAY

    def _roll(self, part: pl.DataFrame, cut: Cut, stamp: Stamp) -> tuple[int, int]:
        """The number of hours and days merged."""
        hours, oldest = roll_hours(*self._raw(part.select(_PAIR), cut), stamp), pl.lit(self.oldest_hour())
        merged = self._merge(HOURLY, hours.filter(pl.col("hour") >= oldest), "merge_hours")
        days = part.select("table_uuid", "day").unique()
        start, last = _bounds(days, "day")
        where = Where(tables=frozenset(days["table_uuid"]), start=start, end=last + DAY)
        standing = self._upkeep.rows(HOURLY, self._upkeep.standing(HOURLY).position, _HOURLY, where)
        # All hours of a day make the day: the stored ones, and those too old to be stored, which were rolled up whole.
        both = pl.concat([standing.filter(pl.col("hour") >= oldest), hours.filter(pl.col("hour") < oldest)])
        both = both.with_columns(_day()).join(days, on=["table_uuid", "day"], how="semi").drop("day")
        return merged, self._merge(DAILY, fold_days(both, stamp), "merge_days")

    def _raw(self, pairs: pl.DataFrame, cut: Cut) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
        """Rows committed in the hours, moves of main in them, and rows of the snapshots that those point at."""
        start, last = _bounds(pairs, "hour")
        where = Where(tables=frozenset(pairs["table_uuid"]), start=start, end=last + HOUR)
        near = self._upkeep.rows(SNAPSHOTS, cut.snapshots, ROW_COLUMNS, where)
        rows = _within(near, pairs, "committed_at")
        log = self._upkeep.rows(CHANGES, cut.changes, _MOVE, msgspec.structs.replace(where, equal=_MAIN))
        moves = moves_of(_within(log, pairs, "at"))
        key = ["table_uuid", "snapshot_id"]
        missing = moves.join(near, on=key, how="anti")
        if missing.is_empty():
            return rows, moves, near
        # Main was set to a snapshot of another time: a rollback, a publish, or a snapshot that was never read.
        elsewhere = Where(tables=frozenset(missing["table_uuid"]), ids=frozenset(missing["snapshot_id"]))
        far = self._upkeep.rows(SNAPSHOTS, cut.snapshots, ROW_COLUMNS, elsewhere)
        return rows, moves, pl.concat([near, far.join(near, on=key, how="anti")])

    def _merge(self, table: MetaTable, rows: pl.DataFrame, step: str) -> int:
        """Merge rows that are new or stored from older heads; returns their number."""
        rows = self._newer(table, rows)
        if rows.is_empty():
            return 0
        self._failpoints.reach(f"before_{step}")
        self._upkeep.merge(table, rows)
        self._failpoints.reach(f"after_{step}")
        return rows.height

    def _newer(self, table: MetaTable, rows: pl.DataFrame) -> pl.DataFrame:
        if rows.is_empty():
            return rows
        unit, sequences = table.key[1], ("source_sequence", "changes_sequence")
        start, last = _bounds(rows, unit)
        where = Where(tables=frozenset(rows["table_uuid"]), start=start, end=last + 1)
        there = self._upkeep.rows(table, self._upkeep.standing(table).position, (*table.key, *sequences), where)
        joined = rows.select(*table.key, *sequences).join(there, on=list(table.key), suffix="_there")
        as_new = pl.all_horizontal(pl.col(f"{name}_there") >= pl.col(name) for name in sequences)
        return rows.join(joined.filter(as_new), on=list(table.key), how="anti")


def moves_of(log: pl.DataFrame) -> pl.DataFrame:
    """Main's moves (MOVE_COLUMNS) from rows of `changes`, in the order of the log."""
    found: list[tuple[str, int, int, int]] = []
    for (uuid,), group in log.sort("at", "from_value", "to_value").group_by("table_uuid", maintain_order=True):
        changes = [
            ChangeFact(kind="ref", subject=MAIN, from_value=row["from_value"], to_value=row["to_value"], at=row["at"])
            for row in group.to_dicts()
        ]
        found += [(str(uuid), at, place, target) for place, (at, target) in enumerate(main_log(changes))]
    kinds = [pl.String, pl.Int64, pl.Int64, pl.Int64]
    return pl.DataFrame(found, schema=dict(zip(MOVE_COLUMNS, kinds, strict=True)), orient="row")


def _parts(wanted: pl.DataFrame, rows_at_once: int) -> Iterator[pl.DataFrame]:
    """Whole days, grouped so that their dirty rows are about `rows_at_once`."""
    days = wanted.group_by("day").agg(pl.col("rows").sum()).sort("day")
    group = (days["rows"].cum_sum() - days["rows"]) // rows_at_once
    for part in days.with_columns(group.alias("part")).partition_by("part", maintain_order=True):
        yield wanted.join(part.select("day"), on="day", how="semi")


def _bounds(rows: pl.DataFrame, column: str) -> tuple[Micros, Micros]:
    """Least and greatest value of a non-empty integer column."""
    values = rows[column].drop_nulls().sort()
    return Micros(values[0]), Micros(values[-1])


def _within(rows: pl.DataFrame, pairs: pl.DataFrame, column: str) -> pl.DataFrame:
    return rows.with_columns(_hour(column)).join(pairs, on=_PAIR, how="semi").drop("hour")


def _hour(column: str) -> pl.Expr:
    return (pl.col(column) // HOUR * HOUR).alias("hour")


def _day() -> pl.Expr:
    return (pl.col("hour") // DAY * DAY).alias("day")
