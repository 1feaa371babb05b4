"""The page of reads over HTTP: from memory, from raw reports and from hours, and what it says about filters and old
snapshots.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

import polars as pl
import pytest

from limnograph.adapters.memory.query_engine import MemoryEngine
from limnograph.domain.facts.events import ReportFact
from limnograph.services.rollups.fold import DAY, Stamp
from limnograph.services.rollups.reads_fold import reads_of, report_rows, roll_reads
from serving_kit import BIG, HOUR, NOW, UUID, change, client, lake, moved, parts, row, schema

TABLE = "/api/v1/tables/lake/sales/orders/reads"
SPEC = {"fields": [{"source-id": 1, "name": "day", "transform": "day"}]}
ORDER = {"fields": [{"source-id": 2, "transform": "identity", "direction": "asc", "null-order": "nulls-first"}]}


def scan(number: int, at: int = NOW - 60_000_000, **columns: Any) -> ReportFact:
    name = {"catalog": "lake", "namespace": "sales", "table": "orders", "kind": "scan"}
    return ReportFact(event_id=f"e{number}", at=at, **(name | columns))


def query(number: int, seconds: float, **columns: Any) -> ReportFact:
    return scan(number, kind="query", wall_seconds=seconds, engine="trino", **columns)


def filled(*reports: ReportFact) -> MemoryEngine:
    """A table of 100 files, then of 200, partitioned by day(at) and sorted by region."""
    structure = [
        schema(0, NOW - 9 * HOUR, (1, "at", "timestamptz"), (2, "region", "string"), (3, "customer_id", "long")),
        change("spec", NOW - 9 * HOUR, "0", detail=json.dumps(SPEC)),
        change("sort_order", NOW - 9 * HOUR, "1", detail=json.dumps(ORDER)),
    ]
    rows = [row(BIG, NOW - 5 * HOUR, 100, overlap_depth_max=7), row(BIG + 1, NOW - 2 * HOUR, 200)]
    engine = lake(rows, [moved(BIG, NOW - 5 * HOUR), moved(BIG + 1, NOW - 2 * HOUR), *structure])
    engine.append([], [], reports=reports)
    return engine


def get(engine: MemoryEngine, path: str = TABLE) -> Any:
    made = parts(engine)
    made.read_log.catch_up()

    async def ask() -> Any:
        async with client(made) as http:
            answer = await http.get(path)
            assert answer.status_code == 200, answer.text
            return answer.json()

    return asyncio.run(ask())


def test_planning_files_and_queries_are_added_up_by_engine() -> None:
    page = get(
        filled(
            scan(1, duration_seconds=0.2, result_data_files=10, snapshot_id=BIG + 1, engine="spark"),
            scan(2, duration_seconds=0.4, result_data_files=30, snapshot_id=BIG + 1, engine="spark"),
            query(3, 2.0, rows=10, read_bytes=500),
            query(4, 4.0, user="ana"),
            query(5, 9.0, operation="append"),
        )
    )
    total = page["total"]
    assert (total["scans"], total["queries"], page["resolution"]) == (2, 2, "raw")
    assert total["planning"] == {"count": 2, "p50": pytest.approx(0.3), "p95": pytest.approx(0.39), "max": 0.4}
    assert (total["live_files_opened"], total["live_files"], total["skipped_share"]) == (40, 400, pytest.approx(0.9))
    assert (total["bytes_per_row"], total["files_skipped"]) == (50, None)
    assert [(each["engine"], each["numbers"]["query"]["p95"]) for each in page["engines"]] == [
        ("spark", None),
        ("trino", pytest.approx(3.9)),
    ]
    assert [reader["users"] for reader in page["readers"] if reader["engine"] == "trino"] == [
        [{"user": "ana", "reads": 1}]
    ]
    assert [(point["scans"], point["overlap_depth"]) for point in page["points"]] == [(2, 7)]


def test_without_reports_everything_is_nothing_or_unknown() -> None:
    page = get(filled())
    assert (page["total"]["scans"], page["total"]["skipped_share"], page["total"]["planning"]["p95"]) == (0, None, None)
    assert page["engines"] == page["points"] == page["filters"] == page["readers"] == page["stale"] == []


def test_filters_are_compared_with_the_partition_spec_and_the_sort_order() -> None:
    facts = [scan(number, filter_columns=["customer_id"]) for number in range(5)]
    page = get(filled(*facts, scan(5, filter_columns=["AT", "region"]), scan(6)))
    assert page["filters_known"] == 6
    assert [(each["column"], each["scans"], each["partitions"], each["sorts"]) for each in page["filters"]] == [
        ("customer_id", 5, False, False),
        ("AT", 1, True, False),
        ("region", 1, False, True),
    ]
    assert page["filters"][0]["share"] == pytest.approx(5 / 6)


def test_a_scan_of_a_snapshot_that_main_left_is_stale_and_one_of_the_head_is_not() -> None:
    old = query(1, 3.0, snapshot_id=BIG)
    page = get(filled(old, scan(2, snapshot_id=BIG + 1), scan(3, NOW - 3 * HOUR, snapshot_id=BIG), scan(4)))
    assert [(each["snapshot_id"], each["engine"], each["reads"], each["behind_commits"]) for each in page["stale"]] == [
        (str(BIG), "trino", 1, 1)
    ]
    assert page["stale"][0]["behind_seconds"] == pytest.approx(2 * 3_600 - 60)


def test_a_snapshot_of_a_tag_is_read_on_purpose() -> None:
    engine = filled(scan(1, snapshot_id=BIG))
    engine.append([], [change("ref", NOW - 4 * HOUR, str(BIG), subject="release")])
    assert get(engine)["stale"] == []


@pytest.mark.parametrize(("days", "resolution"), [(1, "raw"), (5, "raw"), (30, "hour")])
def test_every_range_counts_each_read_once(days: int, resolution: str) -> None:
    """Hours hold what is older than the raw reports; what is newer is added from those."""
    facts = [scan(day, NOW - day * DAY - HOUR, duration_seconds=0.1 * (day + 1)) for day in range(40)]
    engine = filled(*(fact for fact in facts if fact.at is not None and fact.at >= NOW - 8 * DAY))
    reads = reads_of(report_rows(facts))
    told = reads.with_columns(table_uuid=_text(UUID, reads.height), live_files=_none(reads.height))
    engine.roll("reads_hourly", roll_reads(told, Stamp(1, 1, NOW)))
    page = get(engine, f"{TABLE}?from={(NOW - days * DAY) // 1000}&to={NOW // 1000}")
    assert (page["total"]["scans"], page["resolution"]) == (days, resolution)
    assert [note["code"] for note in page["notes"]] == (["reads_by_hour"] if resolution == "hour" else [])
    assert sum(point["scans"] for point in page["points"]) == days


def test_reads_under_a_name_that_the_table_lost_are_not_its_own() -> None:
    name = {"catalog": "lake", "namespace": "sales", "table": "old"}
    engine = filled(
        scan(1, NOW - 3 * HOUR, table="old"), scan(2, NOW - HOUR, table="old"), scan(3), scan(4, table="other")
    )
    lost, taken = change("dropped", NOW - 2 * HOUR, **name), change("named", NOW - 2 * HOUR)
    engine.append([], [change("named", NOW - 8 * HOUR, **name), lost, taken])
    assert get(engine)["total"]["scans"] == 2


def test_a_range_older_than_all_raw_reports_comes_from_hours_alone() -> None:
    engine = filled(scan(1))
    reads = reads_of(report_rows([scan(2, NOW - 30 * DAY, filter_columns=["region"], user="ana")]))
    told = reads.with_columns(table_uuid=_text(UUID, 1), live_files=_none(1))
    engine.roll("reads_hourly", roll_reads(told, Stamp(1, 1, NOW)))
    page = get(engine, f"{TABLE}?from={(NOW - 40 * DAY) // 1000}&to={(NOW - 20 * DAY) // 1000}")
    assert (page["total"]["scans"], page["resolution"], page["filters"][0]["column"]) == (1, "hour", "region")
    empty = get(engine, f"{TABLE}?from={(NOW - 25 * DAY) // 1000}&to={(NOW - 20 * DAY) // 1000}")
    assert (empty["total"]["scans"], empty["readers"], empty["points"]) == (0, [], [])


def _text(value: str, count: int) -> Any:
    return pl.Series([value] * count)


def _none(count: int) -> Any:
    return pl.Series([None] * count, dtype=pl.Int64)
