"""Plans as Spark 4.1.4 with Iceberg 1.11.0 shows them: which scans and commits are found, and that no literal is."""

from __future__ import annotations

import json
from typing import Any

import pytest

from limnograph.spark_conflicts import Ending, ending
from limnograph.spark_plans import Execution, scans_and_commits

METRIC = "v2Custom_org.apache.iceberg.spark.source.metrics."
POSTED = {"TotalPlanningDuration": "259", "ResultDataFiles": "3", "SkippedDataFiles": "1"}
COLUMNS = ["id", "region", "v", "v.deep", "x"]
FILTERED = (
    "BatchScan lake.db.t[id#52L, region#53, v#55] IcebergScan(table=lake.db.t, schemaId=0, "
    "snapshotId=1188556258019473995, branch={branch}, filters={filters}, runtimeFilters=, groupedBy=) "
    "RuntimeFilters: []"
)


def node(name: str, desc: str, number: int = 0, metrics: dict[str, str] | None = None) -> dict[str, Any]:
    listed = [
        {"name": key, "accumulatorId": 100 * number + place, "metricType": METRIC + key}
        for place, key in enumerate(POSTED if metrics is None else metrics)
    ]
    return {"id": number, "name": name, "desc": desc, "metrics": listed}


def scan(filters: str = "", branch: str = "null", number: int = 0) -> dict[str, Any]:
    return node("BatchScan lake.db.t", FILTERED.format(branch=branch, filters=filters), number)


def execution(*nodes: dict[str, Any], error: str = "", values: dict[int, str] | None = None) -> Execution:
    shown = {100 * number + place: text for number in range(9) for place, text in enumerate(POSTED.values())}
    return Execution(4, 1_000, 3_500, error, nodes, shown if values is None else values)


def told(*nodes: dict[str, Any], **given: Any) -> list[dict[str, Any]]:
    return scans_and_commits(execution(*nodes, **given), lambda _table, _schema: COLUMNS)[1]


@pytest.mark.parametrize(
    ("filters", "columns"),
    [
        ("", []),
        ("region IS NOT NULL, id IS NOT NULL, region = 'r1', id > 1500", ["id", "region"]),
        ("(id < 100 OR region IN ('r1', 'id'))", ["id", "region"]),
        ("v.deep = 5", ["v.deep"]),
        ("NOT (bucket(v, 16) = 3)", ["v"]),
        # Quotes in a literal are not escaped: what follows them may look like anything.
        ("region = 'O'Hara secret = 5 and needle'", ["region"]),
        ("region LIKE 'x, runtimeFilters=%'", ["region"]),
        ("nothing = 'known'", []),
    ],
)
def test_only_columns_of_the_table_leave_a_filter(filters: str, columns: list[str]) -> None:
    (found, query) = told(scan(filters))
    assert found["filter_columns"] == columns
    assert set(json.dumps([found, query]).split('"')) & {"secret", "needle", "r1", "O'Hara"} == set()
    assert not any(word in json.dumps([found, query]) for word in ("secret", "needle", "Hara", "1500"))
    assert query == {
        "kind": "query", "execution": 4, "node": 0, "at": 3_500, "table": "lake.db.t", "wall_seconds": 2.5,
        "rows": None, "outcome": "ok", "snapshot_id": "1188556258019473995",
    }  # fmt: skip


def test_columns_that_are_not_known_are_null_and_a_long_list_of_columns_too() -> None:
    reports = scans_and_commits(execution(scan("id = 5")), lambda _table, _schema: None)[1]
    assert reports[0]["filter_columns"] is None
    long = FILTERED.format(branch="null", filters="").replace("v#55", "... 5 more fields")
    assert told(node("BatchScan lake.db.t", long))[0]["columns"] is None
    assert told(scan())[0]["columns"] == ["id", "region", "v"]


def test_metrics_have_the_names_of_icebergs_reports() -> None:
    assert told(scan())[0]["metrics"] == {
        "total-planning-duration": 259_000_000,
        "result-data-files": 3,
        "skipped-data-files": 1,
    }


def test_a_scan_of_a_branch_is_no_read_of_main() -> None:
    scans, _ = scans_and_commits(execution(scan(branch="audit")), lambda *_: COLUMNS)
    assert [each.on_main for each in scans] == [False]


