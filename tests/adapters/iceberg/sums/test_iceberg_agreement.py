"""A list that says other counts or lengths than its manifests: told when it is harmless, damage when a file was cut."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lakes import facts
from limnograph.adapters.iceberg.sums.agreement import DISAGREES
from metadata_records import list_line
from metadata_writer import Manifest, MetadataTable

Edit = Callable[[dict[str, Any]], dict[str, Any]]
COUNTS = dict.fromkeys(("added_files_count", "existing_files_count", "deleted_files_count"))


def table_of(folder: Path, edit: Edit, version: int = 2) -> MetadataTable:
    """A table of two files in one manifest, whose list tells of it as `edit` makes it."""

    class Edited(MetadataTable):
        @staticmethod
        def line(manifest: Manifest) -> dict[str, Any]:
            return edit(list_line(manifest))

    table = Edited(folder, version=version)
    table.append(table.file("eu"), table.file("us"))
    return table


def longer(line: dict[str, Any]) -> dict[str, Any]:
    return line | {"manifest_length": line["manifest_length"] + 100}


@pytest.mark.parametrize(
    ("edit", "notes"),
    [
        (lambda line: line, []),
        (longer, [DISAGREES]),
        (lambda line: line | {"manifest_length": 7}, [DISAGREES]),
        (lambda line: line | {"added_files_count": 3}, [DISAGREES]),
        (lambda line: line | {"added_files_count": 1, "manifest_length": 7}, [DISAGREES]),
    ],
)
def test_the_numbers_are_those_of_the_manifest_and_a_note_says_that_its_list_differs(
    tmp_path: Path, edit: Edit, notes: list[str]
) -> None:
    (fact,) = facts(table_of(tmp_path, edit).metadata_location)
    assert (fact.status, fact.tier, fact.problems) == ("ok", "entries", notes)
    assert (fact.total_data_files, fact.added_data_files) == (2, 2)


def test_a_manifest_that_is_too_short_and_lacks_entries_is_damaged(tmp_path: Path) -> None:
    (fact,) = facts(table_of(tmp_path, lambda line: longer(line) | {"added_files_count": 3}).metadata_location)
    assert (fact.status, fact.tier, fact.problems) == ("partial", "manifest_list", ["manifest_unreadable"])


def test_counts_that_version_one_leaves_out_confirm_nothing(tmp_path: Path) -> None:
    (whole,) = facts(table_of(tmp_path / "whole", lambda line: line | COUNTS, 1).metadata_location)
    assert (whole.status, whole.problems) == ("ok", [])
    (cut,) = facts(table_of(tmp_path / "cut", lambda line: longer(line) | COUNTS, 1).metadata_location)
    assert (cut.status, cut.problems) == ("partial", ["manifest_unreadable"])
