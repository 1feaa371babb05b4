"""A small meta lake for the example queries of `docs/meta-tables.md`, and what each of them answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyiceberg.catalog.sql import SqlCatalog

from golden_tables import BEGIN, append
from limnograph.adapters.meta.tables import ensure_meta_tables
from limnograph.domain.facts.events import RunFact, RunTable
from limnograph.domain.facts.meta_tables import CHANGES, RUNS, SNAPSHOTS, ChangeFact, MetaTable, SnapshotFact

BIG = 2**62 + 1
MINUTE = 60_000_000


def _snapshot(snapshot_id: int, minute: int, table: str, added: int | None, **fields: Any) -> SnapshotFact:
    place = {"table_uuid": f"u-{table}", "catalog": "lake", "namespace": "sales", "table": table}
    at = BEGIN + minute * MINUTE
    return SnapshotFact(snapshot_id=snapshot_id, committed_at=at, added_data_files=added, **place, **fields)


def _change(kind: str, minute: int, table: str, subject: str | None, to: str | None, **fields: Any) -> ChangeFact:
    place = {"table_uuid": f"u-{table}", "catalog": "lake", "namespace": "sales", "table": table}
    return ChangeFact(kind=kind, at=BEGIN + minute * MINUTE, subject=subject, to_value=to, **place, **fields)


FACTS: dict[MetaTable, list[Any]] = {
    SNAPSHOTS: [
        _snapshot(1, 0, "orders", 5, total_data_files=5),
        _snapshot(BIG, 1, "orders", 50_000, total_data_files=50_005),
        _snapshot(1, 2, "carts", None, total_data_files=7),
    ],
    CHANGES: [
        _change("ref", 0, "orders", "main", "1"),
        _change("ref", 1, "orders", "main", str(BIG)),
        _change("ref", 3, "orders", "main", "1"),
        _change("ref", 2, "carts", "main", "1"),
        _change("schema", 2, "orders", None, "1", from_value="0"),
        _change("unreadable", 1, "orders", "lake.sales.orders", "file_missing"),
        _change("unreadable", 2, "orders", "lake.sales.orders", None),
        _change("unreadable", 2, "carts", "lake.sales.carts", "metadata_unreadable"),
    ],
    RUNS: [
        RunFact(
            run_id="r-1",
            status="ok",
            job_name="load",
            at=BEGIN + 2 * MINUTE,
            tables=[
                RunTable(catalog="lake", namespace="sales", table="carts", role="reads", read_snapshot_id=1),
                RunTable(catalog="lake", namespace="sales", table="orders", role="writes", written_snapshot_id=BIG),
            ],
        )
    ],
}
EXPECTED: Mapping[str, list[dict[str, Any]]] = {
    "Which commits added the most files?": [
        {"table": "orders", "snapshot_id": BIG, "added_data_files": 50_000},
        {"table": "orders", "snapshot_id": 1, "added_data_files": 5},
    ],
    "What is the state of each table, by the last snapshot that `main` pointed to?": [
        {"table": "carts", "total_data_files": 7},
        {"table": "orders", "total_data_files": 5},
    ],
    "What else changed: schemas, specs, properties, names?": [
        {"kind": "schema", "subject": None, "from_value": "0", "to_value": "1"}
    ],
    "Which tables are unreadable now, and why?": [{"subject": "lake.sales.carts", "problem": "metadata_unreadable"}],
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
