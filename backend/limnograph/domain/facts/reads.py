"""What reads of a table amount to in an hour: rows of the meta table `reads_hourly`, rolled up from `reports`.

Part of the single description: `meta_tables.py` defines the meta table from it. Field ids are literals because they
are permanent. Sums are over reports that state the number: null if none does, and 0 without any report.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from limnograph.domain.facts.columns import DOUBLE, LONG, STRING, TIMESTAMPTZ, Col, ListOf, StructOf, columns_of
from limnograph.domain.time import Micros

RAW_DAYS = 7
"""Reports of this many whole days, and of today, are in the meta table `reports`; those before only in their hours."""
SECONDS_EDGES = tuple(0.001 * 2 ** (step / 4) for step in range(89))
"""Edges of the histograms of durations, seconds: 1 ms to 70 min, four steps to a doubling. Bin 0 is below the first
edge, the last one from the last edge on.
"""


class NameCount(msgspec.Struct, frozen=True):
    """How often a name occurred; element of `ReadsFact.users`."""

    name: Annotated[str, Col(50, STRING, "user")]
    count: Annotated[int, Col(51, LONG, "scans and queries of this user")]


class ColumnCount(msgspec.Struct, frozen=True):
    """How often a column was filtered; element of `ReadsFact.filter_columns`."""

    name: Annotated[str, Col(54, STRING, "column")]
    count: Annotated[int, Col(55, LONG, "scans whose filter names the column")]


class SnapshotReads(msgspec.Struct, frozen=True):
    """Scans and queries of one snapshot; element of `ReadsFact.snapshots`. Engines report one kind or both."""

    snapshot_id: Annotated[int, Col(58, LONG, "snapshot that was read")]
    scans: Annotated[int, Col(59, LONG, "scans of it")]
    queries: Annotated[int, Col(64, LONG, "queries of it")]
    last_at: Annotated[Micros, Col(60, TIMESTAMPTZ, "the newest of them")]


class ReadsFact(msgspec.Struct, frozen=True, kw_only=True):
    """Scans and queries of one table in one hour, by engine, its version and job."""

    table_uuid: Annotated[str, Col(1, STRING, "identity of the table's history", True)]
    hour: Annotated[Micros, Col(2, TIMESTAMPTZ, "start of the hour, UTC", True)]
    engine: Annotated[str | None, Col(3, STRING, "engine that read; null: not stated")] = None
    engine_version: Annotated[str | None, Col(4, STRING, "version of the engine")] = None
    job_name: Annotated[str | None, Col(5, STRING, "job that read; null: not stated")] = None
    catalog: Annotated[str | None, Col(6, STRING, "catalog of the table in the newest report")] = None
    namespace: Annotated[str | None, Col(7, STRING, "namespace levels joined with `.`")] = None
    table: Annotated[str | None, Col(8, STRING, "table name")] = None
    scans: Annotated[int | None, Col(9, LONG, "scans that were planned")] = None
    queries: Annotated[int | None, Col(10, LONG, "queries that read the table")] = None
    planning_count: Annotated[int | None, Col(11, LONG, "scans with a known planning time")] = None
    planning_seconds_sum: Annotated[float | None, Col(12, DOUBLE, "their planning times, added")] = None
    planning_seconds_p50: Annotated[float | None, Col(13, DOUBLE, "their median")] = None
    planning_seconds_p95: Annotated[float | None, Col(14, DOUBLE, "their 95th percentile")] = None
    planning_seconds_max: Annotated[float | None, Col(15, DOUBLE, "the longest")] = None
    planning_histogram: Annotated[
        list[int] | None, Col(16, ListOf(17, LONG), "scans per planning time; 4 bins to a doubling, 1 ms to 70 min")
    ] = None
    query_count: Annotated[int | None, Col(18, LONG, "queries with a known duration")] = None
    query_seconds_sum: Annotated[float | None, Col(19, DOUBLE, "their durations, added")] = None
    query_seconds_p50: Annotated[float | None, Col(20, DOUBLE, "their median")] = None
    query_seconds_p95: Annotated[float | None, Col(21, DOUBLE, "their 95th percentile")] = None
    query_seconds_max: Annotated[float | None, Col(22, DOUBLE, "the longest")] = None
    query_histogram: Annotated[
        list[int] | None, Col(23, ListOf(24, LONG), "queries per duration, in the same bins")
    ] = None
    files_opened: Annotated[int | None, Col(25, LONG, "data files that scans had to read")] = None
    files_skipped: Annotated[int | None, Col(26, LONG, "data files that filters skipped, as engines count them")] = None
    live_scans: Annotated[
        int | None, Col(27, LONG, "scans whose opened files and whose snapshot's live files are known")
    ] = None
    live_files_opened: Annotated[int | None, Col(28, LONG, "data files that these scans had to read")] = None
    live_files: Annotated[int | None, Col(29, LONG, "live data files of the snapshots they read")] = None
    manifests_scanned: Annotated[int | None, Col(30, LONG, "data manifests that planning read")] = None
    manifests_skipped: Annotated[int | None, Col(31, LONG, "data manifests that planning skipped")] = None
    bytes: Annotated[int | None, Col(32, LONG, "bytes of the data files that scans had to read")] = None
    delete_files: Annotated[int | None, Col(33, LONG, "delete files that scans had to apply")] = None
    rows: Annotated[int | None, Col(34, LONG, "rows that queries read")] = None
    read_bytes: Annotated[int | None, Col(35, LONG, "bytes that these queries read; other queries are not counted")] = (
        None
    )
    filters_known: Annotated[int | None, Col(36, LONG, "scans whose filter columns are known")] = None
    filter_columns: Annotated[
        list[ColumnCount] | None,
        Col(53, ListOf(52, StructOf(columns_of(ColumnCount))), "columns in filters, the 50 most frequent"),
    ] = None
    users: Annotated[
        list[NameCount] | None, Col(48, ListOf(49, StructOf(columns_of(NameCount))), "users, the 50 most frequent")
    ] = None
    snapshots: Annotated[
        list[SnapshotReads] | None,
        Col(56, ListOf(57, StructOf(columns_of(SnapshotReads))), "snapshots that were read, the 50 read last"),
    ] = None
    last_at: Annotated[Micros | None, Col(37, TIMESTAMPTZ, "the newest scan or query")] = None
    source_sequence: Annotated[
        int | None, Col(61, LONG, "sequence number of the head of `reports` that the row was computed from")
    ] = None
    changes_sequence: Annotated[int | None, Col(62, LONG, "the same of `changes`")] = None
    rolled_at: Annotated[Micros | None, Col(63, TIMESTAMPTZ, "when the row was computed")] = None
