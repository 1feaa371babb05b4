"""The facts that Limnograph keeps, one struct per meta table. THE one description: everything else is derived from it.

Iceberg schema (`adapters/meta/schema.py`), Arrow schema and `docs/meta-tables.md` come from these fields.
Columns are only ever added, with a new field id. A number that is not known is None, never 0. Instants are
microseconds since the epoch, UTC.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import msgspec

from limnograph.domain.facts.column_stats import ColumnDaysFact, ColumnStat, ColumnStatsFact
from limnograph.domain.facts.columns import (
    BOOLEAN,
    DOUBLE,
    INT,
    LONG,
    STRING,
    TIMESTAMPTZ,
    Col,
    Column,
    ListOf,
    MapOf,
    StructOf,
    columns_of,
)
from limnograph.domain.facts.effects import EffectFact
from limnograph.domain.facts.events import AlertFact, LabelFact, ReportFact, RunFact
from limnograph.domain.facts.findings import FindingFact
from limnograph.domain.facts.forecasts import FORECAST_KEY, ForecastFact
from limnograph.domain.facts.housekeeping import MaintenanceFact, span_columns
from limnograph.domain.facts.notes import NoteFact
from limnograph.domain.facts.plans import PlanFact
from limnograph.domain.facts.reads import ReadsFact
from limnograph.domain.time import Micros

SCHEMA_VERSION = 11
"""Property `limnograph.schema-version` of every meta table; rises when a column or a table is added."""

HISTOGRAM_EDGES = tuple(2**power for power in range(13, 33))
"""Edges of `file_size_histogram`, bytes: 8 KiB … 4 GiB. Bin 0 is below the first edge, the last one above the last."""


class PartitionFact(msgspec.Struct, frozen=True):
    """State of one partition after a snapshot; element of `SnapshotFact.partitions`."""

    partition: Annotated[str, Col(111, STRING, "partition as text: `day=2026-11-20/region=eu`; empty: none")]
    spec_id: Annotated[int | None, Col(112, INT, "partition spec of these files")] = None
    data_files: Annotated[int | None, Col(113, LONG, "live data files")] = None
    delete_files: Annotated[int | None, Col(114, LONG, "live delete files")] = None
    small_files: Annotated[int | None, Col(115, LONG, "live data files below three quarters of the target size")] = None
    records: Annotated[int | None, Col(116, LONG, "rows in live data files, before deletes")] = None
    bytes: Annotated[int | None, Col(117, LONG, "bytes of live data files")] = None
    added_data_files: Annotated[int | None, Col(118, LONG, "data files this snapshot added here")] = None
    removed_data_files: Annotated[int | None, Col(119, LONG, "data files this snapshot removed here")] = None
    last_committed_at: Annotated[Micros | None, Col(120, TIMESTAMPTZ, "newest commit that touched the partition")] = (
        None
    )
    delete_bytes: Annotated[int | None, Col(121, LONG, "bytes of live delete files")] = None
    oldest_delete_at: Annotated[
        Micros | None,
        Col(122, TIMESTAMPTZ, "commit that added the oldest live delete file; null: none, or it expired; Iceberg only"),
    ] = None


class SnapshotFact(msgspec.Struct, frozen=True, kw_only=True):
    """One row per observed table and snapshot. THE meta table; key `(table_uuid, snapshot_id)`."""

    # key
    table_uuid: Annotated[str, Col(1, STRING, "identity of the table's history", True)]
    snapshot_id: Annotated[int, Col(2, LONG, "Iceberg snapshot id, Delta version or Hudi instant", True)]
    # where
    catalog: Annotated[str | None, Col(3, STRING, "catalog name when observed; `files` for tables without one")] = None
    namespace: Annotated[str | None, Col(4, STRING, "namespace levels joined with `.`, when observed")] = None
    table: Annotated[str | None, Col(5, STRING, "table name when observed")] = None
    format: Annotated[str | None, Col(6, STRING, "`iceberg`, `delta` or `hudi`")] = None
    format_version: Annotated[int | None, Col(7, INT, "version of the table format")] = None
    # history
    parent_id: Annotated[int | None, Col(8, LONG, "snapshot this one was made from")] = None
    sequence_number: Annotated[int | None, Col(9, LONG, "Iceberg sequence number; null in format v1")] = None
    committed_at: Annotated[Micros | None, Col(10, TIMESTAMPTZ, "commit time recorded in the table")] = None
    operation: Annotated[str | None, Col(11, STRING, "`append`, `replace`, `overwrite` or `delete`")] = None
    on_main: Annotated[bool | None, Col(12, BOOLEAN, "ancestor of main when observed (provenance only)")] = None
    refs: Annotated[
        list[str] | None, Col(13, ListOf(14, STRING), "branches and tags at this snapshot when observed")
    ] = None
    # ids
    schema_id: Annotated[int | None, Col(15, INT, "schema of the snapshot")] = None
    spec_id: Annotated[int | None, Col(16, INT, "default partition spec when observed")] = None
    sort_order_id: Annotated[int | None, Col(17, INT, "default sort order when observed")] = None
    # writer
    engine: Annotated[str | None, Col(18, STRING, "engine that committed: `spark`, `trino`, `flink`, …")] = None
    engine_version: Annotated[str | None, Col(19, STRING, "version of the engine")] = None
    app_id: Annotated[
        str | None, Col(20, STRING, "application id; equals the label `application_id` of its metrics")
    ] = None
    app_name: Annotated[str | None, Col(21, STRING, "application name")] = None
    job_id: Annotated[str | None, Col(22, STRING, "job id (Flink, orchestrators)")] = None
    query_id: Annotated[str | None, Col(23, STRING, "query id (Trino, Spark streaming)")] = None
    user: Annotated[str | None, Col(24, STRING, "user who committed")] = None
    summary: Annotated[dict[str, str] | None, Col(25, MapOf(26, 27, STRING, STRING), "snapshot summary, verbatim")] = (
        None
    )
    # totals
    total_data_files: Annotated[int | None, Col(28, LONG, "live data files")] = None
    total_delete_files: Annotated[int | None, Col(29, LONG, "live delete files; a deletion vector counts as one")] = (
        None
    )
    total_records: Annotated[int | None, Col(30, LONG, "rows in live data files, before deletes are applied")] = None
    total_bytes: Annotated[int | None, Col(31, LONG, "bytes of live data files")] = None
    total_delete_bytes: Annotated[int | None, Col(32, LONG, "bytes of live delete files")] = None
    total_position_deletes: Annotated[int | None, Col(33, LONG, "rows in live position deletes")] = None
    total_equality_deletes: Annotated[int | None, Col(34, LONG, "rows in live equality deletes")] = None
    total_dvs: Annotated[int | None, Col(35, LONG, "live deletion vectors")] = None
    oldest_delete_at: Annotated[
        Micros | None,
        Col(89, TIMESTAMPTZ, "commit that added the oldest live delete file; null: none, or it expired; Iceberg only"),
    ] = None
    # deltas
    added_data_files: Annotated[int | None, Col(36, LONG, "data files this snapshot added")] = None
    added_delete_files: Annotated[int | None, Col(37, LONG, "delete files this snapshot added")] = None
    added_records: Annotated[int | None, Col(38, LONG, "rows in added data files")] = None
    added_bytes: Annotated[int | None, Col(39, LONG, "bytes of added data files")] = None
    removed_data_files: Annotated[int | None, Col(40, LONG, "data files this snapshot removed")] = None
    removed_delete_files: Annotated[int | None, Col(41, LONG, "delete files this snapshot removed")] = None
    removed_records: Annotated[int | None, Col(42, LONG, "rows in removed data files")] = None
    removed_bytes: Annotated[int | None, Col(43, LONG, "bytes of removed data files")] = None
    changed_partitions: Annotated[int | None, Col(44, LONG, "partitions with an added or removed file")] = None
    # manifests
    manifests: Annotated[int | None, Col(45, LONG, "manifests in the snapshot's list, delete manifests included")] = (
        None
    )
    delete_manifests: Annotated[int | None, Col(46, LONG, "delete manifests in the snapshot's list")] = None
    manifest_bytes: Annotated[int | None, Col(47, LONG, "bytes of all manifests in the list")] = None
    manifest_list: Annotated[str | None, Col(48, STRING, "location of the manifest list")] = None
    metadata_location: Annotated[str | None, Col(49, STRING, "metadata file the row was read from")] = None
    metadata_bytes: Annotated[int | None, Col(50, LONG, "size of that metadata file")] = None
    live_snapshots: Annotated[int | None, Col(51, INT, "snapshots in that metadata file")] = None
    oldest_snapshot_at: Annotated[
        Micros | None,
        Col(90, TIMESTAMPTZ, "commit of its oldest snapshot that no branch or tag points at; null: there is none"),
    ] = None
    metadata_log_entries: Annotated[
        int | None, Col(85, LONG, "older metadata files that this file lists; Iceberg only")
    ] = None
    # shape
    file_size_histogram: Annotated[
        list[int] | None,
        Col(52, ListOf(53, LONG), "live data files per size bin; log2 edges 8 KiB … 4 GiB, under- and overflow bins"),
    ] = None
    file_size_p10: Annotated[
        int | None, Col(54, LONG, "10th percentile of live data file sizes, from the histogram")
    ] = None
    file_size_p50: Annotated[int | None, Col(55, LONG, "median of live data file sizes, from the histogram")] = None
    file_size_p90: Annotated[
        int | None, Col(56, LONG, "90th percentile of live data file sizes, from the histogram")
    ] = None
    small_files: Annotated[int | None, Col(57, LONG, "live data files below three quarters of the target size")] = None
    target_file_bytes: Annotated[int | None, Col(58, LONG, "target file size from the table's own properties")] = None
    debt_files: Annotated[int | None, Col(59, LONG, "data files a compaction would rewrite")] = None
    debt_bytes: Annotated[int | None, Col(60, LONG, "bytes a compaction would rewrite")] = None
    debt_groups: Annotated[int | None, Col(61, LONG, "file groups a compaction would rewrite")] = None
    debt_saved_files: Annotated[
        int | None, Col(84, LONG, "files fewer after a compaction of the groups that it at least halves")
    ] = None
    overlap_depth_max: Annotated[
        int | None, Col(62, LONG, "most files that cover one value of the first sort field")
    ] = None
    overlap_depth_mean: Annotated[
        float | None, Col(63, DOUBLE, "mean files that cover one value of the first sort field")
    ] = None
    partitions_total: Annotated[int | None, Col(64, LONG, "partitions with a live file")] = None
    skew_max_over_median: Annotated[
        float | None, Col(65, DOUBLE, "largest partition divided by the median partition, by bytes")
    ] = None
    skew_cv: Annotated[float | None, Col(66, DOUBLE, "coefficient of variation of partition bytes")] = None
    skew_gini: Annotated[float | None, Col(67, DOUBLE, "Gini coefficient of partition bytes")] = None
    skew_top1_share: Annotated[float | None, Col(68, DOUBLE, "share of the largest partition in all bytes")] = None
    partition_files_max: Annotated[
        int | None, Col(86, LONG, "live data files of the partition that has most of them")
    ] = None
    hot_partition: Annotated[
        str | None,
        Col(87, STRING, "of the new partitions, the one that exceeds its peers by most; null with fewer than 8 peers"),
    ] = None
    hot_partition_ratio: Annotated[
        float | None,
        Col(
            88, DOUBLE, "bytes of that partition, or its data files if that is less, divided by the median of its peers"
        ),
    ] = None
    shape_at: Annotated[
        Micros | None,
        Col(69, TIMESTAMPTZ, "commit whose files `debt_*`, `overlap_*` and `skew_*` describe; null: not computed"),
    ] = None
    # partitions
    partitions: Annotated[
        list[PartitionFact] | None,
        Col(70, ListOf(71, StructOf(columns_of(PartitionFact))), "partition states, see partitions_scope"),
    ] = None
    partitions_scope: Annotated[
        str | None,
        Col(72, STRING, "`changed`: every partition that differs from row partitions_base; `full`: the 1,000 largest"),
    ] = None
    partitions_base: Annotated[int | None, Col(73, LONG, "snapshot that a `changed` row differs from")] = None
    # provenance
    tier: Annotated[str | None, Col(74, STRING, "deepest level read: `summary`, `manifest_list` or `entries`")] = None
    status: Annotated[str | None, Col(75, STRING, "`ok`, `partial` or `unreadable`")] = None
    problems: Annotated[list[str] | None, Col(76, ListOf(77, STRING), "problem codes")] = None
    summary_mismatch: Annotated[
        list[str] | None, Col(78, ListOf(79, STRING), "summary keys that disagree with the manifests")
    ] = None
    source: Annotated[str | None, Col(80, STRING, "`poll`, `push` or `backfill`")] = None
    observed_at: Annotated[Micros | None, Col(81, TIMESTAMPTZ, "when the row was extracted")] = None
    run_id: Annotated[str | None, Col(82, STRING, "pipeline run that wrote the row")] = None
    extractor_version: Annotated[str | None, Col(83, STRING, "version of the program that extracted it")] = None
    # not a column: becomes a row of `column_stats`
    column_stats: list[ColumnStat] | None = None


class ChangeFact(msgspec.Struct, frozen=True, kw_only=True):
    """Changes that create no snapshot, and everything about names and health. `kind` is one of change_kinds.py."""

    table_uuid: Annotated[
        str | None, Col(1, STRING, "identity of the table; null for a name that was never readable")
    ] = None
    catalog: Annotated[str | None, Col(2, STRING, "catalog name when observed")] = None
    namespace: Annotated[str | None, Col(3, STRING, "namespace levels joined with `.`")] = None
    table: Annotated[str | None, Col(4, STRING, "table name when observed")] = None
    kind: Annotated[str, Col(5, STRING, "kind of change, see below", True)]
    subject: Annotated[str | None, Col(6, STRING, "ref name, property key, table name, …, depending on the kind")] = (
        None
    )
    from_value: Annotated[str | None, Col(7, STRING, "value before")] = None
    to_value: Annotated[str | None, Col(8, STRING, "value after; ids are text")] = None
    not_before: Annotated[Micros | None, Col(9, TIMESTAMPTZ, "earliest possible instant of the change")] = None
    at: Annotated[Micros, Col(10, TIMESTAMPTZ, "when it happened or was first seen", True)]
    detail: Annotated[str | None, Col(11, STRING, "JSON: the schema, the spec; for `unreadable` a sentence")] = None
    metadata_location: Annotated[str | None, Col(12, STRING, "metadata file it was read from")] = None
    observed_at: Annotated[Micros | None, Col(13, TIMESTAMPTZ, "when the row was extracted")] = None
    run_id: Annotated[str | None, Col(14, STRING, "pipeline run that wrote the row")] = None
    extractor_version: Annotated[str | None, Col(15, STRING, "version of the program that extracted it")] = None


class MetaTable(NamedTuple):
    """A meta table: `partition` is `(column, transform)`, None where it has none; `sort` the order inside files."""

    name: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]
    partition: tuple[str, str] | None
    sort: tuple[str, ...]


SNAPSHOTS = MetaTable(
    "snapshots",
    columns_of(SnapshotFact),
    ("table_uuid", "snapshot_id"),
    ("committed_at", "day"),
    ("table_uuid", "committed_at"),
)
CHANGES = MetaTable(
    "changes",
    columns_of(ChangeFact),
    ("table_uuid", "kind", "subject", "to_value", "at"),
    ("at", "month"),
    ("table_uuid", "at"),
)
RUNS = MetaTable("runs", columns_of(RunFact), ("run_id", "status"), ("at", "month"), ("at",))
ALERTS = MetaTable(
    "alerts", columns_of(AlertFact), ("fingerprint", "starts_at", "status"), ("starts_at", "month"), ("starts_at",)
)
REPORTS = MetaTable("reports", columns_of(ReportFact), ("event_id",), ("at", "day"), ("at",))
LABELS = MetaTable("labels", columns_of(LabelFact), ("event_id",), ("at", "month"), ("at",))
EFFECTS = MetaTable(
    "effects",
    columns_of(EffectFact),
    ("table_uuid", "operation_id", "job_name", "measure", "runs_after"),
    ("committed_at", "month"),
    ("table_uuid", "committed_at"),
)
FINDINGS = MetaTable("findings", columns_of(FindingFact), ("finding_id", "seq"), ("at", "month"), ("table_uuid", "at"))
NOTES = MetaTable("notes", columns_of(NoteFact), ("event_id",), ("at", "month"), ("at",))
PLANS = MetaTable("plans", columns_of(PlanFact), ("plan_id", "seq"), ("at", "month"), ("table_uuid", "at"))
HOURLY = MetaTable(
    "snapshots_hourly", span_columns("hour"), ("table_uuid", "hour"), ("hour", "month"), ("table_uuid", "hour")
)
DAILY = MetaTable("snapshots_daily", span_columns("day"), ("table_uuid", "day"), None, ("table_uuid", "day"))
READS_HOURLY = MetaTable(
    "reads_hourly",
    columns_of(ReadsFact),
    ("table_uuid", "hour", "engine", "engine_version", "job_name"),
    ("hour", "month"),
    ("table_uuid", "hour"),
)
COLUMN_STATS = MetaTable(
    "column_stats",
    columns_of(ColumnStatsFact),
    ("table_uuid", "snapshot_id"),
    ("committed_at", "day"),
    ("table_uuid", "committed_at"),
)
COLUMN_DAYS = MetaTable(
    "column_stats_daily", columns_of(ColumnDaysFact), ("table_uuid", "day"), ("day", "month"), ("table_uuid", "day")
)
FORECASTS = MetaTable(
    "forecasts",
    columns_of(ForecastFact),
    FORECAST_KEY,
    ("as_of", "day"),
    ("table_uuid", "as_of"),
)
MAINTENANCE = MetaTable(
    "maintenance", columns_of(MaintenanceFact), ("run_id", "status"), ("started_at", "month"), ("table", "started_at")
)
META_TABLES = (
    *(SNAPSHOTS, CHANGES, RUNS, ALERTS, REPORTS, LABELS, EFFECTS, FINDINGS, NOTES, PLANS),
    *(HOURLY, DAILY, READS_HOURLY, COLUMN_STATS, COLUMN_DAYS, FORECASTS, MAINTENANCE),
)
