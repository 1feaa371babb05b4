"""Body of `POST /api/v1/notify/spark`: scans, queries and commits of Iceberg tables, as `limnograph.spark_metrics`
reads them from Spark. Other fields are ignored.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from limnograph.domain.inbound.openlineage import Text

Count = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
EpochMillis = Annotated[int, msgspec.Meta(ge=0, le=32_503_680_000_000)]
SnapshotText = Annotated[str, msgspec.Meta(pattern=r"^-?[0-9]{1,19}$")]
ColumnNames = Annotated[list[Annotated[str, msgspec.Meta(max_length=1_000)]], msgspec.Meta(max_length=10_000)]
Operation = Literal["append", "overwrite", "row_delta", "delete"]
Conflict = Literal["lost_race", "files_added", "files_removed", "deletes_added", "schema_changed", "ref_moved", "other"]


class SparkReport(msgspec.Struct, frozen=True, kw_only=True):
    """One node of one Spark SQL execution. `at`: end of the execution, epoch ms. `table`: Spark's name of it.
    `metrics`: as Iceberg's reports name them, durations in nanoseconds. `streaming`: of a commit, whether a stream
    made it. What is not known is omitted.
    """

    kind: Literal["scan", "query", "commit"]
    execution: Count
    node: Count
    at: EpochMillis
    table: Text
    snapshot_id: SnapshotText | None = None
    schema_id: Annotated[int, msgspec.Meta(ge=0, lt=2**31)] | None = None
    columns: ColumnNames | None = None
    filter_columns: ColumnNames | None = None
    metrics: dict[str, Any] = {}
    rows: Count | None = None
    wall_seconds: Annotated[float, msgspec.Meta(ge=0)] | None = None
    operation: Operation | None = None
    outcome: Literal["ok", "conflict", "failed"] | None = None
    conflict_kind: Conflict | None = None
    streaming: bool | None = None


class SparkReports(msgspec.Struct, frozen=True, kw_only=True):
    """Reports of one run."""

    run_id: Text
    job_name: Text
    reports: Annotated[list[SparkReport], msgspec.Meta(max_length=1_000)]
    application_id: Text | None = None
    engine_version: Text | None = None
    user: Text | None = None
