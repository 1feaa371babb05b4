"""Filters of `GET /tables` on the wire: parameters, errors, cursors and the numbers beside their values."""

from __future__ import annotations

import asyncio
import uuid
from typing import Any

import httpx
import pytest

from limnograph.domain.ids import TableName
from limnograph.services.jobs.discovery import ConfiguredJob
from limnograph.wiring.server import ServerServices
from serving_kit import HOUR, NOW, client, lake, parts, row

TABLES = "/api/v1/tables"


def fleet(**given: Any) -> ServerServices:
    """`lake.sales.t0` to `t5`: three formats, files that double at `t1` an hour ago."""
    rows = []
    for i in range(6):
        table = {
            "table": f"t{i}",
            "table_uuid": str(uuid.UUID(int=i + 1)),
            "format": ("iceberg", "delta", "hudi")[i % 3],
        }
        rows += [row(1, NOW - 5 * HOUR, 100, **table), row(2, NOW - HOUR, 200 if i == 1 else 101, **table)]
    owners = (("lake.sales.t0", "ada"), ("**", "ben"))
    return parts(lake(rows), owners=owners, configured=(ConfiguredJob("churn", reads=("lake.sales.t2",)),), **given)


def get(made: ServerServices, *paths: str) -> list[httpx.Response]:
    async def sent() -> list[httpx.Response]:
        async with client(made) as http:
            return [await http.get(path) for path in paths]

    return asyncio.run(sent())


def names(answer: httpx.Response) -> list[str]:
    assert answer.status_code == 200, answer.text
    return [each["table"] for each in answer.json()["rows"]]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("format=delta", ["t1", "t4"]),
        ("owner=ada", ["t0"]),
        ("has_job=true", ["t2"]),
        ("has_job=false&format=hudi", ["t5"]),
        ("severity=critical", []),
        ("acknowledged=any", []),
        ("grew=0.2&within=3600", ["t1"]),
        ("grew=0.2&within=3600&owner=ada", []),
    ],
)
def test_a_filter_selects_tables(query: str, expected: list[str]) -> None:
    (answer,) = get(fleet(), f"{TABLES}?sort=name&dir=asc&{query}")
    assert names(answer) == expected
    assert answer.json()["total"] == len(expected)


def test_the_order_by_growth_is_that_of_the_shares() -> None:
    (answer,) = get(fleet(), f"{TABLES}?sort=growth&within=3600&limit=2")
    assert [(each["table"], each["growth"]["share"]) for each in answer.json()["rows"]] == [("t1", 1.0), ("t0", 0.01)]


@pytest.mark.parametrize(
    ("query", "field"),
    [("severity=bad", "severity"), ("format=csv", "format"), ("has_job=maybe", "has_job"), ("within=0", "within")],
)
def test_a_wrong_value_is_an_error_that_names_its_parameter(query: str, field: str) -> None:
    for path in (TABLES, f"{TABLES}/facets"):
        (answer,) = get(fleet(), f"{path}?{query}")
        assert answer.status_code == 400
        assert field in answer.text


def test_a_cursor_alone_keeps_all_filters() -> None:
    made = fleet()
    (first,) = get(made, f"{TABLES}?owner=ben&has_job=false&sort=name&dir=asc&limit=3")
    (rest, other) = get(
        made,
        f"{TABLES}?limit=3&cursor={first.json()['next_cursor']}",
        f"{TABLES}?owner=ada&cursor={first.json()['next_cursor']}",
    )
    assert names(first) + names(rest) == ["t1", "t3", "t4", "t5"]
    assert other.status_code == 400
    assert "owner" in other.text


def test_facets_count_each_value() -> None:
    (answer,) = get(fleet(), f"{TABLES}/facets?format=delta")
    found = answer.json()
    assert found["total"] == 2
    assert found["format"] == [{"value": name, "tables": 2} for name in ("delta", "hudi", "iceberg")]
    assert found["owner"] == [{"value": "ben", "tables": 2}]
    assert found["has_job"] == [{"value": "true", "tables": 0}, {"value": "false", "tables": 2}]


def test_a_job_of_metrics_counts_from_its_first_run() -> None:
    made = fleet()
    made.job_directory.take([(TableName("lake", "sales", "t3"), "report")])
    (answer,) = get(made, f"{TABLES}?sort=name&dir=asc&has_job=true")
    assert names(answer) == ["t2", "t3"]
