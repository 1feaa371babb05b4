"""Selects the tier for a long range, and reads roll-ups as states along main: without a gap, and with later facts
applied.

Roll-ups lag by some minutes, and late facts arrive at any time. Hours that a fact may have changed since the last
roll-up are rolled up again here, from raw rows, by the same function. After `edge` only raw rows are used.
"""

from __future__ import annotations

import contextvars
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Literal, NamedTuple

import polars as pl

from limnograph.domain.answers.lane_specs import LANE_SPECS
from limnograph.domain.facts.housekeeping import OPERATIONS, STATES
from limnograph.domain.facts.meta_tables import HOURLY
from limnograph.domain.metadata.table import MAIN
from limnograph.domain.time import MICROS_PER_SECOND, Micros, TimeRange, to_micros, truncated
from limnograph.ports.query_engine import MetaQuery, QueryEngine
from limnograph.services.rollups.fold import DAY, HOUR, KINDS, ROW_COLUMNS, Stamp, fold_days, roll_hours
from limnograph.services.rollups.marks import ROLLED_AT, number, raw_floor
from limnograph.services.rollups.step import moves_of

Unit = Literal["raw", "hour", "day"]
WIDTH = {"hour": HOUR, "day": DAY}
UNSEEN = 20 * 60 * MICROS_PER_SECOND
"""A fact is appended at most ten minutes after it was read. It may have arrived after the roll-up's cut if
it was read less than twice that time before the cut.
"""
_COLUMNS = frozenset(spec.column for spec in LANE_SPECS)
SHOWN = (
    "table_uuid",
    *("commits", "unknown_commits", *OPERATIONS.values(), "other_operations", "main_moves", "main_snapshot_id"),
    *("added_data_files", "removed_data_files", "added_delete_files", "added_bytes"),
    *(
        f"{state}_{end}"
        for state in STATES
        if state == "file_size_p50" or state in _COLUMNS
        for end in ("last", "min", "max")
    ),
)
"""Columns of roll-ups that lanes draw from; a span has three times as many."""
_LOG = ("table_uuid", "subject", "from_value", "to_value", "at")


class RolledHistory(NamedTuple):
    """Roll-ups of one table.

    `unit`: the length of the spans, except for a day before the hours that carries the first state in
    `rows`: spans in time order, with columns of `snapshots_hourly`, from `begin` to `end` (instead of `hour`)
    `edge`: roll-ups end and raw rows begin here
    """

    unit: Literal["hour", "day"]
    rows: pl.DataFrame
    edge: Micros


def unit_of(span: TimeRange, raw_from: Micros | None, hours_from: Micros) -> Unit:
    """Tier by step and range, in microseconds. `raw_from`: raw rows before it may be deleted (None: none ever were);
    `hours_from`: hours before it are deleted.

    Roll-ups are used if their spans fill whole steps; shorter steps use raw rows while there are any.
    """
    step, start = span.step_s * MICROS_PER_SECOND, to_micros(span.start)
    if step % DAY == 0 or start < hours_from:
        return "day"
    if step % HOUR == 0 or (raw_from is not None and start < raw_from):
        return "hour"
    return "raw"


