"""A commit in one line: what is not known is not said, and nothing is not the same as not known."""

from typing import Any

import pytest

from limnograph.domain.answers.commits import CommitRow
from limnograph.services.timeline.annotations import annotation

COUNTS = ("added_data_files", "removed_data_files", "added_delete_files", "removed_delete_files", "added_records")


def commit(**told: Any) -> CommitRow:
    known = dict.fromkeys(COUNTS, 0) | told
    return CommitRow(
        snapshot_id="1",
        parent_id=None,
        catalog="lake",
        namespace="sales",
        table="orders",
        t=0,
        operation="append",
        on_main=True,
        engine=None,
        app_id=None,
        app_name=None,
        user=None,
        added_bytes=None,
        total_data_files=None,
        schema_changed=False,
        status="ok",
        provisional=False,
        **known,
    )


@pytest.mark.parametrize(
    ("told", "text"),
    [
        ({}, "no file changed"),
        (dict.fromkeys(COUNTS), "changes are unknown"),
        ({"added_data_files": 1, "added_records": None}, "+1 data file"),
        ({"added_data_files": 50_000, "removed_data_files": 2}, "+50,000 data files, \u22122 data files"),
    ],
)
def test_an_unknown_number_is_never_written_as_zero(told: dict[str, int | None], text: str) -> None:
    assert annotation(commit(**told)).text == text
