"""`limnograph advise LOCATION` as other programs call it: its JSON, exit codes and sentences, in every situation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from advice_shape import check
from delta_log import DeltaLog, add, info
from hudi_timeline import HudiFolder, Stat
from limnograph.cli.advise import command
from limnograph.domain.errors import InvalidInput
from metadata_writer import UNPARTITIONED, Field, MetadataTable

DAY_MS = 86_400_000


def run(*arguments: str) -> Result:
    return CliRunner().invoke(command, [*arguments], catch_exceptions=False)


def advise(*arguments: str, status: str = "ok", code: int = 0) -> dict[str, Any]:
    """The only table of the document, whose shape is that of the contract."""
    result = run(*arguments, "--json")
    document: dict[str, Any] = json.loads(result.stdout)
    check(document)
    (table,) = document["tables"]
    assert (table["status"], result.exit_code) == (status, code), document
    return table


def rules(table: dict[str, Any], name: str = "recommendations") -> list[str]:
    return [each["rule"] for each in table[name]]


def fragmented(folder: Path, version: int = 2, *, partition: tuple[Any, ...] = ("eu",), **writer: Any) -> MetadataTable:
    """40 small files in one partition, and a later commit to another one."""
    table = MetadataTable(folder, version=version, **writer)
    table.append(*(table.file(*partition, size=1 << 20) for _ in range(40)))
    table.tick(3_600_000)
    return table


@pytest.mark.parametrize("version", [1, 2, 3])
def test_a_fragmented_table_is_due_in_every_format_version(tmp_path: Path, version: int) -> None:
    table = fragmented(tmp_path, version)
    found = advise(str(tmp_path), "--now", str(table.now_ms), code=10)
    (plan,) = found["recommendations"]
    assert (plan["rule"], plan["action"], plan["scope"]["partitions"]) == (
        "compact",
        "rewrite_data_files",
        ["region=eu"],
    )
    assert (plan["predicted"]["files_in"], plan["predicted"]["files_out"]) == (40, 1)
    assert plan["scope"]["where"] == "`region` = 'eu'"
    assert plan["statements"] == {"spark": None, "trino": None, "python": None}
    assert (found["catalog"], found["namespace"], found["table"], found["format"]) == (None, None, None, "iceberg")
    assert found["table_uuid"] == table.table_uuid
    assert found["bytes"]["live"] == 40 << 20
    assert (found["currency"], found["cost_per_month"]["requests"], found["cost_per_month"]["total"]) == (
        "USD",
        None,
        None,
    )
    assert {"orphans", "cluster"} <= set(rules(found, "not_known"))


def test_a_location_is_judged_at_its_newest_snapshot_unless_an_instant_is_given(tmp_path: Path) -> None:
    table = fragmented(tmp_path)
    newest = max(table.times.values())
    at_once = json.loads(run(str(tmp_path), "--json").stdout)
    assert at_once["evaluated_at"] == newest
    assert at_once["generated_at"] > newest
    assert rules(at_once["tables"][0], "not_worth") == ["compact"]
    later = json.loads(run(str(tmp_path), "--now", str(newest + DAY_MS), "--json").stdout)
    assert later["evaluated_at"] == newest + DAY_MS
    assert rules(later["tables"][0]) == ["compact"]


def test_an_empty_table_has_nothing_due_and_says_what_is_missing(tmp_path: Path) -> None:
    MetadataTable(tmp_path)
    found = advise(str(tmp_path))
    assert (found["recommendations"], found["snapshot_id"]) == ([], None)
    missing = {each["rule"]: each["missing"] for each in found["not_known"]}
    assert missing["compact"] == "a current snapshot: nothing was committed to the table"
    assert found["bytes"]["live"] == 0


def test_a_damaged_manifest_makes_the_table_partial_and_names_the_file(tmp_path: Path) -> None:
    table = fragmented(tmp_path)
    manifest = table.manifests[table.head() or 0][0].path
    Path(manifest.removeprefix("file://")).write_bytes(b"Obj\x01 damaged")
    found = advise(str(tmp_path), status="partial")
    assert "Not all of the table could be read; in the rest, nothing is due." in run(str(tmp_path)).stdout
    missing = {each["rule"]: each["missing"] for each in found["not_known"]}
    assert {"compact", "compact_deletes", "position_deletes", "manifests", "held_bytes"} <= set(missing)
    assert missing["held_bytes"].startswith("a manifest of a retained snapshot is damaged")
    assert missing["compact"].startswith("the current files: ")
    assert found["bytes"] is None
    assert found["cost_per_month"] == {"storage": None, "held": None, "requests": None, "total": None}


@pytest.mark.parametrize("content", ["", "[]", '{"format-version": 9}', "{"])
def test_an_unreadable_table_has_a_document_an_exit_code_and_a_reason(tmp_path: Path, content: str) -> None:
    path = tmp_path / "metadata" / "00000-a.metadata.json"
    path.parent.mkdir()
    path.write_text(content)
    found = advise(str(path), status="unreadable", code=3)
    assert (found["recommendations"], found["not_known"], found["bytes"], found["table_uuid"]) == ([], [], None, None)
    assert str(path) in run(str(path)).stderr


@pytest.mark.parametrize("place", ["empty", "notes/there/is/nothing", "part.parquet"])
def test_a_place_that_is_no_table_is_unreadable(tmp_path: Path, place: str) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "part.parquet").touch()
    advise(str(tmp_path / place), status="unreadable", code=3)
    assert run(str(tmp_path / place)).stdout.splitlines()[0] == f"{tmp_path / place}: unreadable"


def test_a_report_of_a_location_begins_with_it(tmp_path: Path) -> None:
    fragmented(tmp_path)
    assert run(str(tmp_path)).stdout.startswith(f"{tmp_path}: ok, judged at 2")
    assert run(str(tmp_path), "--name", "lake.sales.orders").stdout.startswith("lake.sales.orders: ok")


def test_a_format_that_the_table_does_not_have_is_wrong_usage(tmp_path: Path) -> None:
    fragmented(tmp_path)
    with pytest.raises(InvalidInput, match="--format"):
        run(str(tmp_path), "--format", "delta")
    assert run(str(tmp_path), "--format", "parquet").exit_code == 2
    assert run(str(tmp_path), "--now", "-1").exit_code == 2
    assert run(str(tmp_path), "--now", "1790000000000000").exit_code == 2, "microseconds"


@pytest.mark.parametrize("empty", ["", "  "])
def test_an_empty_name_is_wrong_usage_and_not_the_working_directory(empty: str) -> None:
    result = run(empty)
    assert result.exit_code == 2
    assert "leave it out to advise all tables" in result.stderr


def test_a_moved_table_is_read_by_a_path_map(tmp_path: Path) -> None:
    table = fragmented(tmp_path / "old")
    (tmp_path / "old").rename(tmp_path / "new")
    mapping = f"file://{tmp_path}/old=file://{tmp_path}/new"
    found = advise(str(tmp_path / "new"), "--path-map", mapping, "--now", str(table.now_ms), code=10)
    assert found["bytes"]["live"] == 40 << 20


def test_a_name_gives_statements_and_names_the_table(tmp_path: Path) -> None:
    table = fragmented(tmp_path)
    arguments = (str(tmp_path), "--now", str(table.now_ms), "--name", "lake.sales.orders")
    found = advise(*arguments, code=10)
    assert (found["catalog"], found["namespace"], found["table"]) == ("lake", "sales", "orders")
    spark = found["recommendations"][0]["statements"]["spark"]
    assert spark.startswith("CALL lake.system.rewrite_data_files(\n  table => 'lake.sales.orders',\n  where => ")
    assert found["recommendations"][0]["statements"]["trino"].startswith(
        "ALTER TABLE lake.sales.orders EXECUTE optimize"
    )
    plan = advise(str(tmp_path), "--now", str(table.now_ms), code=10)["recommendations"][0]["plan_id"]
    assert found["recommendations"][0]["plan_id"] == plan


def test_a_name_is_checked_and_belongs_to_a_location(tmp_path: Path) -> None:
    fragmented(tmp_path)
    with pytest.raises(InvalidInput, match="--name"):
        run(str(tmp_path), "--name", "orders")
    assert run("lake.sales.orders", "--name", "lake.sales.orders").exit_code == 2


def test_a_condition_that_needs_the_catalog_is_null_without_a_name(tmp_path: Path) -> None:
    table = fragmented(tmp_path, partition=(3,), spec=(Field(1, "id_bucket", "bucket[4]", "int"),))
    table.append(table.file(2, size=1 << 20))
    now = str(table.now_ms + DAY_MS)
    (plan,) = advise(str(tmp_path), "--now", now, code=10)["recommendations"]
    assert (plan["scope"]["partitions"], plan["scope"]["where"]) == (["id_bucket=3"], None)
    named = advise(str(tmp_path), "--now", now, "--name", "lake.sales.orders", code=10)
    assert named["recommendations"][0]["scope"]["where"] == "lake.system.bucket(4, `id`) = 3"


@pytest.mark.parametrize("value", ["o'brien", "\x1b[31mred", "\u202eeu", "a`b", "x\n  9. Drop the table: all", "${a}"])
def test_hostile_partition_values_are_data_in_the_document_and_plain_text_in_the_report(
    tmp_path: Path, value: str
) -> None:
    table = fragmented(tmp_path, partition=(value,))
    arguments = (str(tmp_path), "--now", str(table.now_ms), "--name", "lake.sales.orders")
    (plan,) = advise(*arguments, code=10)["recommendations"]
    assert len(plan["scope"]["partitions"]) == 1
    text = run(*arguments).stdout
    assert all(line.isprintable() for line in text.splitlines())
    assert "\n  9." not in text


@pytest.mark.parametrize("name", ["a;b", "a--b", "a\u202eb", "a b", "a`b"])
def test_hostile_names_give_no_statement_or_a_quoted_one(tmp_path: Path, name: str) -> None:
    table = fragmented(tmp_path)
    found = advise(str(tmp_path), "--now", str(table.now_ms), "--name", f"lake.sales.{name}", code=10)
    spark = found["recommendations"][0]["statements"]["spark"]
    assert spark is None or "`" in spark
    assert found["table"] == name


def test_the_report_says_what_why_how_long_how_much_and_how_to_undo(tmp_path: Path) -> None:
    table = fragmented(tmp_path)
    result = run(str(tmp_path), "--now", str(table.now_ms))
    assert result.exit_code == 10
    for part in ("1. Rewrite data files: 40 files into 1", "leaves ", "takes ", "costs ", "undo: ", "ok    "):
        assert part in result.stdout, result.stdout
    assert "costs less than 0.01 USD" in result.stdout
    assert "pass --name CATALOG.NAMESPACE.TABLE" in result.stdout
    assert "Not known: orphans, because this is missing: no listing" in result.stdout


def test_a_delta_table_is_advised(tmp_path: Path) -> None:
    log = DeltaLog(tmp_path)
    log.begin(*(add(f"{number}.parquet") for number in range(60)), info("WRITE", 1_790_000_000_000))
    found = advise(str(tmp_path), "--now", str(1_790_000_000_000 + DAY_MS), code=10)
    (plan,) = found["recommendations"]
    assert (found["format"], plan["rule"], plan["action"]) == ("delta", "delta_compact", "optimize")
    assert plan["statements"]["spark"].startswith("OPTIMIZE delta.`file://")
    assert "table.optimize.compact(" in plan["statements"]["python"]
    assert found["bytes"]["live"] == 6_000
    assert (
        run(str(tmp_path), "--now", str(1_790_000_000_000 + DAY_MS)).stdout.count("1. Optimize: 60 files into 1") == 1
    )


@pytest.mark.parametrize(("commits", "code"), [(4, 0), (5, 10)])
def test_a_hudi_table_with_waiting_logs_is_advised_to_compact_in_its_writer(
    tmp_path: Path, commits: int, code: int
) -> None:
    folder = HudiFolder(tmp_path, 6, mor=True)
    for number in range(commits):
        folder.commit(Stat(f"f{number}", 10, 1), action="deltacommit")
    found = advise(str(tmp_path), code=code)
    assert found["format"] == "hudi"
    assert rules(found) == ["hudi_compaction"] * (code == 10)
    if code == 10:
        assert found["recommendations"][0]["statements"] == {"spark": None, "trino": None, "python": None}
        assert "delta commits" in found["recommendations"][0]["guards"][0]["text"]


def test_an_unpartitioned_table_that_was_just_written_is_due_but_has_to_wait(tmp_path: Path) -> None:
    table = MetadataTable(tmp_path, spec=UNPARTITIONED)
    table.append(*(table.file(size=1 << 20) for _ in range(40)))
    (plan,) = advise(str(tmp_path), code=10)["recommendations"]
    assert plan["scope"] == {"partitions": [], "where": None}
    assert [guard["ok"] for guard in plan["guards"] if guard["code"] == "quiet"] == [False]