def test_a_reused_scan_counts_once_and_metadata_tables_and_other_sources_not_at_all() -> None:
    twice = told(scan(), {**scan(), "id": 5})
    assert [report["kind"] for report in twice] == ["scan", "query"]
    files = FILTERED.format(branch="null", filters="").replace("lake.db.t", "lake.db.t.files")
    assert told(node("BatchScan lake.db.t.files", files)) == []
    assert told(node("Scan csv", "Scan csv lake.db.t", metrics={})) == []
    assert told(scan(), values={}) == []  # nothing was posted: the execution did not run


def test_scans_inside_generated_code_are_found() -> None:
    assert len(told({"id": 1, "name": "WholeStageCodegen (1)", "desc": "", "metrics": [], "nodes": [scan()]})) == 2


def test_an_older_iceberg_has_a_table_and_metrics_but_no_snapshot() -> None:
    older = "BatchScan lake.db.t[id#1L] lake.db.t (branch=null) [filters=id = 5, groupedBy=] RuntimeFilters: []"
    found, query = told(node("BatchScan lake.db.t", older))
    assert (found["table"], found["metrics"]["result-data-files"]) == ("lake.db.t", 3)
    assert not {"snapshot_id", "filter_columns"} & (found.keys() | query.keys())


DELTA = node("WriteDelta", "WriteDelta org.apache.iceberg.spark.source.SparkPositionDeltaWrite@1", 1)
TARGET = node("BatchScan lake.db.t", FILTERED.format(branch="null", filters="").replace("v#55", "_file#1, _pos#2L"), 2)


@pytest.mark.parametrize(
    ("written", "operation"),
    [
        (node("AppendData", "AppendData IcebergWrite(table=lake.db.t, format=PARQUET)", 1), "append"),
        (node("ReplaceData", "ReplaceData IcebergWrite(table=lake.db.t, format=PARQUET)", 1), "overwrite"),
        (DELTA, "row_delta"),
        (node("DeleteFromTable", "DeleteFromTable lake.db.t, [region = 'secret'], x", 1, {}), "delete"),
    ],
)
def test_commits_have_the_operation_of_their_node(written: dict[str, Any], operation: str) -> None:
    commit = told(written, TARGET)[-1]
    assert (commit["kind"], commit["table"], commit["operation"], commit["outcome"]) == (
        "commit", "lake.db.t", operation, "ok",
    )  # fmt: skip
    refused = "org.apache.iceberg.exceptions.ValidationException: Cannot commit, missing data files: [secret]\n\tat x"
    lost = told(written, TARGET, error=refused)[-1]
    assert (lost["outcome"], lost["conflict_kind"]) == ("conflict", "files_removed")
    assert lost["snapshot_id"] == "1188556258019473995"
    assert "metrics" not in lost
    assert "secret" not in json.dumps([commit, lost])


COMMIT_FAILED = "org.apache.iceberg.exceptions.CommitFailedException: "
VALIDATION = "Caused by: org.apache.iceberg.exceptions.ValidationException: "


@pytest.mark.parametrize(
    ("error", "found"),
    [
        ("", Ending("ok")),
        ("java.lang.ArithmeticException: divide by zero", Ending("failed")),
        (COMMIT_FAILED + "Cannot commit: stale table metadata\n\tat x", Ending("conflict", "lost_race")),
        (COMMIT_FAILED + "Cannot commit db.t: metadata location a has changed from b", Ending("conflict", "lost_race")),
        (COMMIT_FAILED + "Requirement failed: branch main has changed: expected id 1", Ending("conflict", "lost_race")),
        (COMMIT_FAILED + "Requirement failed: current schema changed: 1 != 2", Ending("conflict", "schema_changed")),
        (COMMIT_FAILED + "Requirement failed: tag x was created concurrently", Ending("conflict", "ref_moved")),
        (COMMIT_FAILED + "something new", Ending("conflict", "other")),
        (VALIDATION + 'Found conflicting files that can contain records matching ref(name="id") == 5: [x]',
         Ending("conflict", "files_added")),
        (VALIDATION + "Found conflicting deleted files that can contain records matching true: [x]",
         Ending("conflict", "files_removed")),
        (VALIDATION + "Cannot commit, found new delete for replaced data file: x", Ending("conflict", "deletes_added")),
        (VALIDATION + "Found new conflicting delete files that can apply to x", Ending("conflict", "deletes_added")),
        (VALIDATION + "Found concurrently added DV for x", Ending("conflict", "deletes_added")),
        (VALIDATION + "Invalid schema: multiple fields for name a", Ending("failed")),
    ],
)  # fmt: skip
def test_an_exception_of_iceberg_is_a_kind_of_conflict(error: str, found: Ending) -> None:
    assert ending(error) == found
