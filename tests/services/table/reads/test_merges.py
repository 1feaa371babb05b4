"""Deletes, write modes and row-level commits on the page of reads, over HTTP."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from limnograph.adapters.memory.query_engine import MemoryEngine
from limnograph.domain.facts.events import ReportFact
from serving_kit import HOUR, MINUTE, NOW, change, client, lake, moved, parts, row

TABLE = "/api/v1/tables/lake/sales/orders/reads"
KIB = 1_024


def filled(*commits: dict[str, Any], scans: int = 0, **scan: Any) -> MemoryEngine:
    """A commit each hour, the last one two hours ago; `scans` reports of scans of it."""
    first = NOW - (len(commits) + 1) * HOUR
    rows = [row(number + 1, first + number * HOUR, **fields) for number, fields in enumerate(commits)]
    engine = lake(rows, [moved(each.snapshot_id, each.committed_at or 0) for each in rows])
    name = {"catalog": "lake", "namespace": "sales", "table": "orders", "kind": "scan", "engine": "spark"}
    reports = [ReportFact(event_id=f"e{number}", at=NOW - MINUTE, **(name | scan)) for number in range(scans)]
    engine.append([], [], reports=reports)
    return engine


def merges(engine: MemoryEngine) -> Any:
    made = parts(engine)
    made.read_log.catch_up()

    async def ask() -> Any:
        async with client(made) as http:
            answer = await http.get(TABLE)
            assert answer.status_code == 200, answer.text
            return answer.json()["merges"]

    return asyncio.run(ask())


def rewrite(rows: int = 1_000, dropped: int = 0, total: int = 10_000, **fields: Any) -> dict[str, Any]:
    return {
        "operation": "overwrite",
        "added_data_files": 2,
        "removed_data_files": 2,
        "added_delete_files": 0,
        "added_records": rows - dropped,
        "total_records": total,
        "added_bytes": 500 * KIB,
        "total_bytes": 4_000 * KIB,
        "total_position_deletes": 0,
        "total_equality_deletes": 0,
        **fields,
    }


def mark(deletes: int, **fields: Any) -> dict[str, Any]:
    return {
        "operation": "overwrite",
        "added_data_files": 0,
        "removed_data_files": 0,
        "added_delete_files": 1,
        "total_records": 10_000,
        "total_bytes": 4_000 * KIB,
        "total_position_deletes": deletes,
        "total_equality_deletes": 0,
        "total_delete_files": 4,
        "total_delete_bytes": 8 * KIB,
        **fields,
    }


def test_what_is_merged_now_and_how_old_it_is() -> None:
    found = merges(
        filled(mark(10, oldest_delete_at=NOW - 7 * HOUR), scans=4, result_data_files=10, result_delete_files=5)
    )
    assert (found["delete_files"], found["delete_bytes"], found["oldest_delete_at"]) == (
        4,
        8 * KIB,
        (NOW - 7 * HOUR) // 1_000,
    )
    assert found["deletes_per_data_file"] == 0.4
    assert found["delete_bytes_ratio"] == 8 / 4_000
    assert (found["merged_files"], found["merged_bytes"]) == (0.5, 0.5 * 2 * KIB)


def test_declared_modes_are_told_from_the_default() -> None:
    engine = filled(rewrite())
    engine.append([], [change("property", NOW - 5 * HOUR, "merge-on-read", subject="write.delete.mode")])
    assert [(each["operation"], each["mode"], each["declared"]) for each in merges(engine)["modes"]] == [
        ("delete", "merge-on-read", True),
        ("update", "copy-on-write", False),
        ("merge", "copy-on-write", False),
    ]
    assert merges(filled(rewrite(format="delta")))["modes"] == []


def test_many_small_changes_that_rewrite_the_table_speak_for_merge_on_read() -> None:
    found = merges(filled(*[rewrite()] * 12, scans=3))
    assert (found["rewriting_commits"], found["small_rewrites"], found["rewritten_bytes"]) == (12, None, 12 * 500 * KIB)
    assert (found["fits"], found["because"]) == (None, "rewriting_unknown"), "what the first one dropped is not known"
    first = rewrite(operation="append", removed_data_files=0)
    found = merges(filled(first, *[rewrite()] * 12, scans=3))
    assert (found["small_rewrites"], found["fits"]) == (12, "merge-on-read")
    large = [rewrite(dropped=20, total=10_000 - 20 * step) for step in range(1, 13)]
    found = merges(filled(first, *large, scans=3))
    assert (found["small_rewrites"], found["fits"]) == (0, "copy-on-write")


def test_scans_that_merge_much_for_little_speak_for_copy_on_write() -> None:
    marks = [mark(0, operation="append", added_delete_files=0), mark(5), mark(8)]
    found = merges(filled(*marks, scans=3, result_data_files=10, result_delete_files=4))
    assert (found["merging_commits"], found["merged_files"], found["fits"]) == (2, 0.4, "copy-on-write")
    assert found["changed_share"] == pytest.approx(8 / 10_000)
    found = merges(filled(*marks, scans=3, result_data_files=10, result_delete_files=1))
    assert (found["fits"], found["because"]) == ("merge-on-read", "merging_is_cheap")
    found = merges(filled(*marks, scans=3))
    assert (found["merged_files"], found["fits"], found["because"]) == (None, None, "deletes_unknown")


def test_without_reads_or_row_changes_nothing_is_claimed() -> None:
    assert [merges(filled(rewrite()))[name] for name in ("fits", "because")] == [None, "no_scans"]
    found = merges(filled({"operation": "append"}, scans=1))
    assert (found["fits"], found["because"], found["delete_bytes"]) == (None, "no_row_changes", None)
