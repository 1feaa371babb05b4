"""Runbooks for one table on the wire."""

from __future__ import annotations

import asyncio
import json

import httpx
import pytest

from limnograph.analysis.advice.statements.template import blocks_of
from limnograph.api.docs.runbooks import runbooks
from limnograph.domain.facts.meta_tables import PartitionFact
from serving_kit import BIG, HOUR, NOW, change, client, lake, moved, parts, row

TABLE = "/api/v1/tables/lake/sales/orders/runbooks"
SCHEMA = {"fields": [{"id": 1, "name": "event_time", "type": "timestamptz"}]}
BY_DAY = {"spec-id": 0, "fields": [{"name": "event_time_day", "transform": "day", "source-id": 1}]}


def get(path: str, **values: object) -> httpx.Response:
    touched = [PartitionFact(partition="event_time_day=2026-11-21", spec_id=0, added_data_files=9)]
    known = [
        change("schema", NOW - 9 * HOUR, "0", detail=json.dumps(SCHEMA)),
        change("spec", NOW - 9 * HOUR, "0", detail=json.dumps(BY_DAY)),
        moved(BIG, NOW - HOUR),
    ]
    made = parts(lake([row(BIG, NOW - HOUR, 9, partitions=touched, **values)], known))

    async def request() -> httpx.Response:
        async with client(made) as http:
            return await http.get(path)

    return asyncio.run(request())


def test_statements_have_the_tables_names_and_the_rows_of_the_commit() -> None:
    found = get(f"{TABLE}/small-file-proliferation?snapshot_id={BIG}").json()
    statements = found["statements"]
    assert len(statements) == len(blocks_of(runbooks()["small-file-proliferation"]))
    spark = next(each for each in statements if "rewrite_data_files" in each["code"])
    assert spark["note"] is None
    assert "table => 'lake.sales.orders'" in spark["code"]
    assert "where => '`event_time` >= TIMESTAMP \\'2026-11-21 00:00:00+00:00\\'" in spark["code"]
    trino = next(each for each in statements if "EXECUTE optimize" in each["code"])
    assert "WHERE \"event_time\" >= TIMESTAMP '2026-11-21 00:00:00 UTC'" in trino["code"]


def test_without_a_commit_the_statement_says_that_it_affects_the_whole_table() -> None:
    statements = get(f"{TABLE}/small-file-proliferation").json()["statements"]
    spark = next(each for each in statements if "rewrite_data_files" in each["code"])
    assert spark["note"].endswith("The statement affects the whole table.")


def test_statements_for_iceberg_are_not_offered_for_another_format() -> None:
    statements = get(f"{TABLE}/lakehouse-table-stale", format="delta").json()["statements"]
    assert {each["code"] for each in statements if (each["note"] or "").startswith("Iceberg")} == {None}
    assert any((each["note"] or "").startswith("Iceberg") for each in statements)


@pytest.mark.parametrize(
    ("path", "status"),
    [
        (f"{TABLE}/no-such-runbook", 404),
        (f"{TABLE}/small-file-proliferation?snapshot_id=12x", 400),
        (f"{TABLE}/small-file-proliferation?snapshot_id=77", 404),
        ("/api/v1/tables/lake/sales/nothing/runbooks/small-file-proliferation", 404),
    ],
)
def test_what_does_not_exist_is_a_problem(path: str, status: int) -> None:
    assert get(path).status_code == status
