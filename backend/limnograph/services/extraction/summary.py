"""Reads a snapshot summary: numbers, writer, and disagreements with the manifests."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from limnograph.domain.metadata.table import Snapshot

_COMPARED: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("total-data-files", ("total_data_files",)),
    ("total-delete-files", ("total_delete_files",)),
    ("total-records", ("total_records",)),
    ("total-files-size", ("total_bytes", "total_delete_bytes")),
    ("total-position-deletes", ("total_position_deletes",)),
    ("total-equality-deletes", ("total_equality_deletes",)),
    ("added-data-files", ("added_data_files",)),
    ("deleted-data-files", ("removed_data_files",)),
    ("added-delete-files", ("added_delete_files",)),
    ("removed-delete-files", ("removed_delete_files",)),
    ("added-records", ("added_records",)),
    ("deleted-records", ("removed_records",)),
    ("changed-partition-count", ("changed_partitions",)),
)


def number(summary: Mapping[str, str] | None, key: str) -> int | None:
    """A count of the summary; None if it is absent or not a plain number below 2^63."""
    text = (summary or {}).get(key)
    if text is None or not (text.isascii() and text.isdecimal()) or len(text) > 18:
        return None
    return int(text)


def compare(snapshot: Snapshot, numbers: Mapping[str, object]) -> list[str]:
    """Summary keys whose number differs from the counted one. Unknown numbers are not compared."""
    found: list[str] = []
    for key, columns in _COMPARED:
        said = number(snapshot.summary, key)
        counted = [value for column in columns if isinstance(value := numbers.get(column), int)]
        if said is not None and len(counted) == len(columns) and sum(counted) != said:
            found.append(key)
    return found


def writer_identity(summary: Mapping[str, str]) -> dict[str, Any]:
    """Columns of group `writer`, from the keys that engines write to summaries; None without such keys."""
    return {
        "engine": _engine(summary),
        "engine_version": summary.get("engine-version") or _signed(summary)[1],
        "app_id": _first(summary, "app-id", "spark.app.id"),
        "app_name": _first(summary, "app-name", "spark.app.name", "job.jobName"),
        "job_id": _first(summary, "flink.job-id", "kafka.connect.task-id", "job-id", "job.jobId"),
        "query_id": _first(
            summary, "trino_query_id", "spark.sql.streaming.queryId", "query-id", "operationParameters.queryId"
        ),
        "user": _first(summary, "trino_user", "user", "userName", "userId"),
    }


def _engine(summary: Mapping[str, str]) -> str | None:
    if named := summary.get("engine-name"):
        return named.lower()
    if signed := _signed(summary)[0]:
        return signed
    for prefix, engine in _SIGNS:
        if any(key.startswith(prefix) for key in summary):
            return engine
    return None


def _signed(summary: Mapping[str, str]) -> tuple[str | None, str | None]:
    """Engine and version in Delta's `engineInfo`: `Apache-Spark/3.5.3 Delta-Lake/3.4.0`, `delta-rs:py-1.6.6`; Trino
    writes its cluster there.
    """
    match = _ENGINE_INFO.match(summary.get("engineInfo", "")) or _CLUSTER.match(summary.get("clusterId", ""))
    if match is None:
        return None, None
    name = match["name"].lower()
    return _ENGINES.get(name, name), match["version"]


_ENGINE_INFO = re.compile(
    r"(?P<name>[A-Za-z][A-Za-z-]{0,60}?)[-/: ](?:py-|rust-)?v?(?P<version>\d[\w.+-]{0,60})", re.ASCII
)
_CLUSTER = re.compile(r"(?P<name>trino)-(?P<version>\d+)", re.ASCII)
_ENGINES = {
    "apache-spark": "spark",
    "databricks-runtime": "databricks",
    "flink-engine": "flink",
    "kernel": "delta-kernel",
}
_SIGNS = (("spark.app.id", "spark"), ("trino_", "trino"), ("flink.", "flink"), ("kafka.connect.", "kafka-connect"))


def _first(summary: Mapping[str, str], *keys: str) -> str | None:
    return next((summary[key] for key in keys if summary.get(key)), None)
