"""Recommended maintenance by HTTP: the queue, one table, and what is wrong with a request."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from advised_lake import AdvisedLake, evaluate
from limnograph.api.metrics.exposition import Exposition
from limnograph.api.metrics.served_metrics import ServedMetrics
from limnograph.wiring.server import ServerServices
from limnograph.wiring.server_metrics import recommended_plans, table_costs
from serving_kit import client

QUEUE = "/api/v1/maintenance"
ORDERS = "/api/v1/tables/lake/sales/orders/maintenance"


@pytest.fixture
def made(tmp_path: Path) -> ServerServices:
    world = AdvisedLake(tmp_path)
    world.add("orders", 40)
    world.add("clicks", 90, seed=2)
    found = world.start()
    evaluate(found)
    return found


def get(made: ServerServices, path: str) -> tuple[int, Any]:
    async def asked() -> tuple[int, Any]:
        async with client(made) as http:
            answer = await http.get(path)
            return answer.status_code, answer.json()

    return asyncio.run(asked())


def test_the_queue_has_the_exact_plan_of_each_table(made: ServerServices) -> None:
    status, page = get(made, QUEUE)
    assert status == 200
    assert [row["table"] for row in page["rows"]] == ["clicks", "orders"]
    plan = page["rows"][1]["recommendation"]
    assert plan["scope"] == {"partitions": ["region=eu"], "where": "`region` = 'eu'"}
    assert plan["statements"]["spark"].startswith("CALL lake.system.rewrite_data_files(")
    assert {guard["code"]: guard["ok"] for guard in plan["guards"]} == {"quiet": True, "no_other_maintenance": True}
    assert (plan["predicted"]["files_in"], plan["predicted"]["files_out"]) == (40, 1)


def test_a_table_has_its_bytes_and_costs(made: ServerServices) -> None:
    status, answer = get(made, ORDERS)
    assert status == 200
    advice = answer["advice"]
    assert advice["bytes"]["live"] == 40 * 5 * 2**20
    assert advice["cost_per_month"]["storage"] > 0
    assert advice["cost_per_month"]["requests"] is None
    assert {each["rule"] for each in advice["not_known"]} == {"orphans", "cluster"}
    assert answer["prices_are_default"] is True
    assert [plan["state"] for plan in answer["plans"]] == ["proposed"]


def test_costs_after_maintenance_are_compared_for_a_table_and_for_those_that_match(made: ServerServices) -> None:
    _, answer = get(made, ORDERS)
    found = answer["comparison"]
    assert found["load"] == {"live_files": 40, "compacted_files": 1, "reads_per_day": None}
    situations = ["now", "expired", "compacted", "expired_and_compacted"]
    assert [row["situation"] for row in found["rows"]] == situations
    _, fleet = get(made, f"{QUEUE}/comparison")
    _, clicks = get(made, f"{QUEUE}/comparison?q=clicks")
    assert (fleet["tables"], clicks["tables"], clicks["live_bytes"]) == (2, 1, 90 * 5 * 2**20)
    assert fleet["live_bytes"] == clicks["live_bytes"] + answer["advice"]["bytes"]["live"]
    assert fleet["prices"]["is_default"] is True


def test_plans_and_bytes_are_on_the_metrics_page(made: ServerServices) -> None:
    plans = ServedMetrics(dict, "", plans=lambda: recommended_plans(made))
    exposition = Exposition(lambda: (1, []), lambda: None, costs=lambda: table_costs(made), collectors=[plans])
    lines = exposition().decode().splitlines()
    orders = '{catalog="lake",table_namespace="sales",table="orders"}'
    assert 'limnograph_recommendations{rule="compact"} 2.0' in lines
    assert f"lakehouse_table_held_bytes{orders} 0" in lines
    assert any(line.startswith("lakehouse_table_cost_per_month{") for line in lines)


@pytest.mark.parametrize(
    ("path", "status", "field"),
    [
        (f"{QUEUE}?limit=0", 400, "limit"),
        (f"{QUEUE}?cursor=x", 400, "cursor"),
        (f"{QUEUE}?sort=rank", 400, "sort"),
        ("/api/v1/tables/lake/sales/nothing/maintenance", 404, None),
    ],
)
def test_a_wrong_request_names_what_is_wrong(made: ServerServices, path: str, status: int, field: str | None) -> None:
    found, problem = get(made, path)
    assert found == status
    assert field is None or field in str(problem)


def test_a_server_that_cannot_read_tables_says_so(made: ServerServices) -> None:
    from dataclasses import replace

    blind = replace(made, backend=made.backend._replace(maintenance=None))
    status, problem = get(blind, QUEUE)
    assert status == 503
    assert "does not read tables" in problem["detail"]
