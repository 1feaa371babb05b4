"""How a person may name a table of any format to `inspect`, and what is said of a place that is none."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from delta_log import DeltaLog, add
from hudi_timeline import HudiFolder, Stat
from limnograph.adapters.sandbox.board import ProgressBoard, shared_page
from limnograph.adapters.sandbox.messages import Inspect, StorageAccess
from limnograph.cli.inspect import command
from limnograph.domain.errors import InvalidInput, MetadataError
from limnograph.domain.metadata.inspection import InspectionReport
from limnograph.wiring.parsing import TableParser


def inspect(*arguments: str) -> dict[str, Any]:
    result = CliRunner().invoke(command, [*arguments, "--json"], catch_exceptions=False)
    found: dict[str, Any] = json.loads(result.stdout)
    assert (result.exit_code, found["status"]) == (0, "ok")
    return found


def unreadable(*arguments: str) -> dict[str, Any]:
    result = CliRunner().invoke(command, [*arguments, "--json"], catch_exceptions=False)
    found: dict[str, Any] = json.loads(result.stdout)
    assert (result.exit_code, found["status"]) == (3, "unreadable")
    assert (found["snapshots"], found["current"], len(found["problems"])) == ([], None, 1)
    assert found["table"]["metadata_location"]
    return found


def refused(*arguments: str) -> InvalidInput:
    with pytest.raises(InvalidInput) as wrong:
        CliRunner().invoke(command, [*arguments], catch_exceptions=False)
    return wrong.value


@pytest.fixture
def delta(tmp_path: Path) -> Path:
    log = DeltaLog(tmp_path / "delta")
    log.begin(add("a"))
    log.commit(add("b"))
    return log.folder


@pytest.fixture
def hudi(tmp_path: Path) -> Path:
    folder = HudiFolder(tmp_path / "hudi", 6)
    folder.commit(Stat("a", 10, 1))
    folder.commit(Stat("b", 10, 1))
    return folder.root


def test_a_delta_table_is_found_by_its_folder_its_log_and_a_file_in_there(delta: Path) -> None:
    log = f"{delta}/_delta_log"
    for location in (f"{delta}/", f"file://{delta}/", f"file:{delta}", log, f"{log}/", os.path.relpath(log)):
        found = inspect(location)
        assert (found["table"]["location"], found["current"]["data_files"]) == (f"file://{delta}", 2)
    older = inspect(os.path.relpath(f"{log}/{0:020}.json"), "--format", "delta")
    assert (older["table"]["location"], older["current"]["data_files"]) == (f"file://{delta}", 1)


def test_a_hudi_table_is_found_by_its_folder_its_timeline_and_a_file_in_there(hudi: Path) -> None:
    meta = f"{hudi}/.hoodie"
    for location in (f"{hudi}/", meta, f"{meta}/hoodie.properties", os.path.relpath(meta)):
        found = inspect(location)
        assert (found["table"]["location"], found["current"]["data_files"]) == (f"file://{hudi}", 2)
    identity = {inspect(place)["table"]["table_uuid"] for place in (str(hudi), os.path.relpath(hudi))}
    assert len(identity) == 1
    oldest = min(Path(meta).glob("*.commit"))
    assert inspect(str(oldest), "--format", "hudi")["current"]["data_files"] == 2


NOT_A_TABLE = {
    "empty": "not_a_table",
    "notes.txt": "not_a_table",
    "large.bin": "not_a_table",
    "part-0.parquet": "not_a_table",
    "lake": "not_a_table",
    "lake/day=1": "not_a_table",
    ".": "not_a_table",
    "not/there": "location_missing",
    "gone.metadata.json": "file_missing",
    "config.json": "format_version_unsupported",
    "list.metadata.json": "metadata_unreadable",
}


@pytest.fixture
def places(tmp_path: Path) -> Path:
    """A folder with all kinds of things that are no table."""
    (tmp_path / "empty").mkdir()
    (tmp_path / "notes.txt").write_text("no table")
    (tmp_path / "large.bin").write_bytes(bytes(100_000))
    (tmp_path / "part-0.parquet").touch()
    (tmp_path / "lake" / "day=1").mkdir(parents=True)
    (tmp_path / "lake" / "day=1" / "part-0.parquet").touch()
    (tmp_path / "config.json").write_text('{"a": 1}')
    (tmp_path / "list.metadata.json").write_text("[]")
    return tmp_path


def judge(parsing: TableParser, question: Inspect) -> None:
    """Raises the one problem of the document, as what there is no document of raises it."""
    (found,) = parsing.answer(question)
    assert isinstance(found, InspectionReport)
    (problem,) = found.document.problems
    assert (found.document.status, found.document.table.format) == ("unreadable", question.format or "iceberg")
    raise MetadataError(problem.code, problem.detail)


@pytest.mark.parametrize("table_format", [None, "iceberg", "delta", "hudi"])
@pytest.mark.parametrize("name", NOT_A_TABLE)
def test_a_location_that_is_not_a_table_is_unreadable_with_a_code_and_a_remedy(
    places: Path, name: str, table_format: str | None
) -> None:
    location = f"{places}/{name}"
    with shared_page() as page, pytest.raises(MetadataError) as none:
        judge(TableParser(StorageAccess({}, {}), ProgressBoard(page)), Inspect(table_format, location))
    if table_format in {None, "iceberg"} or not name.endswith(".json"):
        assert none.value.code == NOT_A_TABLE[name]
    else:
        assert none.value.code in {"not_a_table", "location_missing"}
    if none.value.code in {"not_a_table", "location_missing"}:
        assert none.value.detail.startswith(location)
        assert none.value.detail.endswith("pass the table's folder or one of its metadata files")


@pytest.mark.parametrize(("name", "options"), [("empty", []), ("not/there", ["--format", "delta"])])
def test_a_location_without_a_table_has_a_document_and_exit_status_3(
    places: Path, name: str, options: list[str]
) -> None:
    found = unreadable(f"{places}/{name}", *options)
    assert found["problems"][0]["code"] == NOT_A_TABLE[name]
    assert found["table"]["format"] == (options[1] if options else None)


def test_a_folder_of_parquet_files_is_named_as_one(places: Path) -> None:
    detail = unreadable(f"{places}/lake/day=1")["problems"][0]["detail"]
    assert "1 Parquet files without a table format, such as those of a Hive table" in detail


def test_the_text_view_has_the_same_code_and_exit_status(places: Path) -> None:
    result = CliRunner().invoke(command, [f"{places}/empty"], catch_exceptions=False)
    assert result.exit_code == 3
    assert result.stdout.startswith("unreadable")
    assert "not_a_table: " in result.stdout


def test_a_folder_that_is_not_a_complete_table_names_what_is_missing(tmp_path: Path) -> None:
    log = DeltaLog(tmp_path / "t")
    (log.log / "_last_checkpoint").write_text('{"version":3}')
    assert "no _delta_log with a commit or checkpoint" in unreadable(str(log.folder))["problems"][0]["detail"]
    (tmp_path / "i" / "metadata").mkdir(parents=True)
    (tmp_path / "i" / "metadata" / "snap-1.avro").touch()
    assert "no metadata/*.metadata.json" in unreadable(str(tmp_path / "i"))["problems"][0]["detail"]


def test_storage_that_does_not_respond_is_unavailable_with_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "AWS_ACCESS_KEY_ID": "",
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_ENDPOINT_URL": "http://127.0.0.1:9",
        "AWS_REGION": "eu-central-1",
        "AWS_MAX_ATTEMPTS": "1",
    }.items():
        monkeypatch.setenv(name, value)
    found = unreadable("s3://no-bucket-of-ours/orders")
    assert found["problems"][0]["code"] == "storage_unavailable"
    assert "AWS_ACCESS_KEY_ID" in found["problems"][0]["detail"]


@pytest.mark.skipif(shutil.which("setpriv") is None and os.geteuid() == 0, reason="root may read everything")
def test_a_folder_that_may_not_be_read_is_unavailable(delta: Path) -> None:
    (delta / "_delta_log").chmod(0)
    program = [sys.executable, "-m", "limnograph", "inspect", str(delta), "--json"]
    bound = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
    result = subprocess.run([*bound, *program], capture_output=True, text=True, check=False)
    (delta / "_delta_log").chmod(0o755)
    found = json.loads(result.stdout)
    assert (result.returncode, found["problems"][0]["code"]) == (3, "storage_unavailable")
    assert "Permission denied" in found["problems"][0]["detail"]
    assert "may read it" in found["problems"][0]["detail"]


def test_the_wrong_format_is_reported_together_with_the_right_one(delta: Path, hudi: Path) -> None:
    for folder, right, wrong in ((delta, "delta", "hudi"), (delta, "delta", "iceberg"), (hudi, "hudi", "delta")):
        error = refused(str(folder), "--format", wrong)
        assert (error.field, f"a {right} table, not {wrong}" in error.detail) == ("--format", True)
