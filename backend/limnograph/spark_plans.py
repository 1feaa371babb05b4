"""For `job_run`: scans and commits of Iceberg tables in the plan of a Spark SQL execution, with the metrics that
Iceberg posted for them. Descriptions of plans hold literals: only names of tables and columns leave this module. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from limnograph.spark_conflicts import Ending, ending

MARK = "org.apache.iceberg."
"""In the types of Iceberg's metrics."""
WRITES = {
    "AppendData": "append",
    "OverwriteByExpression": "overwrite",
    "OverwritePartitionsDynamic": "overwrite",
    "ReplaceData": "overwrite",
    "WriteDelta": "row_delta",
    "WriteToDataSourceV2": "append",
    "DeleteFromTable": "delete",
    "TruncateTable": "delete",
}
"""Nodes of Spark that commit -> column `operation`."""
_STREAMED = "MicroBatchScan"
ALONE = ("DeleteFromTable", "TruncateTable")
"""Writes without metrics."""
_METADATA_TABLE = re.compile(
    r"(all_)?(data_files|delete_files|entries|files|manifests)|history|metadata_log_entries|partitions|position_deletes"
    r"|refs|snapshots"
)
_SCAN = re.compile(r" Iceberg\w*Scan\(table=(.+?), schemaId=(\d+), snapshotId=(-?\d+|null), branch=(.+?), filters=(.*)")
_WRITE = re.compile(r"Iceberg\w*Write\(table=(.+?), format=")
_ALONE = re.compile(r"(?:DeleteFromTable|TruncateTable) ([^\s,]+)")
_END = re.compile(r", (runtimeFilters=((?!, runtimeFilters=).)*, )?groupedBy=((?!, groupedBy=).)*$")
"""What follows the filters in a description."""
_COLUMN = re.compile(r"([^\[,]+)#\d+L?(?=, |\])")
_NANOSECONDS = 1_000_000
_NAMES = {
    "TotalDataFileSize": "total-file-size-in-bytes",
    "TotalDeleteFileSize": "total-delete-file-size-in-bytes",
    "AddedFileSizeInBytes": "added-files-size-bytes",
    "RemovedFileSizeInBytes": "removed-files-size-bytes",
    "TotalFileSizeInBytes": "total-files-size-bytes",
}
"""Classes of metrics whose names in Iceberg's reports differ from their own."""
Columns = Callable[[str, str], Sequence[str] | None]


@dataclass(frozen=True)
class Execution:
    """A Spark SQL execution that ended. Times in epoch ms; `error`: a stack trace, or empty; `nodes`: its plan graph;
    `values`: metrics by the id of their accumulator, as Spark shows them. `of_stream`: whether it is a batch of a
    stream; `read_to`: the snapshot up to which that batch read its only Iceberg table.
    """

    number: int
    submitted: int
    completed: int
    error: str
    nodes: Sequence[Mapping[str, Any]]
    values: Mapping[int, str]
    of_stream: bool = False
    read_to: int | None = None


@dataclass(frozen=True)
class PlannedScan:
    """A scan of a plan. `snapshot` None: not known. `on_main` false: of a branch. `streaming`: of a stream, which read
    what was added up to the snapshot.
    """

    table: str
    snapshot: int | None
    on_main: bool
    report: dict[str, Any]
    streaming: bool = False


def scans_and_commits(execution: Execution, columns: Columns) -> tuple[list[PlannedScan], list[dict[str, Any]]]:
    """Scans, and the reports of scans, queries and commits. `columns`: names of a table's columns, by schema id."""
    end = ending(execution.error)
    nodes = list(_flat(execution.nodes))
    if sum(node["name"].startswith(_STREAMED) for _, node in nodes) != 1:
        execution = replace(execution, read_to=None)
    scans = [scan for number, node in nodes if (scan := _scan(execution, number, node, columns))]
    reports = [scan.report for scan in scans]
    reports += _queries(execution, scans, end)
    target = next((scan for scan in scans if {"_file", "_pos"} & _attributes(scan, nodes)), None)
    reports += [found for number, node in nodes if (found := _commit(execution, number, node, target, end))]
    return scans, reports


def _scan(execution: Execution, number: int, node: Mapping[str, Any], columns: Columns) -> PlannedScan | None:
    streaming = node["name"].startswith(_STREAMED)
    posted = _posted(node, execution.values)
    found = _SCAN.search(node["desc"])
    table = found[1] if found else node["name"].removeprefix("BatchScan ")
    if not posted or "Scan" not in node["name"] or table.count(".") < 2 or _is_metadata_table(table):
        return None
    # A stream's node names the snapshot at which the stream began, and nothing is posted for its planning.
    planned = int(found[3]) if found and found[3] != "null" else None
    snapshot = execution.read_to if streaming else planned
    schema_id = found[2] if found else ""
    report = {
        **_about(execution, number, "scan", table),
        "rows": _shown(node, execution.values, "number of output rows"),
        "metrics": {} if streaming else posted,
    }
    if not streaming:
        report["columns"] = _output(node["desc"])
    if snapshot is not None:
        report["snapshot_id"] = str(snapshot)
    if found and not streaming:
        report["schema_id"] = int(schema_id)
        report["filter_columns"] = _named(found[5], lambda: columns(table, schema_id))
    return PlannedScan(table, snapshot, found is not None and found[4] in {"null", "main"}, report, streaming)


