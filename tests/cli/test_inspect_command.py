"""`limnograph inspect` as other programs call it: its JSON, exit codes, sentences."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from lakes import Lake, path_of, rewrite_metadata, rows, strip_summaries
from limnograph.cli.inspect import command
from limnograph.domain.errors import InvalidInput

TOTALS = {"data_files", "delete_files", "records", "bytes", "position_deletes", "equality_deletes", "dvs"}


def inspect(*arguments: str) -> tuple[int, dict[str, Any]]:
    result = CliRunner().invoke(command, [*arguments, "--json"], catch_exceptions=False)
    return result.exit_code, json.loads(result.stdout)


def test_the_document_has_the_contracts_shape_and_the_tables_numbers(lake: Lake) -> None:
    table = lake.table()
    table.append(rows("eu", "us"))
    table.append(rows("eu"))
    code, found = inspect(table.location())
    assert code == 0
    assert list(found) == ["table", "status", "problems", "snapshots", "current"]
    head = table.metadata.current_snapshot_id
    assert found["table"] == {
        "format": "iceberg",
        "format_version": 2,
        "table_uuid": str(table.metadata.table_uuid),
        "location": table.location(),
        "metadata_location": table.metadata_location,
        "current_schema_id": 0,
        "default_spec_id": 0,
        "refs": {"main": {"type": "branch", "snapshot_id": str(head)}},
    }
    last = found["snapshots"][-1]
    assert set(last["totals"]) == TOTALS
    assert (last["snapshot_id"], last["parent_id"]) == (str(head), found["snapshots"][0]["snapshot_id"])
    assert last["added"] == {"data_files": 1, "delete_files": 0, "records": 1, "bytes": last["added"]["bytes"]}
    assert last["committed_at"] == table.metadata.snapshots[-1].timestamp_ms
    assert {k: v for k, v in found["current"].items() if k != "bytes"} == {
        "snapshot_id": str(head),
        "data_files": 3,
        "delete_files": 0,
        "records": 3,
        "partitions": 2,
    }


SHAPE = {
    "table": "format format_version table_uuid location metadata_location current_schema_id default_spec_id refs",
    "problems": "code detail snapshot_id",
    "snapshots": "snapshot_id parent_id sequence_number committed_at operation totals added removed manifests status"
    " summary_mismatch",
    "totals": "data_files delete_files records bytes position_deletes equality_deletes dvs",
    "added": "data_files delete_files records bytes",
    "removed": "data_files delete_files records bytes",
    "current": "snapshot_id data_files delete_files records bytes partitions",
}


def test_no_key_of_the_contract_is_missing_and_none_is_added(lake: Lake) -> None:
    table = lake.table()
    table.append(rows("eu"))
    table.append(rows("us"))

    def spoil(document: dict[str, Any]) -> None:
        document["refs"]["gone"] = {"snapshot-id": 1, "type": "tag"}
        document["snapshots"][0]["manifest-list"] += ".gone"

    _, found = inspect(rewrite_metadata(table, spoil))
    assert list(found) == ["table", "status", "problems", "snapshots", "current"]
    assert len(found["problems"]) == len(found["snapshots"]) == 2
    for snapshot in found["snapshots"]:
        for part in ("totals", "added", "removed"):
            assert list(snapshot[part]) == SHAPE[part].split()
    for name in ("problems", "snapshots"):
        assert all(list(item) == SHAPE[name].split() for item in found[name])
    assert [list(found[name]) for name in ("table", "current")] == [SHAPE["table"].split(), SHAPE["current"].split()]


def test_a_moved_table_is_read_through_a_path_map(lake: Lake, tmp_path: Path) -> None:
    table = lake.table()
    table.append(rows("eu"))
    home = path_of(table.location())
    moved = home.rename(tmp_path / "elsewhere")
    code, found = inspect(str(moved), "--path-map", f"{table.location()}={moved}")
    assert (code, found["status"], found["current"]["data_files"]) == (0, "ok", 1)
    code, found = inspect(str(moved))
    assert (code, found["status"]) == (0, "partial")
    assert found["problems"][0]["code"] == "manifest_list_refused"
    assert found["problems"][0]["snapshot_id"] == found["snapshots"][0]["snapshot_id"]
    assert str(table.metadata.snapshots[0].manifest_list) in found["problems"][0]["detail"]
    assert found["problems"][0]["detail"].endswith(f"--path-map {table.location()}={moved}")


def test_a_location_outside_the_tables_folder_is_read_when_it_is_allowed(lake: Lake, tmp_path: Path) -> None:
    table = lake.table()
    table.append(rows("eu"))
    beside = tmp_path / "beside"
    beside.mkdir()
    listed = path_of(table.metadata.snapshots[0].manifest_list)
    listed.rename(beside / listed.name)
    location = rewrite_metadata(
        table, lambda document: document["snapshots"][0].update({"manifest-list": f"file://{beside}/{listed.name}"})
    )
    _, found = inspect(location)
    assert "add it to [observe] roots, or use --path-map" in found["problems"][0]["detail"]
    assert inspect(location, "--path-map", f"{beside}={beside}")[1]["status"] == "ok"


def test_a_damaged_file_is_named_with_what_is_wrong(lake: Lake) -> None:
    table = lake.table()
    table.append(rows("eu"))
    table.append(rows("us"))
    first, second = (path_of(s.manifests(table.io)[0].manifest_path) for s in table.metadata.snapshots)
    first.unlink()
    second.write_bytes(second.read_bytes()[:-9])
    _, found = inspect(table.location())
    details = {(p["snapshot_id"], p["code"]): p["detail"] for p in found["problems"]}
    ids = [snapshot["snapshot_id"] for snapshot in found["snapshots"]]
    assert details[ids[0], "manifest_missing"].startswith(
        f"the counts come from the manifest list because a manifest does not exist: file://{first}: restore it "
    )
    assert f"a manifest is damaged: file://{second} (" in details[ids[1], "manifest_unreadable"]
    assert set(details) == {
        (ids[0], "manifest_missing"),
        (ids[1], "manifest_missing"),
        (ids[1], "manifest_unreadable"),
    }


def test_unknown_values_are_null_in_the_document(lake: Lake) -> None:
    table = lake.table()
    table.append(rows("eu"))
    location = rewrite_metadata(table, strip_summaries)
    path_of(table.metadata.snapshots[0].manifest_list).unlink()
    _, found = inspect(location)
    (snapshot,) = found["snapshots"]
    values = [*snapshot["totals"].values(), *snapshot["added"].values(), *snapshot["removed"].values()]
    assert values == [None] * len(values)


def test_an_unreadable_table_still_prints_its_document_and_exits_3(tmp_path: Path) -> None:
    cut = tmp_path / "v1.metadata.json"
    cut.write_text('{"format-version": 2, "loc')
    code, found = inspect(str(cut))
    assert (code, found["status"], found["snapshots"], found["current"]) == (3, "unreadable", [], None)
    assert found["problems"][0]["code"] == "metadata_unreadable"


def test_a_table_without_a_snapshot_has_no_current(lake: Lake) -> None:
    code, found = inspect(lake.table().metadata_location)
    assert (code, found["status"], found["snapshots"], found["current"]) == (0, "ok", [], None)


def test_wrong_usage_names_the_option() -> None:
    with pytest.raises(InvalidInput) as wrong:
        CliRunner().invoke(command, ["/x", "--path-map", "a"], catch_exceptions=False)
    assert wrong.value.field == "--path-map"
    assert CliRunner().invoke(command, ["/x", "--format", "parquet"]).exit_code == 2


def test_the_program_exits_2_with_one_sentence_and_needs_no_spark(lake: Lake) -> None:
    table = lake.table()
    table.append(rows("eu"))
    program = "import sys; sys.modules['pyspark'] = None; from limnograph.cli import main; main()"
    good = subprocess.run(
        [sys.executable, "-c", program, "inspect", table.location()], capture_output=True, text=True, check=False
    )
    assert (good.returncode, str(table.metadata.current_snapshot_id) in good.stdout) == (0, True)
    bad = subprocess.run(
        [sys.executable, "-m", "limnograph", "inspect", "/no", "--path-map", "a"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (bad.returncode, bad.stdout, len(bad.stderr.splitlines())) == (2, "", 1)


def test_a_location_on_a_store_that_is_not_read_is_unreadable() -> None:
    code, found = inspect("http://somewhere/t")
    assert (code, found["status"]) == (3, "unreadable")
    assert [problem["code"] for problem in found["problems"]] == ["location_refused"]
