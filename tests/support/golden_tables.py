"""Golden meta tables: written once by the version that a folder of `tests/golden` names, read by every later one.

`python tests/support/golden_tables.py` writes the folder of the present version; a released folder is never written
again. Locations in them begin with `golden:/`, so they can be read from wherever a checkout, or a copy, lies.
"""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.io.pyarrow import PyArrowFile, PyArrowFileIO
from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
from pyiceberg.table import Table
from pyiceberg.typedef import Record

from lakes import path_of
from limnograph.adapters.meta.schema import arrow_schema, arrow_table
from limnograph.adapters.meta.tables import ensure_meta_tables
from limnograph.domain.facts.column_stats import ColumnDaysFact, ColumnStat, ColumnStatsFact
from limnograph.domain.facts.effects import EffectFact
from limnograph.domain.facts.events import AlertFact, LabelFact, ReportFact, RunFact, RunTable
from limnograph.domain.facts.findings import FindingEffectFact, FindingFact
from limnograph.domain.facts.forecasts import ForecastFact
from limnograph.domain.facts.housekeeping import MaintenanceFact
from limnograph.domain.facts.meta_tables import (
    ALERTS,
    CHANGES,
    COLUMN_DAYS,
    COLUMN_STATS,
    DAILY,
    EFFECTS,
    FINDINGS,
    FORECASTS,
    HOURLY,
    LABELS,
    MAINTENANCE,
    NOTES,
    PLANS,
    READS_HOURLY,
    REPORTS,
    RUNS,
    SCHEMA_VERSION,
    SNAPSHOTS,
    ChangeFact,
    MetaTable,
    PartitionFact,
    SnapshotFact,
)
from limnograph.domain.facts.notes import NoteFact
from limnograph.domain.facts.plans import PlanFact
from limnograph.domain.facts.reads import ColumnCount, ReadsFact, SnapshotReads

GOLDEN = Path(__file__).parents[1] / "golden"
DAY = 86_400_000_000
BEGIN = 20_454 * DAY  # 2026-01-01


class GoldenIO(PyArrowFileIO):
    """Storage of `golden:/x`: file x below property `golden.root`."""

    def new_input(self, location: str) -> PyArrowFile:
        return super().new_input(self._mapped(location))

    def new_output(self, location: str) -> PyArrowFile:
        made = super().new_output(self._mapped(location))
        made._location = location  # a manifest list names its manifests by this
        return made

    def _mapped(self, location: str) -> str:
        return location.replace("golden:/", f"{self.properties['golden.root']}/", 1)


def catalog(root: Path) -> SqlCatalog:
    """A catalog of golden tables below a folder, itself in memory."""
    io = {"py-io-impl": "golden_tables.GoldenIO", "golden.root": str(root)}
    return SqlCatalog("golden", uri="sqlite://", warehouse="golden:/", **io)


