"""Reads of the last hour and day, numbers per table: for `/metrics`, and for the filters and columns of the fleet.

Cost: O(reads in memory) per `refresh`, 0.5 s of CPU at the limit of the log; a look-up costs nothing.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import polars as pl

from limnograph.domain.ids import TableName
from limnograph.domain.time import EPOCH, MICROS_PER_SECOND, Micros
from limnograph.ports.clock import Clock
from limnograph.services.lake.history import History
from limnograph.services.lake.lake import Lake
from limnograph.services.lake.spec_fields import spec_columns
from limnograph.services.lake.store import HotStore
from limnograph.services.reads.log import ReadLog
from limnograph.services.rollups.fold import DAY, HOUR
from limnograph.services.rollups.reads_fold import NAMES, from_one_source, sum_reads

MINUTE_US = 60 * MICROS_PER_SECOND
_versions = itertools.count(1)


class TableReadNumbers(NamedTuple):
    """Reads of one table in a span. Seconds are 95th percentiles, None if no read states one. `missed`: of the scans
    whose filter columns are known, the share that filters no partition column; None if none is known, or if the table
    has no partition columns.
    """

    scans: int
    queries: int
    planning_p95_s: float | None
    query_p95_s: float | None
    missed: float | None


ByTable = Mapping[str, TableReadNumbers]
_NOTHING: ByTable = MappingProxyType({})


class RecentNumbers(NamedTuple):
    """Numbers by table uuid, of tables that were read. `known`: whether the reports of the span are in memory."""

    version: int = 0
    known: bool = False
    hour: ByTable = _NOTHING
    day: ByTable = _NOTHING


class RecentReads:
    """Thread-safe: `numbers` is an immutable value that `refresh`, called by one thread at a time, replaces."""

    def __init__(self, store: HotStore, log: ReadLog, clock: Clock) -> None:
        self._store, self._log, self._clock = store, log, clock
        self.numbers = RecentNumbers()
        self._at = EPOCH

    def refresh(self) -> None:
        """Compute the numbers up to now, at most once a minute."""
        now, lake, floor = self._clock.now(), self._store.reading.lake, self._log.floor
        if now - self._at < MINUTE_US:
            return
        self._at = now
        reads = self._identified(self._log.since(Micros(now - DAY)), lake)
        hour = _numbers(reads.filter(pl.col("at") >= now - HOUR), lake)
        day = _numbers(reads, lake)
        known = floor is not None and floor <= now - DAY
        if (known, hour, day) != self.numbers[1:]:
            self.numbers = RecentNumbers(next(_versions), known, hour, day)

    def _identified(self, reads: pl.DataFrame, lake: Lake) -> pl.DataFrame:
        """Reads of known tables, with `table_uuid`."""
        names = [TableName(*(part or "" for part in row)) for row in reads.select(NAMES).unique().iter_rows()]
        uuids = [(*name, lake.names.get(self._store.resolved(name))) for name in names]
        wanted = pl.DataFrame(uuids, schema=dict.fromkeys((*NAMES, "table_uuid"), pl.String), orient="row")
        filled = reads.with_columns(pl.col(name).fill_null("") for name in NAMES)
        return filled.join(wanted.drop_nulls("table_uuid"), on=NAMES)


def _numbers(reads: pl.DataFrame, lake: Lake) -> ByTable:
    sums = sum_reads(reads.with_columns(pl.lit(None, pl.Int64).alias("live_files")), ("table_uuid",))
    filters = from_one_source(reads).filter((pl.col("kind") == "scan") & pl.col("filter_columns").is_not_null())
    lists = {uuid: part["filter_columns"].to_list() for (uuid,), part in _by_table(filters)}
    return {
        row["table_uuid"]: TableReadNumbers(
            scans=row["scans"],
            queries=row["queries"],
            planning_p95_s=row["planning_seconds_p95"],
            query_p95_s=row["query_seconds_p95"],
            missed=_missed(lists.get(row["table_uuid"], []), History(lake.tables[row["table_uuid"]])),
        )
        for row in sums.iter_rows(named=True)
    }


def _by_table(reads: pl.DataFrame) -> Iterable[tuple[tuple[Any, ...], pl.DataFrame]]:
    return reads.group_by("table_uuid")


def _missed(filters: list[list[str]], history: History) -> float | None:
    partitioned = spec_columns(history, "spec")
    if not filters or not partitioned:
        return None
    return sum(partitioned.isdisjoint(name.lower() for name in names) for names in filters) / len(filters)
