"""Facts that other programs and users report: job runs, alerts, reports of Iceberg clients, labels. Rows of four meta
tables. They arrive through the inbox, whose keys make repeats harmless. As for all facts, unknown numbers are None,
instants are epoch microseconds, and columns are only ever added.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from limnograph.domain.facts.columns import (
    BOOLEAN,
    DOUBLE,
    INT,
    LONG,
    STRING,
    TIMESTAMPTZ,
    Col,
    ListOf,
    MapOf,
    StructOf,
    columns_of,
)
from limnograph.domain.time import Micros


class RunTable(msgspec.Struct, frozen=True, kw_only=True):
    """A table that a run touches; element of `RunFact.tables`."""

    catalog: Annotated[
        str | None, Col(9, STRING, "catalog of the table; null if the producer's catalog is not configured")
    ] = None
    namespace: Annotated[str | None, Col(10, STRING, "namespace levels joined with `.`")] = None
    table: Annotated[str | None, Col(11, STRING, "table name")] = None
    role: Annotated[str | None, Col(12, STRING, "`reads` or `writes`")] = None
    read_snapshot_id: Annotated[int | None, Col(13, LONG, "snapshot that the run read")] = None
    location: Annotated[str | None, Col(15, STRING, "folder of the table, if reported by the producer")] = None
    written_snapshot_id: Annotated[int | None, Col(23, LONG, "snapshot that the run wrote")] = None
    ref: Annotated[str | None, Col(24, STRING, "branch or tag that was read or written; null: main")] = None
    metadata_table: Annotated[
        str | None, Col(25, STRING, "metadata table that was read: `files`, `snapshots`, …; null: the table's own rows")
    ] = None
    facets: Annotated[
        str | None, Col(26, STRING, "JSON: facets `columnLineage`, `lineage` and `masking` of OpenLineage, by name")
    ] = None


class RunFact(msgspec.Struct, frozen=True, kw_only=True):
    """One transition of a job run; key `(run_id, status)`. Accepted by `POST /api/v1/runs` and `/api/v1/lineage`."""

    run_id: Annotated[str, Col(1, STRING, "id of the run, given by its producer", True)]
    status: Annotated[str, Col(2, STRING, "`running`, `ok` or `failed`", True)]
    job_name: Annotated[str | None, Col(3, STRING, "name of the job")] = None
    application_id: Annotated[str | None, Col(4, STRING, "Spark application id, or the engine's equivalent")] = None
    started_at: Annotated[Micros | None, Col(5, TIMESTAMPTZ, "start of the run; null if only its end was reported")] = (
        None
    )
    ended_at: Annotated[Micros | None, Col(6, TIMESTAMPTZ, "end of the run; null while running")] = None
    tables: Annotated[
        list[RunTable] | None, Col(7, ListOf(8, StructOf(columns_of(RunTable))), "tables read and written")
    ] = None
    observed_at: Annotated[Micros | None, Col(14, TIMESTAMPTZ, "when the transition was accepted")] = None
    at: Annotated[
        Micros | None, Col(16, TIMESTAMPTZ, "when it happened: the start of `running`, the end of others")
    ] = None
    job_namespace: Annotated[str | None, Col(17, STRING, "OpenLineage namespace of the job")] = None
    parent_run_id: Annotated[str | None, Col(18, STRING, "run that this one is a part of")] = None
    engine: Annotated[str | None, Col(19, STRING, "engine that ran it: `spark`, `trino`, `flink`, …")] = None
    engine_version: Annotated[str | None, Col(20, STRING, "version of the engine")] = None
    message: Annotated[str | None, Col(21, STRING, "the producer's error message")] = None
    source: Annotated[str | None, Col(22, STRING, "`runs` or `openlineage`: the API that reported it")] = None
    written_snapshot_id: Annotated[
        int | None,
        Col(27, LONG, "snapshot that the run wrote, if only one; per table in `tables[].written_snapshot_id`"),
    ] = None
    read_bytes: Annotated[
        int | None, Col(28, LONG, "bytes that the run read from all its inputs, as its engine counted them")
    ] = None


class AlertFact(msgspec.Struct, frozen=True, kw_only=True):
    """One transition of an alert; key `(fingerprint, starts_at, status)`."""

    fingerprint: Annotated[str, Col(1, STRING, "hash of the alert's labels, as its sender gives it", True)]
    starts_at: Annotated[Micros, Col(2, TIMESTAMPTZ, "when the alert began to fire", True)]
    status: Annotated[str, Col(3, STRING, "`firing` or `resolved`", True)]
    ends_at: Annotated[Micros | None, Col(4, TIMESTAMPTZ, "when it was resolved; null while firing")] = None
    alert_name: Annotated[str | None, Col(5, STRING, "label `alertname`")] = None
    severity: Annotated[str | None, Col(6, STRING, "label `severity`")] = None
    catalog: Annotated[str | None, Col(7, STRING, "catalog of the table that it is about")] = None
    namespace: Annotated[str | None, Col(8, STRING, "namespace levels joined with `.`")] = None
    table: Annotated[str | None, Col(9, STRING, "table name")] = None
    job_name: Annotated[str | None, Col(10, STRING, "job that it is about")] = None
    labels: Annotated[dict[str, str] | None, Col(11, MapOf(12, 13, STRING, STRING), "all labels")] = None
    annotations: Annotated[dict[str, str] | None, Col(14, MapOf(15, 16, STRING, STRING), "all annotations")] = None
    generator_url: Annotated[str | None, Col(17, STRING, "sender's link to the expression")] = None
    group_key: Annotated[str | None, Col(18, STRING, "Alertmanager group key")] = None
    source: Annotated[str | None, Col(19, STRING, "`alertmanager` or `grafana`")] = None
    observed_at: Annotated[Micros | None, Col(20, TIMESTAMPTZ, "when the transition was accepted")] = None


class ReportFact(msgspec.Struct, frozen=True, kw_only=True):
    """One scan, commit or query, as an engine or an Iceberg client reported it; key `event_id`, assigned at acceptance.

    A query has a row per table that it read or wrote. No row contains a literal of a filter or a query's text.
    """

    event_id: Annotated[str, Col(1, STRING, "id of the report; a repeated report has the same id", True)]
    kind: Annotated[str | None, Col(2, STRING, "`scan`, `commit` or `query`")] = None
    at: Annotated[Micros | None, Col(3, TIMESTAMPTZ, "event time if reported, otherwise the time of acceptance")] = None
    catalog: Annotated[str | None, Col(4, STRING, "catalog of the table; null if unknown")] = None
    namespace: Annotated[str | None, Col(5, STRING, "namespace levels joined with `.`")] = None
    table: Annotated[str | None, Col(6, STRING, "table name")] = None
    location: Annotated[str | None, Col(7, STRING, "folder of the table, if reported")] = None
    snapshot_id: Annotated[
        int | None, Col(8, LONG, "snapshot that was read or committed; of a commit that failed, the one it built on")
    ] = None
    sequence_number: Annotated[int | None, Col(9, LONG, "sequence number of the commit")] = None
    operation: Annotated[
        str | None,
        Col(10, STRING, "operation of the commit; Spark: `append`, `overwrite`, `row_delta` or `delete`"),
    ] = None
    schema_id: Annotated[int | None, Col(11, INT, "schema of the scan")] = None
    filter: Annotated[str | None, Col(12, STRING, "null: filters contain data of the table, see `filter_columns`")] = (
        None
    )
    projected_fields: Annotated[list[str] | None, Col(13, ListOf(14, STRING), "columns that were read")] = None
    duration_seconds: Annotated[float | None, Col(15, DOUBLE, "planning of a scan, all attempts of a commit")] = None
    attempts: Annotated[int | None, Col(16, LONG, "attempts of a commit")] = None
    result_data_files: Annotated[int | None, Col(17, LONG, "data files that the scan must read")] = None
    result_delete_files: Annotated[int | None, Col(18, LONG, "delete files that the scan must apply")] = None
    skipped_data_files: Annotated[int | None, Col(19, LONG, "data files that the filter skipped")] = None
    scanned_data_manifests: Annotated[int | None, Col(20, LONG, "data manifests that planning read")] = None
    skipped_data_manifests: Annotated[int | None, Col(21, LONG, "data manifests that planning skipped")] = None
    total_file_bytes: Annotated[int | None, Col(22, LONG, "bytes of the data files that the scan must read")] = None
    added_data_files: Annotated[int | None, Col(23, LONG, "data files that the commit added")] = None
    removed_data_files: Annotated[int | None, Col(24, LONG, "data files that the commit removed")] = None
    metrics: Annotated[
        dict[str, str] | None, Col(25, MapOf(26, 27, STRING, STRING), "all metrics by name; durations in nanoseconds")
    ] = None
    metadata: Annotated[
        dict[str, str] | None,
        Col(28, MapOf(29, 30, STRING, STRING), "the client's engine, version and application: keys of an allow-list"),
    ] = None
    engine: Annotated[str | None, Col(31, STRING, "engine that scanned or committed")] = None
    engine_version: Annotated[str | None, Col(32, STRING, "version of the engine")] = None
    application_id: Annotated[str | None, Col(33, STRING, "Spark application id, or the engine's equivalent")] = None
    run_id: Annotated[str | None, Col(34, STRING, "job run that the report belongs to")] = None
    source: Annotated[
        str | None, Col(35, STRING, "`iceberg-rest`, `iceberg-report`, `openlineage`, `spark` or `trino`")
    ] = None
    observed_at: Annotated[Micros | None, Col(36, TIMESTAMPTZ, "when the report was accepted")] = None
    user: Annotated[str | None, Col(37, STRING, "user who ran the query or job")] = None
    query_id: Annotated[
        str | None, Col(38, STRING, "id that the engine gave the query; Spark: its execution in the application")
    ] = None
    job_name: Annotated[str | None, Col(39, STRING, "name of the job, or the source that a query's client named")] = (
        None
    )
    filter_columns: Annotated[
        list[str] | None,
        Col(40, ListOf(41, STRING), "columns that the scan's filter names; empty: no filter; null: not known"),
    ] = None
    wall_seconds: Annotated[
        float | None, Col(42, DOUBLE, "duration of the query, or of the one that committed, as its engine measured it")
    ] = None
    rows: Annotated[int | None, Col(43, LONG, "rows of the table that the query read")] = None
    read_bytes: Annotated[int | None, Col(44, LONG, "bytes of the table that the query read")] = None
    outcome: Annotated[
        str | None, Col(45, STRING, "`ok`, `conflict`: another commit prevented it, or `failed`: any other error")
    ] = None
    conflict_kind: Annotated[
        str | None,
        Col(
            46,
            STRING,
            "what the other commit did: `lost_race` (all attempts were too late), `files_added`, `files_removed`, "
            "`deletes_added`, `schema_changed`, `ref_moved` or `other`",
        ),
    ] = None
    streaming: Annotated[
        bool | None, Col(47, BOOLEAN, "whether a stream committed; null: not a commit, or not known")
    ] = None


class LabelFact(msgspec.Struct, frozen=True, kw_only=True):
    """A user's label on an explanation; key `event_id`, assigned at acceptance."""

    event_id: Annotated[str, Col(1, STRING, "id of the label", True)]
    at: Annotated[Micros | None, Col(2, TIMESTAMPTZ, "when the label was set")] = None
    kind: Annotated[str | None, Col(3, STRING, "`confirmed`, `rejected`, `expected`, or `withdrawn` (retracted)")] = (
        None
    )
    table_uuid: Annotated[str | None, Col(4, STRING, "identity of the table's history")] = None
    catalog: Annotated[str | None, Col(5, STRING, "catalog of the table")] = None
    namespace: Annotated[str | None, Col(6, STRING, "namespace levels joined with `.`")] = None
    table: Annotated[str | None, Col(7, STRING, "table name")] = None
    job_name: Annotated[str | None, Col(8, STRING, "job whose change is explained")] = None
    snapshot_id: Annotated[int | None, Col(9, LONG, "commit that explains it")] = None
    range_from: Annotated[Micros | None, Col(10, TIMESTAMPTZ, "start of the explained range")] = None
    range_to: Annotated[Micros | None, Col(11, TIMESTAMPTZ, "end of the explained range")] = None
    author: Annotated[str | None, Col(12, STRING, "user who set the label")] = None
    comment: Annotated[str | None, Col(13, STRING, "the user's comment")] = None
    observed_at: Annotated[Micros | None, Col(14, TIMESTAMPTZ, "when the label was accepted")] = None
