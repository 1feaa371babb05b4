"""Reads of the meta tables. A query is a value; an engine turns it into SQL or a file plan."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Protocol

import msgspec
import polars as pl

from limnograph.domain.time import Micros

Table = Literal[
    "snapshots",
    "changes",
    "runs",
    "alerts",
    "reports",
    "labels",
    "effects",
    "findings",
    "notes",
    "plans",
    "snapshots_hourly",
    "snapshots_daily",
    "reads_hourly",
    "column_stats",
    "column_stats_daily",
    "forecasts",
]


class MetaQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Rows of one meta table. Conditions are combined with and; empty tuples and None mean no condition.

    start, end     epoch microseconds, half-open: bounds of the event time, which is `committed_at` of snapshots,
                   column_stats and effects, `starts_at` of alerts, `hour` and `day` of the roll-ups, `as_of` of
                   forecasts, `at` of the others
    operations     operations of `snapshots`, such as `replace`
    observed_from  rows of `snapshots`, `changes` and `column_stats` read from the lake at that instant or later
    """

    table: Table
    columns: tuple[str, ...] = ()
    table_uuids: tuple[str, ...] = ()
    snapshot_ids: tuple[int, ...] = ()
    kinds: tuple[str, ...] = ()
    operations: tuple[str, ...] = ()
    start: Micros | None = None
    end: Micros | None = None
    observed_from: Micros | None = None
    limit: int | None = None


class MetaHead(msgspec.Struct, frozen=True):
    """Snapshots of the meta tables that an engine would read now; `None` if a table does not exist yet.

    `run_id` and `written_at` (microseconds): the pass that wrote the latest `snapshots` row, and when.
    """

    snapshots: int | None
    changes: int | None
    written_at: Micros | None = None
    run_id: str | None = None


class QueryEngine(Protocol):
    """Cold reads: embedded polars, Trino, or memory in tests; all pass one contract suite."""

    name: str

    def head(self) -> MetaHead:
        """Current snapshot ids of the meta tables. Raises SourceError."""
        ...

    def select(self, query: MetaQuery) -> pl.DataFrame:
        """Rows in time order with the requested columns (all if none are named) in that order; instants as Int64
        microseconds. An empty frame with those columns if the table does not exist. Raises SourceError.
        """
        ...

    def properties(self, table: Table) -> Mapping[str, str]:
        """Table properties; empty if the table does not exist. Raises SourceError."""
        ...
