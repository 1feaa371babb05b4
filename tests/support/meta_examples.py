"""A small meta lake for the queries of `docs/cookbook.md`, and the answer of each."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Any

from pyiceberg.catalog.sql import SqlCatalog

from golden_tables import BEGIN, append
from limnograph.adapters.meta.tables import ensure_meta_tables
from limnograph.domain.facts.effects import EffectFact
from limnograph.domain.facts.events import AlertFact, ReportFact, RunFact, RunTable
from limnograph.domain.facts.findings import FindingFact
from limnograph.domain.facts.forecasts import ForecastFact
from limnograph.domain.facts.meta_tables import (
    ALERTS,
    CHANGES,
    DAILY,
    EFFECTS,
    FINDINGS,
    FORECASTS,
    REPORTS,
    RUNS,
    SNAPSHOTS,
    ChangeFact,
    MetaTable,
    PartitionFact,
    SnapshotFact,
)

BIG = 2**62 + 1
SECOND = 1_000_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE


def _place(table: str) -> dict[str, str]:
    return {"catalog": "lake", "namespace": "sales", "table": table}


def _snapshot(snapshot_id: int, minute: int, table: str, added: int | None, **fields: Any) -> SnapshotFact:
    place = {"table_uuid": f"u-{table}", **_place(table)}
    at = BEGIN + minute * MINUTE
    return SnapshotFact(snapshot_id=snapshot_id, committed_at=at, added_data_files=added, **place, **fields)


def _on_main(snapshot_id: int, minute: int, added: int, removed: int, total: int, **fields: Any) -> SnapshotFact:
    """A commit of `clicks` along main."""
    counts = {"removed_data_files": removed, "total_data_files": total}
    return _snapshot(snapshot_id, minute, "clicks", added, on_main=True, **counts, **fields)


def _partition(files: int, small: int) -> PartitionFact:
    return PartitionFact(partition="day=2026-01-01", data_files=files, small_files=small)


def _run(number: int, status: str, job: str, seconds: int | None, **fields: Any) -> RunFact:
    started = BEGIN + 2 * MINUTE
    ended = None if seconds is None else started + seconds * SECOND
    times = {"at": ended or started, "started_at": started, "ended_at": ended}
    return RunFact(run_id=f"r-{number}", status=status, job_name=job, **times, **fields)


def _report(number: int, kind: str, table: str, **fields: Any) -> ReportFact:
    return ReportFact(event_id=f"e-{number}", kind=kind, at=BEGIN, **_place(table), **fields)


def _finding(name: str, seq: int, code: str, state: str, hours: int | None = None) -> FindingFact:
    closed = None if hours is None else BEGIN + hours * HOUR
    place = {"table_uuid": "u-orders", **_place("orders")}
    times = {"at": closed or BEGIN, "opened_at": BEGIN, "closed_at": closed}
    return FindingFact(finding_id=name, seq=seq, code=code, state=state, severity="warning", **place, **times)


def _effect(operation: str, after: int, verdict: str, ratio: float) -> EffectFact:
    place = {"table_uuid": "u-clicks", **_place("clicks"), "committed_at": BEGIN}
    measured = {"measure": "duration", "action": "rewrite_data_files", "verdict": verdict, "ratio": ratio}
    return EffectFact(operation_id=operation, job_name="churn", runs_after=after, **place, **measured)


def _forecast(table: str, day: int, p_cross: float, warned: int | None, **outcome: Any) -> ForecastFact:
    """Of small files over seven days; `warned`: day on which the warning began."""
    times = {"as_of": BEGIN + day * 24 * HOUR, "warned_at": None if warned is None else BEGIN + warned * 24 * HOUR}
    place = {"table_uuid": f"u-{table}", **_place(table), "metric": "small_files", "hours": 168}
    numbers = {"threshold": 1_000.0, "p_cross": p_cross, "p_cross_if_maintained": 0.125}
    return ForecastFact(**place, **times, **numbers, alert=warned is not None, **outcome)


def _change(kind: str, minute: int, table: str, subject: str | None, to: str | None, **fields: Any) -> ChangeFact:
    place = {"table_uuid": f"u-{table}", "catalog": "lake", "namespace": "sales", "table": table}
    return ChangeFact(kind=kind, at=BEGIN + minute * MINUTE, subject=subject, to_value=to, **place, **fields)


FACTS: dict[MetaTable, list[Any]] = {
    SNAPSHOTS: [
        _snapshot(1, 0, "orders", 5, total_data_files=5),
        _snapshot(BIG, 1, "orders", 50_000, total_data_files=50_005),
        _snapshot(
            1,
            2,
            "carts",
            None,
            total_data_files=7,
            total_delete_files=6,
            total_delete_bytes=30,
            total_bytes=100,
            on_main=True,
        ),
        _on_main(1, 10, 100, 0, 100, operation="append", app_name="ingest", added_records=10),
        _on_main(
            2, 20, 10, 0, 110, operation="append", app_name="ingest", added_records=20, partitions=[_partition(9, 9)]
        ),
        _on_main(3, 21, 15, 0, 125, operation="append", app_name="ingest", added_records=30, live_snapshots=3),
        _on_main(4, 40, 5, 120, 10, operation="replace", app_name="compactor", partitions=[_partition(5, 2)]),
    ],
    CHANGES: [
        _change("ref", 0, "orders", "main", "1"),
        _change("ref", 1, "orders", "main", str(BIG), from_value="1"),
        _change("ref", 3, "orders", "main", "1", from_value=str(BIG)),
        _change("ref", 2, "carts", "main", "1"),
        _change("schema", 2, "orders", None, "1", from_value="0"),
        _change("unreadable", 1, "orders", "lake.sales.orders", "file_missing"),
        _change("unreadable", 2, "orders", "lake.sales.orders", None),
        _change("unreadable", 2, "carts", "lake.sales.carts", "metadata_unreadable"),
    ],
    RUNS: [
        _run(
            1,
            "ok",
            "load",
            60,
            tables=[
                RunTable(**_place("carts"), role="reads", read_snapshot_id=1),
                RunTable(**_place("orders"), role="writes", written_snapshot_id=BIG),
            ],
        ),
        _run(2, "failed", "load", 30),
        _run(3, "running", "load", None),
    ],
    ALERTS: [
        AlertFact(
            fingerprint="f", starts_at=BEGIN + 90 * SECOND, status="firing", alert_name="FileBurst", **_place("orders")
        )
    ],
    REPORTS: [
        _report(
            1,
            "scan",
            "orders",
            duration_seconds=2.5,
            result_data_files=30,
            skipped_data_files=10,
            filter_columns=["id"],
        ),
        _report(2, "scan", "orders", duration_seconds=0.5, result_data_files=30, skipped_data_files=10),
        _report(3, "commit", "orders", duration_seconds=4.0, attempts=3, operation="append"),
        _report(4, "commit", "orders", duration_seconds=4.0, attempts=1, operation="append"),
        _report(5, "commit", "orders", outcome="conflict", operation="overwrite", conflict_kind="files_added"),
    ],
    EFFECTS: [_effect("9", 8, "unknown", 0.9), _effect("9", 16, "helped", 0.75)],
    FINDINGS: [
        _finding("a", 1, "small_files", "open"),
        _finding("a", 2, "small_files", "closed", 3),
        _finding("b", 1, "file_burst", "open"),
    ],
    FORECASTS: [
        _forecast("orders", 0, 0.5, 0, judged_at=BEGIN + 7 * 24 * HOUR, crossed=True, maintained=False),
        _forecast("orders", 1, 0.75, 0, judged_at=BEGIN + 8 * 24 * HOUR, crossed=True, maintained=True),
        _forecast("clicks", 0, 0.75, 0, judged_at=BEGIN + 7 * 24 * HOUR, crossed=False, maintained=True),
        _forecast("orders", 9, 0.875, 9),
        _forecast("clicks", 9, 0.25, None),
    ],
    DAILY: [
        {
            "table_uuid": "u-orders",
            "day": dt.datetime(2026, 1, 1, tzinfo=dt.UTC),
            **_place("orders"),
            "total_delete_files_last": 4,
            "added_delete_files": 5,
            "removed_delete_files": 1,
        }
    ],
}
EXPECTED: Mapping[str, list[dict[str, Any]]] = {
    "Which commits added more than 10,000 data files?": [
        {"table": "orders", "snapshot_id": BIG, "added_data_files": 50_000}
    ],
    "Which tables had more than 20 % more data files within 5 minutes?": [
        {"table": "clicks", "snapshot_id": 3, "files_before": 100, "total_data_files": 125},
        {"table": "clicks", "snapshot_id": 1, "files_before": 0, "total_data_files": 100},
    ],
    "What is the state of each table, by the last snapshot that `main` pointed to?": [
        {"table": "carts", "total_data_files": 7},
        {"table": "orders", "total_data_files": 5},
    ],
    "What else changed: schemas, specs, properties, names?": [
        {"kind": "schema", "subject": None, "from_value": "0", "to_value": "1"}
    ],
    "Which tables are unreadable now, and why?": [{"subject": "lake.sales.carts", "problem": "metadata_unreadable"}],
    "Which partitions have the most small files?": [
        {"table": "clicks", "part": "day=2026-01-01", "data_files": 5, "small_files": 2}
    ],
    "Which writers make many commits of few rows?": [
        {"table": "clicks", "app_name": "ingest", "commits": 3, "mean_added_rows": 20.0, "added_data_files": 125}
    ],
    "When was each table last compacted, and by whom?": [
        {"table": "carts", "app_name": None, "removed_data_files": None},
        {"table": "orders", "app_name": None, "removed_data_files": None},
        {"table": "clicks", "app_name": "compactor", "removed_data_files": 120},
    ],
    "How did delete files grow, day by day?": [
        {"table": "orders", "total_delete_files_last": 4, "added_delete_files": 5, "removed_delete_files": 1}
    ],
    "Which tables hold delete files that no one merges, how many bytes, and since when?": [
        {"table": "carts", "total_delete_files": 6, "total_delete_bytes": 30, "delete_bytes_ratio": 0.3}
    ],
    "Which tables keep the most snapshots in their metadata?": [{"table": "clicks", "live_snapshots": 3}],
    "Which tables were rolled back, and to which commit?": [
        {"table": "orders", "from_snapshot_id": BIG, "to_snapshot_id": 1}
    ],
    "Which jobs fail, and how long do their runs take?": [
        {"job_name": "load", "runs": 2, "failed": 1, "mean_seconds": 45.0, "longest_seconds": 60}
    ],
    "Which scans spent more than a second on planning?": [{"table": "orders", "duration_seconds": 2.5}],
    "Of which tables do scans skip the fewest data files?": [
        {"table": "orders", "scans": 2, "opened": 60, "skipped": 20, "skipped_share": 0.25}
    ],
    "Which commits needed more than one attempt?": [{"table": "orders", "operation": "append", "attempts": 3}],
    "Which commits lost a race with another writer?": [
        {"table": "orders", "operation": "overwrite", "conflict_kind": "files_added"}
    ],
    "Which columns do scans filter, and how many files do they open?": [
        {"table": "orders", "filter_column": "id", "scans": 1, "opened": 30}
    ],
    "Which commit was the last one before each alert?": [
        {"alert_name": "FileBurst", "table": "orders", "snapshot_id": BIG}
    ],
    "Which findings are open now?": [{"code": "file_burst", "table": "orders"}],
    "How long do findings stay open, by code?": [{"code": "small_files", "closed": 1, "mean_hours": 3.0}],
    "Which tables are at risk now, and would maintenance prevent it?": [
        {"table": "orders", "metric": "small_files", "p_cross": 0.875, "p_cross_if_maintained": 0.125}
    ],
    "How many warnings of forecasts came true, by metric?": [
        {"metric": "small_files", "warnings": 2, "came_true": 1, "acted_upon": 1}
    ],
    "Did maintenance make jobs faster?": [
        {"action": "rewrite_data_files", "verdict": "helped", "measurements": 1, "mean_ratio": 0.75}
    ],
    "Which run wrote which commit?": [
        {"job_name": "load", "run_id": "r-1", "table": "orders", "snapshot_id": BIG, "added_data_files": 50_000}
    ],
}


def make(catalog: SqlCatalog, namespace: str = "limnograph") -> dict[str, str]:
    """Write the meta tables; newest metadata file by name."""
    ensure_meta_tables(catalog, namespace)
    for table, rows in FACTS.items():
        for number, row in enumerate(rows):
            append(catalog, None, table, row, number, namespace)
    return {table.name: catalog.load_table((namespace, table.name)).metadata_location for table in FACTS}


def told(question: str, columns: list[str], rows: list[tuple[Any, ...]]) -> list[dict[str, Any]]:
    """Rows by column, with the columns that are expected."""
    wanted = EXPECTED[question][0].keys()
    return [{name: value for name, value in zip(columns, row, strict=True) if name in wanted} for row in rows]
