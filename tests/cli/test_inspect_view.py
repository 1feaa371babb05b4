"""What people see of a table: every section, within 80 columns, the same without colour."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner
from rich.console import Console

from lakes import Lake, fresh_reader, path_of, rows
from limnograph.cli.inspect import command
from limnograph.cli.inspect_view import draw
from limnograph.domain.metadata.inspection import InspectionReport
from limnograph.services.extraction.inspect import inspect
from metadata_writer import MetadataTable


def drawn(found: InspectionReport, width: int = 80) -> str:
    console = Console(width=width, color_system=None, record=True, quiet=False, force_terminal=False)
    with console.capture() as capture:
        draw(found, console)
    return capture.get()


@pytest.fixture
def busy(tmp_path: Path) -> MetadataTable:
    table = MetadataTable(tmp_path, version=3)
    for number in range(14):
        table.append(*(table.file("eu" if number % 3 else "us", size=900_000 * (n + 1) ** 4) for n in range(12)))
    table.overwrite([table.vector(file, records=4) for file in table.files()[:7]], ())
    return table


def found(table: MetadataTable) -> InspectionReport:
    return inspect(table.metadata_location, fresh_reader())


def test_every_section_is_shown_with_its_numbers(busy: MetadataTable) -> None:
    text = drawn(found(busy))
    for line in (
        "File sizes, target 512 MiB",
        "<- target",
        "Compaction debt",
        "Iceberg's planner: below 0.75 or above 1.8 of",
        "7 files, 7 of them deletion vectors; 28 positions",
        "15, 1 of deletes",
        "1 manifest of 8 MiB would do",
        "largest partition",
        "Worst partitions, by small files",
        "region=eu",
        "Last 10 of 15 snapshots",
    ):
        assert line in text


@pytest.mark.parametrize("width", [80, 120])
def test_no_line_is_wider_than_the_terminal(busy: MetadataTable, width: int) -> None:
    path_of(busy.manifests[busy.head() or 0][-1].path).unlink()
    for inspected in (found(busy), inspect(f"file://{busy.folder}/metadata/v9.metadata.json", fresh_reader())):
        assert max(map(len, drawn(inspected, width).splitlines())) <= width


def test_a_problem_of_many_snapshots_is_one_line(busy: MetadataTable) -> None:
    path_of(busy.manifests[busy.head() or 0][-1].path).unlink()
    text = drawn(found(busy))
    assert text.count("manifest_missing (15 snapshots): the counts come from the manifest list") == 1
    assert text.index("partial  ") < text.index("manifest_missing") < text.index("format") < text.index("Last 10 of")


def test_a_size_is_shown_no_more_precisely_than_its_bin(tmp_path: Path) -> None:
    table = MetadataTable(tmp_path)
    table.append(table.file("eu", size=700))
    assert "p10 p50 p90     all < 8 KiB" in drawn(found(table))
    table.append(*(table.file("eu", size=100 * 2**20) for _ in range(8)), table.file("eu", size=5 * 2**30))
    text = drawn(found(table))
    assert "p10 p50 p90     < 8 KiB, 64 - 128 MiB, 64 - 128 MiB" in text
    lines = [line.split() for line in text.splitlines()]
    assert ["64", "-", "128", "MiB", "8", "█" * 40] in lines
    assert ["512", "MiB", "-", "1", "GiB", "0", "<-", "target"] in lines
    assert [">=", "4", "GiB", "1", "█" * 5] in lines
    assert "32 - 64 MiB" not in text


def test_unknown_values_are_shown_as_unknown_and_never_0(busy: MetadataTable) -> None:
    path_of(busy.manifests[busy.head() or 0][0].path).unlink()
    text = drawn(found(busy))
    assert "size            unknown" in text
    assert "partitions      unknown" in text
    assert "to rewrite      unknown" in text
    assert "15, 1 of deletes" in text


def test_a_table_without_snapshots_and_an_unreadable_one_are_shown_as_such(tmp_path: Path) -> None:
    empty = MetadataTable(tmp_path)
    assert "No snapshots." in drawn(found(empty))
    path_of(empty.metadata_location).write_text("{")
    text = drawn(found(empty))
    assert "unreadable" in text
    assert "metadata_unreadable" in text


def test_contradicting_counts_are_shown_with_their_source(tmp_path: Path) -> None:
    table = MetadataTable(tmp_path)
    table.append(table.file("eu"))
    assert "summary of its writer differs" not in drawn(found(table))
    table.edit = lambda document: document["snapshots"][0]["summary"].update({"total-records": "7"})
    table.write()
    assert "summary         the summary of its writer differs: total-records" in drawn(found(table))


def test_text_of_a_table_cannot_control_the_terminal(tmp_path: Path) -> None:
    table = MetadataTable(tmp_path)
    table.append(table.file("\x1b[2Jeu\r"), table.file("[red]us[red]"))
    table.set_ref("evil\x1b]0;x\x07", table.head() or 0, "tag")
    table.edit = lambda document: document["snapshots"][0]["summary"].update(operation="\x1b[31mappend")
    table.write()
    text = drawn(found(table))
    assert "\x1b" not in text
    assert "[red]us[red]" in text


def test_the_json_is_a_projection_of_the_report(busy: MetadataTable) -> None:
    inspected = found(busy)
    document = json.loads(msgspec.json.encode(inspected.document))
    assert set(document) == {"table", "status", "problems", "snapshots", "current"}
    assert msgspec.json.decode(msgspec.json.encode(inspected), type=InspectionReport) == inspected


def test_the_command_draws_without_colour_into_a_pipe(lake: Lake) -> None:
    table = lake.table()
    table.append(rows("eu", "us"))
    result = CliRunner().invoke(command, [table.location()], catch_exceptions=False)
    assert result.exit_code == 0
    assert "\x1b" not in result.stdout
    assert str(table.metadata.current_snapshot_id) in result.stdout