def facts() -> dict[MetaTable, list[Any]]:
    """What stands in the tables of this version: a little of every kind of column."""
    parts = [PartitionFact("day=2026-01-01", spec_id=0, data_files=3, bytes=900, last_committed_at=BEGIN)]
    first = SnapshotFact(
        table_uuid="u-1",
        snapshot_id=2**62 + 1,
        catalog="lake",
        namespace="sales",
        table="orders",
        format="iceberg",
        committed_at=BEGIN + 5,
        operation="append",
        on_main=True,
        refs=["main"],
        summary={"operation": "append", "added-data-files": "3"},
        total_data_files=3,
        total_bytes=900,
        added_data_files=3,
        file_size_histogram=[3] + [0] * 20,
        skew_gini=0.25,
        partitions=parts,
        partitions_scope="full",
        tier="entries",
        status="ok",
        problems=[],
        observed_at=BEGIN + 9,
        run_id="r-1",
    )
    second = SnapshotFact(table_uuid="u-1", snapshot_id=-7, committed_at=BEGIN + DAY, status="partial", tier="summary")
    moved = ChangeFact(table_uuid="u-1", kind="ref", subject="main", to_value=str(2**62 + 1), at=BEGIN + 5)
    named = ChangeFact(table_uuid="u-1", catalog="lake", kind="named", subject="lake.sales.orders", at=BEGIN)
    span = {"table_uuid": "u-1", "commits": 1, "total_data_files_last": 3, "main_moves": 1, "source_sequence": 1}
    reads = ReadsFact(
        table_uuid="u-1",
        hour=BEGIN,
        engine="spark",
        scans=2,
        planning_count=2,
        planning_seconds_p95=0.25,
        last_at=BEGIN + 8,
        source_sequence=1,
        filter_columns=[ColumnCount("id", 2)],
        snapshots=[SnapshotReads(2**62 + 1, 2, 1, BEGIN + 8)],
    )
    column = ColumnStat(1, "id", "long", values=100, nulls=3, lower="-7", upper="12")
    stats = ColumnStatsFact(
        table_uuid="u-1", snapshot_id=-7, committed_at=BEGIN, writer="etl", added_data_files=1, columns=[column]
    )
    days = ColumnDaysFact(table_uuid="u-1", day=BEGIN, commits=1, columns=[column], source_sequence=1)
    run = MaintenanceFact(run_id="m-1", status="ok", kind="expire", table="snapshots", started_at=BEGIN, seconds=0.5)
    forecast = ForecastFact(
        table_uuid="u-1",
        metric="small_files",
        as_of=BEGIN,
        hours=168,
        threshold=1000.0,
        p50=900.5,
        p_cross=0.75,
        last_drops=[BEGIN - DAY],
        alert=True,
        crossed=True,
        crossed_at=BEGIN + DAY,
    )
    return {
        SNAPSHOTS: [first, second],
        CHANGES: [named, moved],
        HOURLY: [span | {"hour": BEGIN}],
        DAILY: [span | {"day": BEGIN}],
        READS_HOURLY: [reads],
        COLUMN_STATS: [stats],
        COLUMN_DAYS: [days],
        FORECASTS: [forecast],
        MAINTENANCE: [run],
        **told(),
    }


def told() -> dict[MetaTable, list[Any]]:
    """What came through the inbox."""
    read = RunTable(catalog="lake", namespace="sales", table="orders", role="reads", read_snapshot_id=2**62 + 1)
    lineage = '{"columnLineage":{"fields":{"id":{"inputFields":[]}}}}'
    wrote = RunTable(catalog="lake", namespace="sales", table="churn", role="writes", written_snapshot_id=2**62 + 3)
    wrote = msgspec.structs.replace(wrote, ref="audit", facets=lineage)
    ended = RunFact(run_id="j-1", status="ok", job_name="churn", at=BEGIN + 7, ended_at=BEGIN + 7, tables=[read, wrote])
    ended = msgspec.structs.replace(ended, written_snapshot_id=2**62 + 3)
    fired = AlertFact(fingerprint="f-1", starts_at=BEGIN, status="firing", labels={"severity": "page"})
    scan = ReportFact(event_id="e-1", kind="scan", at=BEGIN, duration_seconds=0.25, projected_fields=["id"])
    scan = msgspec.structs.replace(scan, source="spark", job_name="churn", filter_columns=["id"], wall_seconds=1.5)
    lost = ReportFact(event_id="e-2", kind="commit", at=BEGIN, outcome="conflict", conflict_kind="files_added")
    said = LabelFact(event_id="l-1", at=BEGIN, kind="confirmed", table_uuid="u-1", snapshot_id=2**62 + 1)
    effect = EffectFact(
        table_uuid="u-1",
        operation_id=str(2**62 + 1),
        job_name="churn",
        measure="duration",
        runs_after=8,
        committed_at=BEGIN,
        verdict="helped",
        ratio=0.86,
    )
    finding = FindingFact(
        finding_id="f" * 32,
        seq=1,
        at=BEGIN + 5,
        table_uuid="u-1",
        code="file_burst",
        subject="",
        state="open",
        severity="warning",
        opened_at=BEGIN + 5,
        cause_snapshot_ids=[2**62 + 1],
        evidence={"files": "3"},
        effects=[FindingEffectFact(job_name="churn", verdict="slower", ratio=3.0, runs=6)],
    )
    note = NoteFact(
        event_id="n-1",
        at=BEGIN + 6,
        kind="ack",
        scope="finding",
        target="f" * 32,
        table_uuid="u-1",
        text="compaction is planned",
        author="ada",
        until=BEGIN + DAY,
        severity="warning",
    )
    plan = PlanFact(
        plan_id="a" * 32,
        seq=1,
        at=BEGIN + 7,
        state="proposed",
        attempt=1,
        table_uuid="u-1",
        action="rewrite_data_files",
        rule="compact",
        because=["small_files"],
        base_snapshot_id=2**62 + 1,
        arguments="{}",
        arguments_sha256="b" * 64,
        files_in=40,
        files_out=1,
        seconds_low=1.5,
        cost_mid=0.25,
        currency="USD",
        guards=["quiet"],
    )
    inbox = {RUNS: [ended], ALERTS: [fired], REPORTS: [scan, lost], LABELS: [said], EFFECTS: [effect]}
    return {**inbox, FINDINGS: [finding], NOTES: [note], PLANS: [plan]}


