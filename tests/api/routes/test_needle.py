"""A literal that is planted in filters, statements, plans, parameters and messages of every event that other programs
push is found nowhere afterwards: not in the inbox, meta tables, pages, metrics, stream or log.
"""

from __future__ import annotations

import asyncio
import json
import logging
from typing import Any

import msgspec
import pytest
from litestar import Litestar
from litestar.di import Provide

from limnograph.adapters.meta.schema import arrow_table
from limnograph.api.routes.events import API_HANDLERS
from limnograph.domain.facts.meta_tables import META_TABLES
from limnograph.services.pipeline.drain import Drain
from memory_meta import MemoryMetaStore
from pushed_bodies import CLOUD, COMMIT, COMPLETE, METADATA, READ, ROW, SCAN, knowing, s3
from serving_kit import BIG, NOW, client

NEEDLE = "needle-4711"
SQL = f"select * from orders where customer = '{NEEDLE}'"
FILTER = {"type": "eq", "term": "customer", "value": NEEDLE}
MESSAGE = f'Cannot commit: records matching ref(name="customer") == "{NEEDLE}"\n== SQL ==\n{SQL}'


def facets(given: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {**given, "facets": {**given.get("facets", {}), **more}}


SCAN_FACET = {
    **READ["inputFacets"]["icebergScanReport"],
    "filter": SQL,
    "filterDescription": SQL,
    "metadata": {"q": SQL},
}
LINEAGE = {
    **COMPLETE,
    "eventType": "FAIL",
    "run": facets(
        COMPLETE["run"],
        errorMessage={"message": MESSAGE, "stackTrace": SQL},
        spark_properties={"properties": {"spark.sql.x": NEEDLE}},
        **{"spark.logicalPlan": {"plan": [SQL]}},
    ),
    "job": facets(COMPLETE["job"], sql={"query": SQL}),
    "inputs": [{**READ, "inputFacets": {"icebergScanReport": SCAN_FACET}}],
}
REPORT = {**SCAN, "filter": FILTER, "metadata": {"engine-name": "spark", "query": SQL}, "metrics": {f"X {NEEDLE}": 5}}
SPARK = {
    "run_id": "r-1",
    "job_name": "churn",
    "filter": SQL,
    "reports": [
        {"kind": "scan", "execution": 1, "node": 0, "at": NOW // 1000, "table": "lake.sales.orders", "filter": SQL,
         "description": SQL, "filter_columns": ["customer"], "metrics": {f"X {NEEDLE}": 5}, "message": MESSAGE},
    ],
}  # fmt: skip
TRINO = {
    "metadata": {"queryId": "20261126_1", "query": SQL, "plan": SQL, "jsonPlan": SQL, "preparedQuery": SQL},
    "context": {"user": "ada", "source": "dbt", "sessionProperties": {"x": NEEDLE}, "clientInfo": NEEDLE,
                "clientTags": [NEEDLE], "traceToken": NEEDLE, "serverVersion": "476"},
    "statistics": {"wallTime": 1.5, "operatorSummaries": [SQL], "planNodeStatsAndCosts": SQL},
    "ioMetadata": {"inputs": [{"catalogName": "lake", "schema": "sales", "table": "orders", "columns": ["id"],
                               "connectorInfo": {"snapshotId": BIG, "where": SQL}, "connectorMetrics": {"x": SQL}}],
                   "output": {"catalogName": "lake", "schema": "sales", "table": "orders",
                              "connectorOutputMetadata": SQL}},
    "failureInfo": {"errorCode": {"name": "ICEBERG_COMMIT_ERROR"}, "failuresJson": SQL,
                    "failureMessage": f"Failed to commit during write: {MESSAGE}"},
    "warnings": [{"message": SQL}],
    "endTime": "2026-11-21T09:50:00Z",
}  # fmt: skip
BODIES: dict[str, Any] = {
    "/lineage": LINEAGE,
    "/notify/iceberg-report": REPORT,
    "/notify/spark": SPARK,
    "/notify/trino": TRINO,
    "/notify/cloudevents": {**CLOUD, "data": {"metadata-location": METADATA, "updates": [FILTER], "query": SQL}},
    "/notify/s3": {"Records": [{**s3("wh/sales/orders/metadata/x.json"), "requestParameters": {"q": NEEDLE}}]},
    "/notify/debezium": {"before": None, "after": {**ROW, "note": NEEDLE}, "op": "u", "source": {"query": SQL}},
}


def routes() -> set[str]:
    """Paths of all routes that accept events of other programs."""
    backend = Provide(lambda: None, sync_to_thread=False)
    return {
        route.path for route in Litestar(API_HANDLERS, dependencies={"backend": backend}, openapi_config=None).routes
    }


def test_every_route_that_accepts_events_has_a_body_with_the_needle() -> None:
    assert routes() == set(BODIES)
    assert all(NEEDLE in json.dumps(body) for body in BODIES.values())


def test_the_needle_is_found_nowhere(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    server = knowing()
    pages = asyncio.run(pushed(server))
    inbox = server.options.inbox
    kinds = ("run", "report", "notification")
    kept = {kind: [item.payload.decode() for item in inbox.items(kind)] for kind in kinds}
    assert [len(kept["run"]), len(kept["report"]) >= 5, len(kept["notification"]) >= 3] == [1, True, True]
    store = MemoryMetaStore()
    store.ensure()
    Drain(inbox, store, server.options.clock, arrow_table).run()
    rows = {table.name: str(store.rows(table).to_pylist()) for table in META_TABLES}
    assert "customer" in rows["reports"]
    assert "20261126_1" in rows["reports"]
    assert '"refused":1' in pages["/api/v1/tables/lake/sales/orders/reads"], "the page shows the refused commit"
    events = [event.data.decode() for event in server.live._ring]
    for where in (kept, rows, pages, events, caplog.text):
        assert NEEDLE not in str(where)


async def pushed(server: Any) -> dict[str, str]:
    """Responses to the events, and all pages that may show them."""
    found = {}
    async with client(server) as http:
        for path, body in BODIES.items():
            answer = await http.post(f"/api/v1{path}", json=body)
            assert answer.status_code == 202, (path, answer.text)
            found[path] = answer.text
        for path in ("/v1/lake/namespaces/sales/tables/orders/metrics", "/v1/namespaces/sales/tables/orders/metrics"):
            assert (await http.post(path, json=REPORT)).status_code == 202
        table = "/api/v1/tables/lake/sales/orders"
        times = {"from": NOW // 1000 - 7_200_000, "to": NOW // 1000}
        pages = ("/metrics", "/api/v1/status", "/api/v1/tables", "/api/v1/jobs", "/api/v1/find?q=needle", table)
        server.read_log.catch_up()
        for path in (
            *pages,
            f"{table}/commits",
            f"{table}/reads",
            f"{table}/timeline",
            f"{table}/explain?job=churn.append_data",
        ):
            found[path] = (await http.get(path, params=times if "timeline" in path else None)).text
    found["/api/v1/find?q=needle"] = found["/api/v1/find?q=needle"].replace("needle", "")
    return found


def test_a_rejected_body_is_not_repeated_in_the_answer_or_the_log(caplog: pytest.LogCaptureFixture) -> None:
    server = knowing()

    async def refused() -> list[str]:
        async with client(server) as http:
            bodies = (
                {**TRINO, "metadata": {"queryId": 5, "query": SQL}},
                {**SPARK, "reports": [{"kind": 5, "filter": SQL}]},
            )
            paths = ("/api/v1/notify/trino", "/api/v1/notify/spark")
            answers = [await http.post(path, json=body) for path, body in zip(paths, bodies, strict=True)]
            assert [answer.status_code for answer in answers] == [400, 400]
            return [answer.text for answer in answers]

    assert NEEDLE not in str(asyncio.run(refused())) + caplog.text


def test_trinos_limit_of_a_body_is_its_own() -> None:
    server = knowing()

    async def sizes() -> list[int]:
        async with client(server) as http:
            large = {**TRINO, "metadata": {"queryId": "big", "query": "x" * 7_000_000}}
            huge = {**TRINO, "metadata": {"queryId": "huge", "query": "x" * 9_000_000}}
            answers = [await http.post("/api/v1/notify/trino", json=body) for body in (large, huge)]
            answers.append(await http.post("/api/v1/notify/spark", json=SPARK | {"filter": "x" * 2_000_000}))
            return [answer.status_code for answer in answers]

    assert asyncio.run(sizes()) == [202, 413, 413]
    kept = [msgspec.json.decode(item.payload) for item in server.options.inbox.items("report")]
    assert {(row["kind"], row["query_id"]) for row in kept} == {("query", "big"), ("commit", "big")}
    assert COMMIT["metadata"]["app-id"] == "app-1"
