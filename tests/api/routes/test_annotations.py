"""Commits as Grafana reads annotations: one line each, of one table or of all, large ones only where that is asked."""

import asyncio
from typing import Any

import pytest

from serving_kit import BIG, HOUR, NOW, client, lake, moved, parts, row

BURST = NOW - 2 * HOUR
ORDERS = "catalog=lake&table_namespace=sales&table=orders"


def asked(path: str) -> Any:
    rows = [
        row(1, NOW - 5 * HOUR, 10, added_data_files=10, engine="spark", app_name="churn"),
        row(BIG, BURST, 50_010, parent_id=1, added_data_files=50_000, removed_data_files=1, app_id="app_17"),
    ]
    made = parts(lake(rows, [moved(1, NOW - 5 * HOUR), moved(BIG, BURST)]))

    async def ask() -> Any:
        async with client(made) as http:
            return await http.get("/api/v1/annotations" + path)

    return asyncio.run(ask())


def test_a_commit_is_an_annotation_at_its_time_with_its_changes_and_a_link() -> None:
    newest, oldest = asked(f"?{ORDERS}").json()["rows"]
    assert newest == {
        "id": str(BIG),
        "time": BURST // 1000,
        "title": "append lake.sales.orders",
        "text": "+50,000 data files, \u22121 data file, by app_17",
        "tags": ["append", "lake.sales.orders"],
        "path": f"/t/lake/sales/orders/commits/{BIG}",
    }
    assert (oldest["text"], oldest["tags"][-1]) == ("+10 data files, by churn", "spark")


@pytest.mark.parametrize("query", ["", "?catalog=.*&table_namespace=$__all&table=", "?min_added_data_files=1000"])
def test_the_variable_all_selects_all_tables_and_small_commits_can_be_left_out(query: str) -> None:
    rows = asked(query).json()["rows"]
    assert [one["id"] for one in rows] == ([str(BIG)] if "min" in query else [str(BIG), "1"])


def test_half_a_name_is_refused_and_an_unknown_table_is_not_found() -> None:
    assert asked("?table=orders").json()["field"] == "table"
    assert asked("?catalog=lake&table_namespace=sales&table=.*").json()["field"] == "table"
    assert asked("?catalog=lake&table_namespace=sales&table=gone").status_code == 404
