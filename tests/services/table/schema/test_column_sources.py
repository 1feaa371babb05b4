"""The origin of a table's columns: the newest statement that names another table, masking, and what stays unknown."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from limnograph.domain.errors import SourceUnavailable
from limnograph.domain.facts.events import RunFact, RunTable
from limnograph.domain.ids import TableName
from limnograph.domain.time import Micros
from serving_kit import BIG, HOUR, NOW, change, client, lake, moved, parts, row

NAME = TableName("lake", "sales", "orders")
ORDERS, RAW = "s3://bucket/wh/sales/orders", "s3://bucket/wh/bronze/raw"


def use(place: str, role: str, **more: Any) -> RunTable:
    namespace, table = place.split(".")
    return RunTable(
        catalog="lake",
        namespace=namespace,
        table=table,
        role=role,
        location=f"s3://bucket/wh/{namespace}/{table}",
        **more,
    )


def facets(**columns: tuple[str, str, bool | None]) -> str:
    """`column=(table, column, masked)` as stored facets."""
    fields = {
        column: {
            "inputFields": [
                {
                    "namespace": "s3://bucket",
                    "name": f"wh/{table.replace('.', '/')}",
                    "field": field,
                    "transformations": [{"type": "DIRECT", "subtype": "IDENTITY", "masking": masked}],
                }
            ]
        }
        for column, (table, field, masked) in columns.items()
    }
    return json.dumps({"columnLineage": {"fields": fields}})


def wrote(run_id: str, at: int, text: str | None, status: str = "ok", **more: Any) -> RunFact:
    tables = [use("bronze.raw", "reads"), use("sales.orders", "writes", facets=text, **more)]
    instant = Micros(at)
    return RunFact(
        run_id=run_id, status=status, job_name="load", at=instant, ended_at=instant, observed_at=instant, tables=tables
    )


def server(*durable: RunFact, columns: tuple[str, ...] = ("id", "email_hash", "note")) -> Any:
    fields = [{"id": i, "name": name, "type": "string", "required": False} for i, name in enumerate(columns, 1)]
    schema = change("schema", NOW - 9 * HOUR, "0", detail=json.dumps({"schema-id": 0, "fields": fields}))
    engine = lake([row(1, NOW - 9 * HOUR)], [moved(1, NOW - 9 * HOUR), schema])
    engine.append([], [], list(durable))
    return parts(engine)


def lineage(made: Any, *runs: RunFact) -> dict[str, Any]:
    async def ask() -> dict[str, Any]:
        await made.runs.accept(runs)
        async with client(made) as http:
            found: dict[str, Any] = (
                (await http.get("/api/v1/tables/lake/sales/orders/lineage")).raise_for_status().json()
            )
            return found

    return asyncio.run(ask())


def by_name(page: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {column["column"]: column for column in page["columns"]}


def test_the_newest_run_that_names_another_table_decides_and_a_column_that_none_names_is_unknown() -> None:
    old = facets(id=("bronze.raw", "id", False), email_hash=("bronze.raw", "email", False))
    new = facets(email_hash=("bronze.raw", "email", True))
    page = lineage(
        server(),
        wrote("old", NOW - 3 * HOUR, old),
        wrote("new", NOW - HOUR, new, written_snapshot_id=BIG),
        wrote("failed", NOW, facets(note=("bronze.raw", "x", False)), status="failed"),
        wrote("branch", NOW, facets(note=("bronze.raw", "x", False)), ref="audit"),
    )
    found = by_name(page)
    assert list(found) == ["id", "email_hash", "note"]
    assert [(c["run_id"], c["masked"]) for c in page["columns"]] == [("old", False), ("new", True), (None, None)]
    (origin,) = found["email_hash"]["origins"]
    assert (origin["table"], origin["from_column"]) == ("lake.bronze.raw", "email")
    assert (found["note"]["origins"], found["note"]["own_run_id"]) == ([], None)
    assert [(run["run_id"], run["snapshot_id"]) for run in page["runs"]] == [("new", str(BIG)), ("old", None)]


def test_a_merge_that_names_only_its_target_leaves_the_origin_unknown_and_says_what_it_read() -> None:
    merge = facets(id=("sales.orders", "id", False), note=("sales.orders", "note", False))
    page = lineage(
        server(),
        wrote("created", NOW - 3 * HOUR, facets(id=("bronze.raw", "id", False))),
        wrote("merge", NOW - HOUR, merge),
    )
    found = by_name(page)
    assert (found["id"]["run_id"], found["id"]["own_run_id"]) == ("created", "merge")
    assert (found["note"]["origins"], found["note"]["masked"], found["note"]["own_run_id"]) == ([], None, "merge")
    assert page["runs"][0]["reads"] == ["lake.bronze.raw"]
    again = lineage(server(), wrote("merge", NOW - 3 * HOUR, merge), wrote("after", NOW, facets(id=("b.c", "x", True))))
    assert by_name(again)["id"]["own_run_id"] is None, "a newer statement says more"


def test_a_weekly_run_is_read_from_the_meta_table_and_an_older_one_is_not() -> None:
    week = wrote("weekly", NOW - 7 * 24 * HOUR, facets(id=("bronze.raw", "id", False)))
    older = wrote("older", NOW - 9 * 24 * HOUR, facets(note=("bronze.raw", "x", False)))
    made = server(week, older)
    page = lineage(made)
    assert [c["run_id"] for c in page["columns"]] == ["weekly", None, None]
    assert page["since"] == (NOW - 8 * 24 * HOUR) // 1_000


def test_without_the_meta_table_runs_in_memory_are_shown_and_the_page_says_so() -> None:
    made = server()
    made.options.engine.failure = SourceUnavailable("meta", "no storage")
    page = lineage(made, wrote("new", NOW - HOUR, facets(id=("bronze.raw", "id", None))))
    assert (by_name(page)["id"]["run_id"], by_name(page)["id"]["masked"]) == ("new", None)
    assert "older_runs_unread" in [note["code"] for note in page["notes"]]


@pytest.mark.parametrize(
    ("steps", "masked"),
    [
        ([("DIRECT", True), ("DIRECT", False)], False),
        ([("DIRECT", True), ("DIRECT", None)], None),
        ([("DIRECT", True), ("INDIRECT", False)], True),
        ([("INDIRECT", True)], None),
    ],
)
def test_a_column_is_masked_only_if_every_value_that_it_takes_over_is(
    steps: list[tuple[str, bool | None]], masked: bool | None
) -> None:
    inputs = [
        {"namespace": "s3://bucket", "name": "wh/bronze/raw", "field": f"f{i}", "transformations": [said]}
        for i, (kind, masking) in enumerate(steps)
        if (said := {"type": kind, "subtype": "X", "masking": masking})
    ]
    text = json.dumps({"columnLineage": {"fields": {"id": {"inputFields": inputs}}}})
    assert by_name(lineage(server(), wrote("r", NOW - HOUR, text)))["id"]["masked"] is masked
