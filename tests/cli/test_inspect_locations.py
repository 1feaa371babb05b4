"""How a person may name a table of any format to `inspect`, and what is said of a place that is none."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from delta_log import DeltaLog, add
from hudi_timeline import HudiFolder, Stat
from limnograph.cli.inspect import command
from limnograph.domain.errors import InvalidInput


def inspect(*arguments: str) -> dict[str, Any]:
    result = CliRunner().invoke(command, [*arguments, "--json"], catch_exceptions=False)
    found: dict[str, Any] = json.loads(result.stdout)
    assert (result.exit_code, found["status"]) == (0, "ok")
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


def test_a_place_that_is_no_table_is_refused_with_what_was_looked_for(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "notes.txt").write_text("no table")
    (tmp_path / "part-0.parquet").touch()
    for name in ("empty", "notes.txt", "part-0.parquet", "not/there", "."):
        wrong = refused(str(tmp_path / name))
        assert wrong.field == "LOCATION"
        assert all(word in wrong.detail for word in ("no table", "_delta_log", ".hoodie", "metadata", "name the"))
    for table_format, sign in (("iceberg", "metadata.json"), ("delta", "_delta_log"), ("hudi", "hoodie.properties")):
        wrong = refused(str(tmp_path / "empty"), "--format", table_format)
        assert (wrong.field, sign in wrong.detail) == ("LOCATION", True)


def test_a_delta_log_without_a_commit_is_no_table(tmp_path: Path) -> None:
    log = DeltaLog(tmp_path / "t")
    (log.log / "_last_checkpoint").write_text('{"version":3}')
    assert "no _delta_log with a commit or checkpoint" in refused(str(log.folder)).detail


def test_the_wrong_format_is_told_together_with_the_right_one(delta: Path, hudi: Path) -> None:
    for folder, right, wrong in ((delta, "delta", "hudi"), (delta, "delta", "iceberg"), (hudi, "hudi", "delta")):
        error = refused(str(folder), "--format", wrong)
        assert (error.field, f"format {right}, not {wrong}" in error.detail) == ("--format", True)