def _queries(execution: Execution, scans: Sequence[PlannedScan], end: Ending) -> Iterator[dict[str, Any]]:
    """One report per table that the execution read."""
    for number, table in enumerate(dict.fromkeys(scan.table for scan in scans)):
        mine = [scan for scan in scans if scan.table == table]
        snapshots = {scan.snapshot for scan in mine}
        rows = [scan.report["rows"] for scan in mine]
        report = {
            **_about(execution, number, "query", table),
            "wall_seconds": (execution.completed - execution.submitted) / 1000,
            "rows": None if None in rows else sum(rows),
            "outcome": end.outcome,
        }
        if len(snapshots) == 1 and None not in snapshots:
            report["snapshot_id"] = str(snapshots.pop())
        yield report


def _commit(
    execution: Execution, number: int, node: Mapping[str, Any], target: PlannedScan | None, end: Ending
) -> dict[str, Any] | None:
    operation = WRITES.get(node["name"])
    if operation is None:
        return None
    found = (_ALONE if node["name"] in ALONE else _WRITE).search(node["desc"])
    table = found[1] if found else target.table if target and operation == "row_delta" else None
    posted = _posted(node, execution.values)
    if table is None or table.count(".") < 2 or (not posted and node["name"] not in ALONE):
        return None
    report = {
        **_about(execution, number, "commit", table),
        "operation": operation,
        "outcome": end.outcome,
        "wall_seconds": (execution.completed - execution.submitted) / 1000,
        "streaming": execution.of_stream or node["name"] == "WriteToDataSourceV2",
    }
    if end.outcome == "ok":
        # Of a commit that failed, Iceberg posts counts of another commit, and of a stream it posts none.
        report["metrics"] = {} if node["name"] == "WriteToDataSourceV2" else posted
    else:
        report["conflict_kind"] = end.conflict_kind
        if target is not None and target.table == table and target.snapshot is not None:
            report["snapshot_id"] = str(target.snapshot)
    return report


def _about(execution: Execution, number: int, kind: str, table: str) -> dict[str, Any]:
    return {
        "kind": kind,
        "execution": execution.number,
        "node": number,
        "at": execution.completed,
        "table": table,
    }


def _flat(nodes: Sequence[Mapping[str, Any]]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Nodes with their numbers, those in clusters included, each set of accumulators once: Spark lists a reused scan
    several times.
    """
    seen: set[tuple[int, ...]] = set()
    waiting = list(nodes)
    while waiting:
        node = waiting.pop(0)
        waiting += node.get("nodes") or ()
        ids = tuple(sorted(metric["accumulatorId"] for metric in node.get("metrics") or ()))
        if ids and ids in seen:
            continue
        seen.add(ids)
        yield int(node["id"]), node


def _posted(node: Mapping[str, Any], values: Mapping[int, str]) -> dict[str, int]:
    """Iceberg's metrics of a node, by their names in Iceberg's reports; durations in nanoseconds."""
    found = {}
    for metric in node.get("metrics") or ():
        number = _number(values.get(metric["accumulatorId"]))
        if MARK in metric["metricType"] and number is not None:
            plain = metric["metricType"].rpartition(".")[2]
            name = _NAMES.get(plain) or re.sub(r"(?<=[a-z0-9])([A-Z])", r"-\1", plain).lower()
            found[name] = number * _NANOSECONDS if plain.endswith("Duration") else number
    return found


def _shown(node: Mapping[str, Any], values: Mapping[int, str], name: str) -> int | None:
    ids = (metric["accumulatorId"] for metric in node.get("metrics") or () if metric["name"] == name)
    return next((number for each in ids if (number := _number(values.get(each))) is not None), None)


def _number(text: str | None) -> int | None:
    digits = text.replace(",", "") if text else ""
    return int(digits) if digits.isascii() and digits.isdecimal() else None


def _output(description: str) -> list[str] | None:
    """Columns that the scan outputs, without Iceberg's own; None if Spark cut the list."""
    inside = description.partition("[")[2].partition("] Iceberg")[0] + "]"
    if " more fields" in inside:
        return None
    return [name for name in map(str.strip, _COLUMN.findall(inside)) if name[:1] != "_"]


def _attributes(scan: PlannedScan, nodes: Sequence[tuple[int, Mapping[str, Any]]]) -> set[str]:
    """Iceberg's own columns in the output of a scan: only that of a row-level operation's target has them."""
    node = next(node for number, node in nodes if number == scan.report["node"])
    return {name.strip() for name in _COLUMN.findall(node["desc"].partition("] Iceberg")[0] + "]")}


def _named(rest: str, columns: Callable[[], Sequence[str] | None]) -> list[str] | None:
    """Which of the table's columns a filter names; empty without a filter; None if they are not known. A literal may
    contain anything, so that only names of columns are looked for.
    """
    text = _END.sub("", rest)
    if not text:
        return []
    known = columns()
    if not known:
        return None
    text = re.sub(r"'[^']*'", "''", text)
    return [name for name in known if re.search(rf"(?<![\w.]){re.escape(name)}(?![\w.])", text)]


def _is_metadata_table(table: str) -> bool:
    levels = table.split(".")
    return len(levels) > 3 and _METADATA_TABLE.fullmatch(levels[-1]) is not None
