"""Meta tables of every released version are read, and upgraded in place, by this one."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.schema import index_by_id

from golden_tables import BEGIN, DAY, GOLDEN, append, catalog
from limnograph.adapters.embedded.engine import EmbeddedEngine
from limnograph.adapters.meta.housekeeping_reads import UpkeepReads
from limnograph.adapters.meta.schema import VERSION_PROPERTY
from limnograph.adapters.meta.tables import ensure_meta_tables
from limnograph.domain.facts.columns import walk_ids
from limnograph.domain.facts.events import RunFact, RunTable
from limnograph.domain.facts.meta_tables import META_TABLES, RUNS, SCHEMA_VERSION
from limnograph.ports.meta_upkeep import Where
from limnograph.ports.query_engine import MetaQuery

VERSIONS = sorted(folder.name for folder in GOLDEN.iterdir() if (folder / "expected.json").exists())


@pytest.fixture(params=VERSIONS)
def golden(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[SqlCatalog, dict[str, Any]]:
    """The tables of a version as a copy, and what they hold."""
    shutil.copytree(GOLDEN / request.param, tmp_path, dirs_exist_ok=True)
    expected = json.loads((tmp_path / "expected.json").read_text())
    opened = catalog(tmp_path)
    opened.create_namespace("limnograph")
    for name, location in expected["pointers"].items():
        opened.register_table(("limnograph", name), location)
    return opened, expected["rows"]


def read(opened: SqlCatalog, name: str) -> list[dict[str, Any]]:
    """Rows as they were written: instants as microseconds, without what is null."""
    table = next(table for table in META_TABLES if table.name == name)
    reads = UpkeepReads(lambda: opened, "limnograph")
    loaded = opened.load_table(("limnograph", name))
    columns = [c.name for c in table.columns if c.name in {f.name for f in loaded.schema().fields}]
    rows = reads.rows(table, reads.standing(table).position, columns, Where()).to_dicts()
    return [{key: value for key, value in row.items() if value is not None} for row in rows]


def simple(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Without the nested columns, whose Arrow form differs; in a fixed order."""
    nested = {
        "partitions",
        "summary",
        "tables",
        "labels",
        "projected_fields",
        "filter_columns",
        "snapshots",
        "users",
        "columns",
        "last_drops",
    }
    found = [{key: value for key, value in row.items() if key not in nested} for row in rows]
    return sorted(found, key=lambda row: json.dumps(row, sort_keys=True))


def test_the_present_version_has_its_golden_tables() -> None:
    assert f"v{SCHEMA_VERSION}" in VERSIONS, "run `python tests/support/golden_tables.py` and commit the folder"
    held = json.loads((GOLDEN / f"v{SCHEMA_VERSION}" / "expected.json").read_text())["rows"]
    assert set(held) == {table.name for table in META_TABLES}  # or a new column of the others needs no new version


def test_rows_are_read_as_they_were_written_before_and_after_the_upgrade(
    golden: tuple[SqlCatalog, dict[str, Any]],
) -> None:
    opened, expected = golden
    for name, rows in expected.items():
        assert simple(read(opened, name)) == simple(rows)
    created = ensure_meta_tables(opened, "limnograph")
    assert not set(created) & set(expected)
    for name, rows in expected.items():
        loaded = opened.load_table(("limnograph", name))
        assert loaded.properties[VERSION_PROPERTY] == str(SCHEMA_VERSION)
        table = next(table for table in META_TABLES if table.name == name)
        assert {c.name: c.field_id for c in table.columns} == {f.name: f.field_id for f in loaded.schema().fields}
        assert set(walk_ids(table.columns)) == set(index_by_id(loaded.schema()))
        assert simple(read(opened, name)) == simple(rows)


def test_golden_tables_are_readable_from_any_checkout(golden: tuple[SqlCatalog, dict[str, Any]]) -> None:
    opened, expected = golden
    for name in expected:
        table = opened.load_table(("limnograph", name))
        for snapshot in table.snapshots():
            for manifest in snapshot.manifests(table.io):
                entries = manifest.fetch_manifest_entry(table.io)
                for path in (manifest.manifest_path, *(entry.data_file.file_path for entry in entries)):
                    assert path.startswith("golden:/")


def test_the_server_reads_them_without_an_upgrade(golden: tuple[SqlCatalog, dict[str, Any]]) -> None:
    opened, expected = golden
    engine = EmbeddedEngine(lambda: opened, ("limnograph",))
    rows = engine.select(MetaQuery(table="snapshots"))
    assert rows["snapshot_id"].to_list() == [row["snapshot_id"] for row in expected["snapshots"]]
    assert rows["partitions"].to_list()[0][0]["data_files"] == 3
    assert engine.select(MetaQuery(table="snapshots", start=BEGIN, end=BEGIN + DAY)).height == 1
    assert engine.select(MetaQuery(table="changes", kinds=("ref",)))["at"].to_list() == [BEGIN + 5]
    told = [{"tables": None} | row for row in expected["runs"]]
    runs = msgspec.convert(engine.select(MetaQuery(table="runs")).to_dicts(), list[RunFact])
    assert runs == msgspec.convert(told, list[RunFact])


def test_a_row_with_this_versions_columns_is_written_alongside_older_ones(
    golden: tuple[SqlCatalog, dict[str, Any]], tmp_path: Path
) -> None:
    opened, expected = golden
    ensure_meta_tables(opened, "limnograph")
    wrote = RunTable(
        catalog="lake", namespace="sales", table="churn", role="writes", written_snapshot_id=7, ref="audit"
    )
    run = RunFact(run_id="new", status="ok", at=BEGIN + 9, tables=[wrote], written_snapshot_id=7)
    append(opened, tmp_path, RUNS, run, 99)
    rows = EmbeddedEngine(lambda: opened, ("limnograph",)).select(MetaQuery(table="runs"))
    assert msgspec.convert(rows.to_dicts(), list[RunFact])[-1] == run
    assert rows.height == len(expected["runs"]) + 1
