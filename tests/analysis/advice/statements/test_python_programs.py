"""Generated Python programs, executed on real tables, and as Python's own parser reads them."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from hypothesis import given, settings

from hostile_names import NAMES, VALUES
from lakes import Lake, rows
from limnograph.analysis.advice.statements import delta, iceberg
from limnograph.analysis.advice.statements.delta import DeltaField, DeltaPartition
from limnograph.analysis.advice.statements.subject import StatementTable

TABLE = StatementTable("lake", ("sales",), "orders", "")
BOUNDED = settings(max_examples=100, deadline=None)


def run(program: str | None) -> dict[str, Any]:
    assert program is not None
    names: dict[str, Any] = {}
    exec(compile(program, "statement", "exec"), names)
    return names


def run_by_a_user(program: str | None, lake: Lake) -> None:
    """In a process of its own: PyIceberg reads the user's configuration of the catalog when it is imported."""
    given = {f"PYICEBERG_CATALOG__LAKE__{key.upper()}": value for key, value in lake.properties.items()}
    subprocess.run([sys.executable, "-c", program or "raise SystemExit(1)"], env={**os.environ, **given}, check=True)


def test_pyiceberg_expires_exactly_the_named_snapshots(lake: Lake) -> None:
    table = lake.table()
    for _ in range(4):
        table.append(rows("eu"))
    ids = [each.snapshot_id for each in table.snapshots()]
    made = iceberg.expire_snapshots(TABLE, [ids[0], ids[2]])
    files = {path for path in Path(lake.folder, "warehouse").rglob("*") if path.suffix in {".avro", ".parquet"}}
    run_by_a_user(made.statements.python, lake)
    assert [each.snapshot_id for each in lake.load().snapshots()] == [ids[1], ids[3]]
    assert "leaves their files" in made.notes["python"]
    assert all(path.exists() for path in files)


def test_pyiceberg_sets_properties(lake: Lake) -> None:
    lake.table()
    given_properties = {"it's": 'a"b\\', "write.distribution-mode": "hash"}
    run_by_a_user(iceberg.set_properties(TABLE, given_properties).statements.python, lake)
    assert lake.load().properties.items() >= given_properties.items()


def written(folder: Path) -> StatementTable:
    data = {"region": ["it's", "b", None], "day": ["2026-11-20", "2026-11-20", "2026-11-21"], "n": [1, 2, 3]}
    for _ in range(3):
        write_deltalake(folder, pa.table(data), mode="append", partition_by=["region", "day"])
    return StatementTable(None, (), None, str(folder))


def files(folder: Path) -> set[str]:
    return {str(Path(uri).relative_to(folder)) for uri in DeltaTable(folder).file_uris()}


def test_deltalake_compacts_the_files_of_its_partitions_only(tmp_path: Path) -> None:
    table, before = written(tmp_path), files(tmp_path)
    fields = (DeltaField("region", "string"), DeltaField("day", "date"))
    partitions = [DeltaPartition(fields, ("it's", "2026-11-20")), DeltaPartition(fields, (None, "2026-11-21"))]
    run(delta.optimize(table, partitions, 1_000_000).statements.python)
    after = files(tmp_path)
    assert len(before - after) == 6
    assert len(after - before) == 2
    assert {file for file in after if file.startswith("region=b/")} == {
        file for file in before if file.startswith("region=b/")
    }
    run(delta.optimize(table, None).statements.python)
    assert len(files(tmp_path)) == 3


def test_deltalake_lists_what_a_vacuum_removes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table, before = written(tmp_path), files(tmp_path)
    run(delta.optimize(table, None).statements.python)
    for log in (tmp_path / "_delta_log").glob("*.json"):  # removals carry the time of the commit
        text = log.read_text()
        stamp = str(int((time.time() - 9 * 86_400) * 1000))
        log.write_text(text.replace('"deletionTimestamp":', f'"deletionTimestamp":{stamp},"was":'))
    for file in before:
        os.utime(tmp_path / file, (time.time() - 9 * 86_400,) * 2)
    program = delta.vacuum(table, 168).statements.python
    run(program)
    assert len(ast.literal_eval(capsys.readouterr().out)) == 9
    assert all((tmp_path / file).exists() for file in before)
    listing, _, removal = (program or "").rpartition("# table.")
    run(f"{listing}table.{removal}")
    assert {file for file in before if (tmp_path / file).exists()} == before & files(tmp_path)


def test_deltalake_sets_properties(tmp_path: Path) -> None:
    table = written(tmp_path)
    run(delta.set_delta_properties(table, {"delta.appendOnly": "false"}).statements.python)
    assert DeltaTable(tmp_path).metadata().configuration == {"delta.appendOnly": "false"}


def literals(program: str | None) -> list[str]:
    """String literals in the order of the text, without names of modules."""
    assert program is not None
    nodes = [node for node in ast.walk(ast.parse(program)) if isinstance(node, ast.Constant)]
    nodes.sort(key=lambda node: (node.lineno, node.col_offset))
    return [node.value for node in nodes if isinstance(node.value, str)]


@BOUNDED
@given(NAMES, NAMES, NAMES, VALUES, VALUES)
def test_names_and_values_are_those_of_the_input(catalog: str, namespace: str, name: str, key: str, value: str) -> None:
    program = iceberg.set_properties(StatementTable(catalog, (namespace,), name, ""), {key: value}).statements.python
    assert literals(program) == [catalog, namespace, name, key, value]
    assert (program or "").replace("\n", "").isprintable()
    partition = DeltaPartition((DeltaField(key, "string"),), (value,))
    program = delta.optimize(StatementTable(None, (), None, name), [partition]).statements.python
    assert literals(program) == [name, key, "=", value]
