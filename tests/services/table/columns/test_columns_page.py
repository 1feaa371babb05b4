"""The page of columns over HTTP: shares and bounds by commit and by day, and what is private or not known."""

from __future__ import annotations

import asyncio
from typing import Any

import polars as pl
import pytest

from limnograph.adapters.embedded import frames
from limnograph.adapters.memory.query_engine import MemoryEngine
from limnograph.domain.facts.column_stats import ColumnDaysFact, ColumnStat, ColumnStatsFact
from limnograph.services.rollups.fold import DAY
from serving_kit import BIG, HOUR, MINUTE, NOW, UUID, change, client, lake, moved, parts, row

TABLE = "/api/v1/tables/lake/sales/orders/columns"


def commit(number: int, at: int, *stats: ColumnStat) -> ColumnStatsFact:
    return ColumnStatsFact(table_uuid=UUID, snapshot_id=BIG + number, committed_at=at, columns=list(stats))


def filled(*facts: ColumnStatsFact, changes: tuple[Any, ...] = (), **columns: Any) -> MemoryEngine:
    engine = lake([row(BIG, NOW - 5 * HOUR, **columns)], [moved(BIG, NOW - 5 * HOUR), *changes])
    engine.roll("column_stats", frames.frame("column_stats", facts))
    return engine


def get(engine: MemoryEngine, query: str = "", **given: Any) -> Any:
    async def ask() -> Any:
        async with client(parts(engine, **given)) as http:
            answer = await http.get(TABLE + query)
            assert answer.status_code == 200, answer.text
            return answer.json()

    return asyncio.run(ask())


AMOUNT = ColumnStat(1, "amount", "double", 100, 25, 10, "-1.5", "9")
NAME = ColumnStat(2, "name", "string", 100, None, None, None, None)
DAY_OF = ColumnStat(3, "day", "date", 100, 0, None, "2026-11-20", "2026-11-21")


def test_each_commit_is_a_point_with_shares_and_bounds_as_numbers() -> None:
    found = get(filled(commit(1, NOW - HOUR, AMOUNT, NAME, DAY_OF)))
    assert (found["commits"], found["step_s"], found["not_known"]) == (1, None, None)
    amount, name, day = found["columns"]
    (point,) = amount["points"]
    assert point == {
        "t": (NOW - HOUR) // 1000,
        "snapshot_id": str(BIG + 1),
        "values": 100,
        "nulls": 25,
        "null_share": 0.25,
        "nan_share": 0.1,
        "lower": -1.5,
        "upper": 9.0,
    }
    assert (amount["lower"], amount["upper"], amount["bounds"]) == ("-1.5", "9", "shown")
    assert (name["null_share"], name["bounds"]) == (None, "text")
    assert (day["upper"], day["points"][0]["upper"]) == ("2026-11-21", 1_795_219_200.0)


def test_a_private_column_has_counts_only_whatever_was_stored() -> None:
    stored = filled(commit(1, NOW - HOUR, AMOUNT, DAY_OF))
    amount, day = get(stored, private_columns=("AMO*",))["columns"]
    assert (amount["nulls"], amount["lower"], amount["points"][0]["upper"]) == (25, None, None)
    assert (amount["bounds"], day["bounds"]) == ("private", "shown")
    own = change("property", NOW - 4 * HOUR, "x, day", subject="limnograph.private-columns")
    engine = filled(commit(1, NOW - HOUR, AMOUNT, DAY_OF), changes=(own,))
    assert [column["bounds"] for column in get(engine)["columns"]] == ["shown", "private"]


def test_many_commits_are_added_up_by_span() -> None:
    facts = [commit(number, NOW - number * MINUTE, AMOUNT) for number in range(1, 301)]
    found = get(filled(*facts), f"?from={(NOW - 6 * HOUR) // 1000}&to={NOW // 1000}")
    assert (found["commits"], found["step_s"]) == (300, 300)
    (amount,) = found["columns"]
    assert sum(point["values"] for point in amount["points"]) == amount["values"] == 30_000
    assert {point["snapshot_id"] for point in amount["points"]} == {None}


def test_before_the_kept_commits_a_point_is_a_day() -> None:
    engine = filled(commit(1, NOW - HOUR, AMOUNT))
    old = ColumnDaysFact(table_uuid=UUID, day=(NOW - 20 * DAY) // DAY * DAY, commits=5, columns=[AMOUNT])
    engine.roll("column_stats_daily", frames.frame("column_stats_daily", [old]))
    found = get(engine, f"?from={(NOW - 30 * DAY) // 1000}&to={NOW // 1000}")
    assert (found["commits"], found["step_s"]) == (6, 86_400)
    assert [point["t"] for point in found["columns"][0]["points"]] == [
        (NOW - 20 * DAY) // DAY * DAY // 1000,
        (NOW - HOUR) // DAY * DAY // 1000,
    ]


@pytest.mark.parametrize(
    ("kind", "said"), [("delta", "Of Delta tables"), ("hudi", "Of Hudi"), ("iceberg", "No commit")]
)
def test_without_rows_the_page_says_why(kind: str, said: str) -> None:
    engine = filled(format=kind)
    engine.roll("column_stats", pl.DataFrame(schema=dict(frames.frame("column_stats", []).schema)))
    found = get(engine)
    assert (found["columns"], found["commits"]) == ([], 0)
    assert said in found["not_known"]