def plain(rows: list[Any]) -> list[dict[str, Any]]:
    """Facts as dictionaries without the columns that are null."""
    found = [row if isinstance(row, dict) else msgspec.to_builtins(row) for row in rows]
    return [{name: value for name, value in row.items() if value is not None} for row in found]


def write(root: Path) -> None:
    """Make the tables below `root`, and `expected.json` with what they hold."""
    made = catalog(root)
    ensure_meta_tables(made, "limnograph")
    for table, rows in facts().items():
        for number, row in enumerate(rows):
            append(made, root, table, row, number)
    pointers = {t.name: made.load_table(("limnograph", t.name)).metadata_location for t in facts()}
    for stale in root.glob("limnograph/*/metadata/*.metadata.json"):
        if not any(location.endswith(stale.name) for location in pointers.values()):
            stale.unlink()
    for folder in (*root.glob("limnograph/*/metadata"), *root.glob("limnograph/*")):
        if not any(folder.iterdir()):
            folder.rmdir()
    expected = {"pointers": pointers, "rows": {table.name: plain(rows) for table, rows in facts().items()}}
    (root / "expected.json").write_text(json.dumps(expected, indent=1, sort_keys=True) + "\n")


def append(
    made: SqlCatalog, root: Path | None, table: MetaTable, row: Any, number: int, namespace: str = "limnograph"
) -> None:
    """One commit of one file with one row."""
    loaded = made.load_table((namespace, table.name))
    if isinstance(row, dict):
        rows = pa.Table.from_pylist([row], schema=arrow_schema(table))
    else:
        rows = arrow_table(table, [row])
    location = f"{loaded.location()}/data/{number:05d}.parquet"
    with loaded.transaction() as transaction, transaction.update_snapshot().fast_append() as update:
        update.append_data_file(data_file(loaded, table, rows, location, root))


def data_file(loaded: Table, table: MetaTable, rows: pa.Table, location: str, root: Path | None = None) -> DataFile:
    """A file with rows of one partition, written. PyIceberg's own append needs its Rust core for partitions by day."""
    target = path_of(location) if root is None else Path(location.replace("golden:/", f"{root}/", 1))
    target.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(rows.cast(loaded.schema().as_arrow()), target, compression="zstd")
    return DataFile.from_args(
        content=DataFileContent.DATA,
        file_path=location,
        file_format=FileFormat.PARQUET,
        partition=Record(*_partition(table, rows)),
        record_count=rows.num_rows,
        file_size_in_bytes=target.stat().st_size,
        column_sizes={},
        value_counts={},
        null_value_counts={},
        nan_value_counts={},
        lower_bounds={},
        upper_bounds={},
        key_metadata=None,
        split_offsets=[4],
        equality_ids=None,
        sort_order_id=None,
        spec_id=0,
    )


def _partition(table: MetaTable, rows: pa.Table) -> list[int]:
    if table.partition is None:
        return []
    at = rows.column(table.partition[0])[0].as_py()
    days = (at.date() - dt.date(1970, 1, 1)).days
    return [(at.year - 1970) * 12 + at.month - 1 if table.partition[1] == "month" else days]


if __name__ == "__main__":
    write(GOLDEN / f"v{SCHEMA_VERSION}")
