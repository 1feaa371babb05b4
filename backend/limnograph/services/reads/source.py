"""Reads of one table over any range: from memory, from raw reports of the last days, or from hours and the raw rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import polars as pl

from limnograph.domain.facts.reads import RAW_DAYS
from limnograph.domain.ids import TableName
from limnograph.domain.time import Micros, truncated
from limnograph.ports.clock import Clock
from limnograph.ports.query_engine import MetaQuery, QueryEngine
from limnograph.services.reads.log import ReadLog
from limnograph.services.rollups.fold import DAY, HOUR, Stamp
from limnograph.services.rollups.reads_fold import (
    NAMES,
    REPORT_COLUMNS,
    merge_reads,
    reads_of,
    roll_reads,
    sum_reads,
)


class TableReads(NamedTuple):
    """Reads of one table in a range: each of them, or the hours that contain them."""

    raw: pl.DataFrame | None
    hours: pl.DataFrame | None = None

    @property
    def exact(self) -> bool:
        """Whether every read is known, so that percentiles are exact."""
        return self.raw is not None

    def summed(self, keys: Sequence[str] = (), width_us: int | None = None) -> pl.DataFrame:
        """Numbers of `reads_hourly` by key; with a width also by `begin`, the start of a span of that width."""
        frame, at = (self.raw, "at") if self.raw is not None else (self.hours, "hour")
        if frame is None:
            raise TypeError("reads without rows")
        if width_us is not None:
            frame = frame.with_columns((pl.col(at) // width_us * width_us).alias("begin"))
            keys = (*keys, "begin")
        return sum_reads(frame, keys) if self.raw is not None else merge_reads(frame, keys)


class ReadSource:
    """Immutable after construction."""

    def __init__(self, log: ReadLog, engine: QueryEngine, clock: Clock) -> None:
        self._log, self._engine, self._clock = log, engine, clock

    def read(
        self, uuid: str, names: Mapping[TableName, Micros], live: pl.DataFrame, start: Micros, end: Micros
    ) -> TableReads:
        """Reads in `[start, end)`; in whole hours if the range begins before the raw reports. `names`: until when the
        table has each of its names. `live`: `snapshot_id` and `live_files` of its snapshots. Blocks. Raises
        SourceError.
        """
        floor = self._log.floor
        if floor is not None and start >= floor:
            return TableReads(identified(self._log.of_table(names, start, end), uuid, live))
        raw_from = Micros(truncated(self._clock.now(), DAY) - RAW_DAYS * DAY)
        if start >= raw_from:
            return TableReads(identified(self._raw(names, start, end), uuid, live))
        edge = min(truncated(max(raw_from, floor or raw_from), HOUR), end)
        query = MetaQuery(table="reads_hourly", table_uuids=(uuid,), start=truncated(start, HOUR), end=edge)
        rest = identified(self._raw(names, edge, end), uuid, live)
        fresh = roll_reads(rest, Stamp(0, 0, self._clock.now()))
        hours = self._engine.select(query)
        return TableReads(None, pl.concat([hours, fresh.cast(dict(hours.schema))]))  # type: ignore[arg-type]

    def _raw(self, names: Mapping[TableName, Micros], start: Micros, end: Micros) -> pl.DataFrame:
        """From the meta table, with what is only in memory yet."""
        held = self._log.of_table(names, start, end)
        floor = self._log.floor
        if floor is not None and start >= floor:
            return held
        rows = self._engine.select(MetaQuery(table="reports", columns=REPORT_COLUMNS, start=start, end=end))
        wanted = pl.DataFrame([(*name, until) for name, until in names.items()], schema=[*NAMES, "until"], orient="row")
        mine = rows.join(wanted, on=NAMES).filter(pl.col("at") < pl.col("until")).drop("until")
        return reads_of(pl.concat([mine, held.cast(dict(mine.schema))]))  # type: ignore[arg-type]


def identified(reads: pl.DataFrame, uuid: str, live: pl.DataFrame) -> pl.DataFrame:
    """Reads of one table with `table_uuid` and `live_files` of the snapshot that was read."""
    return reads.join(live, on="snapshot_id", how="left").with_columns(pl.lit(uuid).alias("table_uuid"))
