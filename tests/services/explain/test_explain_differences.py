"""What is different about the commits of a range: shares and means beside those of its baseline."""

from __future__ import annotations

from typing import Any

from limnograph.domain.answers.explanations import Difference
from limnograph.domain.ids import TableName
from limnograph.services.explain.baseline import windows
from limnograph.services.explain.differences import differences
from limnograph.services.lake.history import History, history_of
from serving_kit import HOUR, MINUTE, NOW, UUID, row

NAME = TableName("lake", "sales", "orders")
ASKED = windows((NOW - HOUR) // 1000, NOW // 1000, "before")


def history(*commits: tuple[int, dict[str, Any]]) -> History:
    """Commits so many minutes before NOW."""
    return history_of(UUID, NAME, [row(n + 1, NOW - at * MINUTE, **said) for n, (at, said) in enumerate(commits)], [])


def usual(**said: Any) -> list[tuple[int, dict[str, Any]]]:
    """One each 30 minutes of the five hours."""
    told = {"app_name": "ingest", "added_data_files": 10, "added_bytes": 10 * 10**8, **said}
    return [(at, told) for at in range(5, 300, 30)]


def found(*commits: tuple[int, dict[str, Any]]) -> dict[tuple[str, str | None], Difference]:
    return {(each.part, each.value): each for each in differences(ASKED, [history(*commits)])}


def test_a_burst_of_small_files_by_another_writer_is_what_differs() -> None:
    burst = (30, {"app_name": "backfill", "added_data_files": 50_000, "added_bytes": 50_000 * 9 * 10**5})
    told = found(*usual(), burst)
    assert (told["writer", "append by backfill"].selected or 0) > 0.99
    assert told["writer", "append by backfill"].baseline == 0
    size = told["file_size", None]
    assert (round((size.selected or 0) / 1e5), size.baseline) == (9, 1e8)
    assert differences(ASKED, [history(*usual(), burst)])[0].part in {"files", "writer"}


def test_equal_properties_are_not_listed() -> None:
    assert found(*usual()) == {}


def test_a_range_without_commits_differs_in_nothing() -> None:
    assert found(*[each for each in usual() if each[0] > 60]) == {}


def test_a_property_that_no_commit_reports_is_unknown_and_has_no_weight() -> None:
    told = found((30, {"added_data_files": 5}))
    assert ("files", None) not in told
    assert told["commits", None].baseline == 0


def test_commits_that_add_nothing_are_counted_instead() -> None:
    told = found(*usual(), *[(at, {"operation": "delete", "added_data_files": 0}) for at in (10, 20, 40)])
    assert told.keys() <= {("writer", "delete"), ("commits", None), ("files", None)}
