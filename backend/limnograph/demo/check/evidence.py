"""Evidence of the check: PyIceberg for meta table and lake, Spark for totals, HTTP for lanes."""

from __future__ import annotations

import time
import urllib.parse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from limnograph.demo.check.comparisons import Lane, MetaRow, SnapshotTotals
from limnograph.demo.lake.commits import LakeLocation, open_table
from limnograph.demo.requests import DemoServer, get_json
from limnograph.demo.story.plan import LIVE_APPEND_TABLE, LIVE_DELETE_TABLE, LIVE_JOB

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

META_NAMESPACE = "limnograph"
META_TABLE = f"{META_NAMESPACE}.snapshots"
COLUMNS = (
    "catalog",
    "namespace",
    "table",
    "table_uuid",
    "snapshot_id",
    "sequence_number",
    "committed_at",
    "metadata_location",
    "app_id",
    "total_data_files",
    "total_delete_files",
    "total_records",
)


class StoredMeta:
    """Port MetaTableReader over PyIceberg; each call reads the newest rows of catalog `lake`."""

    def __init__(self, place: LakeLocation) -> None:
        self._place = place

    def exists(self) -> bool:
        """Whether a pipeline has created the meta table."""
        from pyiceberg.exceptions import NoSuchTableError

        try:
            return open_table(self._place, META_TABLE).current_snapshot() is not None
        except NoSuchTableError:
            return False

    def rows(self) -> Sequence[MetaRow]:
        table = open_table(self._place, META_TABLE).scan("catalog = 'lake'", selected_fields=COLUMNS).to_arrow()
        return [_row(row) for row in table.to_pylist()]


def _row(row: dict[str, Any]) -> MetaRow:
    return MetaRow(
        table=f"{row['catalog']}.{row['namespace']}.{row['table']}",
        table_uuid=row["table_uuid"],
        snapshot_id=row["snapshot_id"],
        sequence_number=row["sequence_number"] or 0,
        committed_at=int(row["committed_at"].timestamp() * 1000),
        metadata_location=row["metadata_location"] or "",
        app_id=row["app_id"],
        totals=SnapshotTotals(row["total_data_files"], row["total_delete_files"], row["total_records"]),
    )


class CatalogLake:
    """Port ObservedTables over the shared catalog."""

    def __init__(self, place: LakeLocation) -> None:
        self._place = place

    def tables(self) -> Sequence[str]:
        from pyiceberg.catalog.sql import SqlCatalog

        catalog = SqlCatalog("lake", uri=self._place.uri, warehouse=self._place.warehouse)
        found = [name for namespace in catalog.list_namespaces() for name in catalog.list_tables(namespace)]
        return sorted(f"lake.{'.'.join(name)}" for name in found if name[0] != META_NAMESPACE)

    def snapshot_ids(self, metadata_location: str) -> set[int]:
        from pyiceberg.table import StaticTable

        return {one.snapshot_id for one in StaticTable.from_metadata(metadata_location).metadata.snapshots}


class SparkEngine:
    """Port Engine over Spark's metadata tables: no data file is opened, so placeholders do not matter."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark

    def totals(self, table: str, snapshot_id: int) -> SnapshotTotals:
        data = self._count(f"{table}.data_files", snapshot_id)
        deletes = self._count(f"{table}.delete_files", snapshot_id)
        return SnapshotTotals(int(data[0]), int(deletes[0]), int(data[1]))

    def _count(self, files: str, snapshot_id: int) -> Any:
        """Number of files and records in a metadata table."""
        query = f"select count(*), coalesce(sum(record_count), 0) from {files} version as of {snapshot_id}"  # noqa: S608
        return self._spark.sql(query).first()


class HttpTimelines:
    """Port TimelineAnswers over the server's API."""

    def __init__(self, server: DemoServer) -> None:
        self._server = server

    def lane(self, table: str, lane: str, start: int, end: int, *, step: int, job: str | None = None) -> Lane:
        parameters: dict[str, Any] = {"from": start, "to": end, "step": step, "lanes": lane}
        if job:
            parameters["job"] = job
        path = "/".join(urllib.parse.quote(part) for part in table.split("."))
        answer = self._server.get(f"/api/v1/tables/{path}/timeline?{urllib.parse.urlencode(parameters)}")
        found = answer["lanes"][0]
        return Lane(answer["t"], found["mid"] if found["kind"] == "band" else found["v"])


class RunningChain:
    """Port LiveChain. Waits for a commit that is newer than the start of the check."""

    def __init__(self, meta: StoredMeta, prometheus: str, since_ms: int, *, seconds: float = 150.0) -> None:
        self._meta, self._prometheus, self._since, self._seconds = meta, prometheus, since_ms, seconds

    def newest_commit(self) -> MetaRow | None:
        deadline = time.monotonic() + self._seconds
        tables = {f"lake.{LIVE_APPEND_TABLE}", f"lake.{LIVE_DELETE_TABLE}"}
        while time.monotonic() < deadline:
            fresh = [row for row in self._meta.rows() if row.table in tables and row.committed_at > self._since]
            if fresh:
                return max(fresh, key=lambda row: row.committed_at)
            time.sleep(2)
        return None

    def application_ids(self) -> set[str]:
        query = urllib.parse.urlencode({"query": f'spark_job_duration_seconds{{job_name="{LIVE_JOB}"}}'})
        answer = get_json(f"{self._prometheus}/api/v1/query?{query}")
        return {series["metric"].get("application_id", "") for series in answer["data"]["result"]}
