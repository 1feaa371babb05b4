"""Commits and findings as Grafana reads annotations: one line each, of one table or of all, large commits only where
that is asked.
"""

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


def test_a_finding_is_an_annotation_where_it_opened_and_one_where_it_closed() -> None:
    files = {"total_bytes": 100 << 30, "target_file_bytes": 512 << 20, "app_name": "etl"}
    burst = row(BIG, BURST, 50_010, parent_id=1, added_data_files=50_000, added_bytes=50_000 << 20, **files)
    repair = row(3, BURST + HOUR, 20, parent_id=BIG, removed_data_files=50_000, operation="replace", **files)
    rows = [row(1, NOW - 5 * HOUR, 10, added_data_files=10, **files), burst, repair]
    made = parts(lake(rows, [moved(1, NOW - 5 * HOUR), moved(BIG, BURST), moved(3, BURST + HOUR)]))

    async def ask(query: str) -> Any:
        async with client(made) as http:
            return await http.get(f"/api/v1/annotations?kind=findings{query}")

    closed, opened = asyncio.run(ask("")).json()["rows"]
    finding_id = opened["path"].rpartition("/")[2]
    assert opened == {
        "id": f"{finding_id}-opened",
        "time": BURST // 1000,
        "title": "file_burst opened: lake.sales.orders",
        "text": "50,000 small files in one commit, average 1.0 MB by etl",
        "tags": ["finding", "opened", "warning", "file_burst", "lake.sales.orders"],
        "path": f"/findings/{finding_id}",
    }
    assert (closed["time"], closed["tags"][1]) == ((BURST + HOUR) // 1000, "closed")
    assert asyncio.run(ask(f"&{ORDERS}")).json()["rows"] == [closed, opened]
    assert asyncio.run(ask(f"&to={BURST // 1000 + 1}")).json()["rows"] == [opened]
    assert asyncio.run(ask("&limit=1")).json()["rows"] == [closed]
    assert asyncio.run(ask("&catalog=lake&table_namespace=sales&table=gone")).status_code == 404