class TierReader:
    """Reads roll-ups through an engine. `hourly_days`: how long hours are retained. Its methods block. Immutable after
    construction.
    """

    def __init__(self, engine: QueryEngine, hourly_days: int) -> None:
        self._engine, self._hourly_days = engine, hourly_days

    def read(self, table_uuid: str, span: TimeRange, floor: Micros, now: Micros) -> RolledHistory | None:
        """Roll-ups of a range up to the first span that begins at or after `floor` (microseconds), where raw rows
        begin. None if raw rows are used: for short steps, and before the first roll-up. Raises SourceError.
        """
        if to_micros(span.start) >= floor:
            return None
        closed = raw_floor(dict(self._engine.properties("snapshots")))
        unit = unit_of(span, closed, truncated(now, DAY) - self._hourly_days * DAY)
        if unit == "raw":
            return None
        rolled_at = Micros(number(self._engine.properties("snapshots_hourly").get(ROLLED_AT)))
        if not rolled_at:
            return None
        width = WIDTH[unit]
        edge = Micros(-(-floor // width) * width)
        start = truncated(to_micros(span.start), width)
        fresh = _Fresh(self._engine, table_uuid, (closed, edge), rolled_at)
        if unit == "hour":
            day = truncated(start, DAY)
            hours, days = together(
                lambda: self._span("snapshots_hourly", table_uuid, day, edge, ("hour", *SHOWN)),
                lambda: self._span("snapshots_daily", table_uuid, None, day, ("day", *SHOWN)),
                fresh.look,
            )[:2]
            return RolledHistory("hour", self._hours(table_uuid, day, (hours, days), fresh), edge)
        days = together(lambda: self._span("snapshots_daily", table_uuid, None, edge, ("day", *SHOWN)), fresh.look)[0]
        days = self._days(table_uuid, days, edge, fresh)
        first = pl.col("begin") >= start
        rows = pl.concat([_last_moved(days.filter(~first)), days.filter(first)])
        return RolledHistory("day", _ended(rows, DAY), edge)

    def _hours(
        self, table_uuid: str, day: Micros, read: tuple[pl.DataFrame, pl.DataFrame], fresh: _Fresh
    ) -> pl.DataFrame:
        """Hours since the start of the first day, and the day before them that carries the state in."""
        again = _begun(fresh.hours.filter(pl.col("hour") >= day), "hour")
        before = _last_moved(self._days(table_uuid, read[1], day, fresh))
        return pl.concat([_ended(before, DAY), _ended(_replaced(_begun(read[0], "hour"), again), HOUR)])

    def _days(self, table_uuid: str, read: pl.DataFrame, end: Micros, fresh: _Fresh) -> pl.DataFrame:
        """All days before `end`; those with facts since the last roll-up are folded again from their hours."""
        days = _begun(read, "day")
        again = fresh.hours.filter(pl.col("hour") < end)
        if again.is_empty():
            return days
        touched = again.select(pl.col("hour") // DAY * DAY).unique()["hour"].sort()
        hours = self._span("snapshots_hourly", table_uuid, touched[0], touched[-1] + DAY)
        whole = _replaced(_begun(hours, "hour"), _begun(again, "hour")).rename({"begin": "hour"})
        whole = whole.filter((pl.col("hour") // DAY * DAY).is_in(touched.implode()))
        made = fold_days(whole.select([column.name for column in HOURLY.columns]), fresh.stamp)
        return _replaced(days, _begun(made, "day"))

    def _span(
        self,
        table: Literal["snapshots_hourly", "snapshots_daily"],
        table_uuid: str,
        start: Micros | None,
        end: Micros,
        columns: tuple[str, ...] = (),
    ) -> pl.DataFrame:
        asked = MetaQuery(table=table, columns=columns, table_uuids=(table_uuid,), start=start, end=end)
        return self._engine.select(asked)


class _Fresh:
    """Hours that facts may have changed since the last roll-up, rolled up again from raw rows."""

    def __init__(
        self, engine: QueryEngine, table_uuid: str, within: tuple[Micros | None, Micros], rolled_at: Micros
    ) -> None:
        self._engine, self._uuid = engine, (table_uuid,)
        (self._start, self._edge), self._since = within, rolled_at - UNSEEN
        self.stamp = Stamp(0, 0, rolled_at)

    def look(self) -> pl.DataFrame:
        """`hours`, read now."""
        return self.hours

    @cached_property
    def hours(self) -> pl.DataFrame:
        """Rows of `snapshots_hourly`; usually none, as late facts are rare."""
        rows, moves = together(
            lambda: self._snapshots(("table_uuid", "snapshot_id", "committed_at"), since=self._since),
            lambda: self._log(since=self._since),
        )
        touched = {at // HOUR * HOUR for at in (*rows["committed_at"], *moves["at"])}
        if not rows.is_empty():
            ids = {str(one) for one in rows["snapshot_id"]}
            log = self._log()
            touched |= {at // HOUR * HOUR for at in log.filter(pl.col("to_value").is_in(list(ids)))["at"]}
        if not touched:
            return pl.DataFrame(schema={column.name: KINDS[column.name] for column in HOURLY.columns})
        return self._again(sorted(touched))

    def _again(self, hours: Sequence[Micros]) -> pl.DataFrame:
        """Those hours, rolled up from all their raw rows and moves."""
        first, last = hours[0], hours[-1] + HOUR
        wanted = pl.Series(hours).implode()
        rows = self._snapshots(ROW_COLUMNS, first, last)
        rows = rows.filter((pl.col("committed_at") // HOUR * HOUR).is_in(wanted))
        log = self._log(first, last).filter((pl.col("at") // HOUR * HOUR).is_in(wanted))
        moves = moves_of(log.drop("subject"))
        missing = moves.join(rows, on=["table_uuid", "snapshot_id"], how="anti")["snapshot_id"].unique()
        pointed = rows
        if not missing.is_empty():
            elsewhere = MetaQuery(
                table="snapshots", columns=ROW_COLUMNS, table_uuids=self._uuid, snapshot_ids=tuple(missing)
            )
            pointed = pl.concat([rows, self._engine.select(elsewhere)])
        return roll_hours(_once(rows), moves, _once(pointed), self.stamp)

    def _snapshots(
        self,
        columns: tuple[str, ...],
        start: Micros | None = None,
        end: Micros | None = None,
        since: Micros | None = None,
    ) -> pl.DataFrame:
        return self._engine.select(
            MetaQuery(
                table="snapshots",
                columns=columns,
                table_uuids=self._uuid,
                start=self._start if start is None else start,
                end=self._edge if end is None else end,
                observed_from=since,
            )
        )

    def _log(self, start: Micros | None = None, end: Micros | None = None, since: Micros | None = None) -> pl.DataFrame:
        """Entries of main's log."""
        found = self._engine.select(
            MetaQuery(
                table="changes",
                columns=_LOG,
                table_uuids=self._uuid,
                kinds=("ref",),
                start=self._start if start is None else start,
                end=self._edge if end is None else end,
                observed_from=since,
            )
        )
        return found.filter(pl.col("subject") == MAIN)


def together(*calls: Callable[[], pl.DataFrame]) -> list[pl.DataFrame]:
    """Results of concurrent calls: a query server takes as long for all as for one. Raises what the first of them
    raises.
    """
    contexts = [contextvars.copy_context() for _ in calls]
    with ThreadPoolExecutor(len(calls)) as pool:
        asked = [pool.submit(context.run, call) for context, call in zip(contexts, calls, strict=True)]
        return [one.result() for one in asked]


def _begun(rows: pl.DataFrame, unit: str) -> pl.DataFrame:
    return rows.rename({unit: "begin"})


def _ended(rows: pl.DataFrame, width_us: int) -> pl.DataFrame:
    return rows.with_columns((pl.col("begin") + width_us).alias("end"))


def _replaced(rows: pl.DataFrame, newer: pl.DataFrame) -> pl.DataFrame:
    kept = rows.join(newer, on=["table_uuid", "begin"], how="anti")
    return pl.concat([kept, newer.select(rows.columns)]).sort("begin")


def _last_moved(rows: pl.DataFrame) -> pl.DataFrame:
    """The newest span in which main moved: the state that continues from there."""
    return rows.filter(pl.col("main_moves") > 0).sort("begin").tail(1)


def _once(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.unique(["table_uuid", "snapshot_id"], keep="first", maintain_order=True)
