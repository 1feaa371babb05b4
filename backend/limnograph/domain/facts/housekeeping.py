"""Facts that housekeeping writes: columns of the hourly and daily roll-ups, and runs of maintenance.

Part of the single description: `meta_tables.py` defines meta tables from it. Field ids are literals because they are
permanent.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from limnograph.domain.facts.columns import DOUBLE, LONG, STRING, TIMESTAMPTZ, Col, Column
from limnograph.domain.time import Micros

DELTAS = {
    "added_data_files": 20,
    "added_delete_files": 21,
    "added_records": 22,
    "added_bytes": 23,
    "removed_data_files": 24,
    "removed_delete_files": 25,
    "removed_records": 26,
    "removed_bytes": 27,
}
"""Column of `snapshots` to sum -> field id of the sum."""
BY_REPLACE = {f"{name}_by_replace": field_id + 20 for name, field_id in DELTAS.items()}
"""The same sums over operation `replace` only: files that compaction rewrote, not those of writers."""
OPERATIONS = {"append": "appends", "overwrite": "overwrites", "replace": "replaces", "delete": "deletes"}
"""Operation -> column with its number of commits."""
STATES = {
    "total_data_files": 100,
    "total_delete_files": 104,
    "total_records": 108,
    "total_bytes": 112,
    "total_delete_bytes": 116,
    "total_position_deletes": 120,
    "total_equality_deletes": 124,
    "total_dvs": 128,
    "manifests": 132,
    "small_files": 136,
    "file_size_p50": 140,
    "live_snapshots": 144,
    "metadata_bytes": 148,
    "partitions_total": 152,
    "skew_max_over_median": 156,
}
"""Column of `snapshots` that is a state of the table -> field id of the first of its four columns."""
RATIOS = frozenset({"skew_max_over_median"})
"""States that are no integers."""
ENDS = {
    "first": "after the first change of main; null: unknown",
    "last": "after the last change of main; null: unknown",
    "min": "smallest known value along main",
    "max": "largest known value along main",
}
"""Summaries of a state over a span; each is a column `<state>_<end>`."""


def span_columns(unit: str) -> tuple[Column, ...]:
    """Columns of a roll-up by `hour` or `day`, which differ only in the name of the span."""
    return (
        Column("table_uuid", 1, STRING, "identity of the table's history", required=True),
        Column(unit, 2, TIMESTAMPTZ, f"start of the {unit}, UTC", required=True),
        Column("catalog", 3, STRING, "catalog name when last observed"),
        Column("namespace", 4, STRING, "namespace levels joined with `.`"),
        Column("table", 5, STRING, "table name when last observed"),
        Column("format", 6, STRING, "`iceberg`, `delta` or `hudi`"),
        Column("commits", 7, LONG, f"snapshots committed in the {unit}, on any branch"),
        Column("unknown_commits", 8, LONG, "of these, snapshots with an unknown delta, which the sums exclude"),
        *(Column(n, 9 + i, LONG, f"commits with operation `{o}`") for i, (o, n) in enumerate(OPERATIONS.items())),
        Column("other_operations", 13, LONG, "commits with another or unknown operation"),
        Column("changed_partitions", 14, LONG, "sum over the commits"),
        Column("main_moves", 15, LONG, f"entries of main's log in the {unit}; 0: the previous state continues"),
        Column(
            "main_snapshot_id", 16, LONG, f"snapshot that main pointed to at the end of the {unit}; null: no change"
        ),
        *(Column(name, field_id, LONG, "sum over the commits") for name, field_id in DELTAS.items()),
        *(Column(name, field_id, LONG, "sum over commits `replace`") for name, field_id in BY_REPLACE.items()),
        *(
            Column(f"{name}_{end}", field_id + i, DOUBLE if name in RATIOS else LONG, f"`{name}` {text}")
            for name, field_id in STATES.items()
            for i, (end, text) in enumerate(ENDS.items())
        ),
        Column(
            "source_sequence", 60, LONG, "sequence number of the head of `snapshots` that the row was computed from"
        ),
        Column("changes_sequence", 61, LONG, "the same of `changes`"),
        Column("rolled_at", 62, TIMESTAMPTZ, "when the row was computed"),
    )


class MaintenanceFact(msgspec.Struct, frozen=True, kw_only=True):
    """One run of maintenance over one table, with what it found and what it left."""

    run_id: Annotated[str, Col(1, STRING, "id of the run", True)]
    status: Annotated[str, Col(2, STRING, "`ok` or `failed`", True)]
    kind: Annotated[
        str | None,
        Col(3, STRING, "`rollup`, `forecast`, `retention`, `compact`, `manifests`, `expire` or `orphans`"),
    ] = None
    catalog: Annotated[str | None, Col(4, STRING, "catalog of the table")] = None
    namespace: Annotated[str | None, Col(5, STRING, "namespace levels joined with `.`")] = None
    table: Annotated[str | None, Col(6, STRING, "table name")] = None
    subject: Annotated[str | None, Col(7, STRING, "the part: the day or month that was compacted")] = None
    started_at: Annotated[Micros | None, Col(8, TIMESTAMPTZ, "start of the run")] = None
    ended_at: Annotated[Micros | None, Col(9, TIMESTAMPTZ, "end of the run")] = None
    seconds: Annotated[float | None, Col(10, DOUBLE, "duration")] = None
    files_before: Annotated[int | None, Col(11, LONG, "live data files before")] = None
    files_after: Annotated[int | None, Col(12, LONG, "live data files after")] = None
    bytes_before: Annotated[int | None, Col(13, LONG, "bytes of live data files before")] = None
    bytes_after: Annotated[int | None, Col(14, LONG, "bytes of live data files after")] = None
    snapshots_before: Annotated[int | None, Col(15, LONG, "retained snapshots before")] = None
    snapshots_after: Annotated[int | None, Col(16, LONG, "retained snapshots after")] = None
    manifests_before: Annotated[int | None, Col(17, LONG, "manifests before")] = None
    manifests_after: Annotated[int | None, Col(18, LONG, "manifests after")] = None
    rows: Annotated[int | None, Col(19, LONG, "rows rolled up or deleted; `orphans`: files removed")] = None
    late_facts: Annotated[int | None, Col(20, LONG, "raw rows of days whose roll-up is closed")] = None
    problem: Annotated[str | None, Col(21, STRING, "reason of the failure, one sentence")] = None
    detail: Annotated[str | None, Col(22, STRING, "JSON: counts specific to this kind of run")] = None
