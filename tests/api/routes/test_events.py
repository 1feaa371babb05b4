"""What other programs push: durable before the answer, refused with the field's name, never an error of ours."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import msgspec
import pytest

from limnograph.domain.errors import SourceUnavailable
from limnograph.domain.ids import TableName
from pushed_bodies import CLOUD, COMMIT, COMPLETE, METADATA, ROW, RUN, SCAN, START, knowing, s3
from serving_kit import BIG, HOUR, NOW, client


def post(path: str, body: Any, server: Any = None, **headers: str) -> httpx.Response:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()

    async def ask() -> httpx.Response:
        async with client(server or knowing()) as http:
            return await http.post(path, content=content, headers={"content-type": "application/json", **headers})

    return asyncio.run(ask())


def items(server: Any, kind: str) -> list[dict[str, Any]]:
    return [msgspec.json.decode(item.payload) for item in server.options.inbox.items(kind)]


def test_a_run_from_openlineage_has_its_tables_and_the_snapshot_that_it_read() -> None:
    server = knowing()
    assert post("/api/v1/lineage", START, server).json() == {"accepted": 1, "duplicates": 0}
    answer = post("/api/v1/lineage", COMPLETE, server)
    assert (answer.status_code, answer.json()["accepted"]) == (202, 1)
    assert post("/api/v1/lineage", COMPLETE, server).json() == {"accepted": 0, "duplicates": 1}
    found = asyncio.run(server.runs.of_table(TableName("lake", "sales", "orders"), NOW - 2 * HOUR, NOW))
    assert [(r.job, r.role, r.status, r.application_id, r.read_snapshot_id, r.seconds) for r in found] == [
        ("churn.append_data", "reads", "ok", "app-1", BIG, 599.876544)
    ]
    written = asyncio.run(server.runs.of_table(TableName("lake", "sales", "churn"), NOW - 2 * HOUR, NOW))
    assert [run.role for run in written] == ["writes"]
    end, start = sorted(items(server, "run"), key=lambda item: item["status"])
    assert (start["engine"], start["engine_version"], start["source"]) == ("spark", "4.1.4", "openlineage")
    assert end["tables"][0]["location"] == "s3://bucket/wh/sales/orders"


def test_iceberg_facets_of_openlineage_become_reports_and_an_output_is_a_notification() -> None:
    server = knowing()
    for _ in range(2):
        post("/api/v1/lineage", COMPLETE, server)
    scan, commit = sorted(items(server, "report"), key=lambda r: r["kind"] == "commit")
    assert (scan["table"], scan["snapshot_id"], scan["duration_seconds"]) == ("orders", BIG, 0.052)
    assert (scan["result_data_files"], scan["skipped_data_manifests"], scan["run_id"]) == (12, 3, RUN)
    assert (commit["table"], commit["attempts"], commit["duration_seconds"]) == ("churn", 2, 1.5)
    assert commit["metrics"]["added-dvs"] == "1"
    assert [(n["table"], n["snapshot_id"]) for n in items(server, "notification")] == [("churn", 7)]


@pytest.mark.parametrize(
    ("kind", "status"), [("START", "running"), ("COMPLETE", "ok"), ("FAIL", "failed"), ("ABORT", "failed")]
)
def test_every_transition_has_its_status(kind: str, status: str) -> None:
    server = knowing()
    facets = {"errorMessage": {"message": "boom", "programmingLanguage": "JAVA"}}
    post("/api/v1/lineage", {**START, "eventType": kind, "run": {"runId": RUN, "facets": facets}}, server)
    assert [(r["status"], r["message"]) for r in items(server, "run")] == [(status, "boom")]


@pytest.mark.parametrize("kind", ["RUNNING", "OTHER", None])
def test_an_event_without_a_transition_is_accepted_and_makes_no_run(kind: str | None) -> None:
    server = knowing()
    assert post("/api/v1/lineage", {**COMPLETE, "eventType": kind}, server).status_code == 202
    assert items(server, "run") == []
    assert len(items(server, "report")) == 2


def test_events_without_a_run_are_accepted_and_ignored() -> None:
    event = {
        "eventTime": "2026-11-21T09:00:00Z",
        "producer": "x",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/DatasetEvent",
        "dataset": {"namespace": "n", "name": "d"},
    }
    assert post("/api/v1/lineage", event).json() == {"accepted": 0, "duplicates": 0}


@pytest.mark.parametrize(
    ("dataset", "name"),
    [
        ({"namespace": "trino://host:8080", "name": "lake.sales.orders"}, ("lake", "sales", "orders")),
        ({"namespace": "s3a://bucket", "name": "/wh/sales/orders/"}, ("lake", "sales", "orders")),
        ({"namespace": "hive://m:9083", "name": "sales.orders"}, ("lake", "sales", "orders")),
        ({"namespace": "hive://m:9083", "name": "other.sales.orders"}, ("lake", "sales", "orders")),
        ({"namespace": "file", "name": "/warehouse/new/table"}, (None, "file", "/warehouse/new/table")),
        ({"namespace": "kafka://h:9092", "name": "topic"}, (None, "kafka://h:9092", "topic")),
        ({"namespace": "postgres://h:5432", "name": "db.public.t"}, (None, "postgres://h:5432", "db.public.t")),
        (
            {
                "namespace": "file",
                "name": "/warehouse/new/table",
                "facets": {"symlinks": {"identifiers": [{"namespace": "x", "name": "new.table", "type": "TABLE"}]}},
            },
            ("lake", "new", "table"),
        ),
        (
            {
                "namespace": "file",
                "name": "/elsewhere",
                "facets": {
                    "catalog": {"name": "theirs", "metadataUri": "sqlite:////x/catalog.db"},
                    "symlinks": {"identifiers": [{"namespace": "x", "name": "a.b.c", "type": "TABLE"}]},
                },
            },
            ("lake", "a.b", "c"),
        ),
        (
            {"namespace": "file", "name": "/elsewhere", "facets": {"symlinks": 5, "catalog": [], "version": {}}},
            (None, "file", "/elsewhere"),
        ),
    ],
)
def test_a_dataset_is_identified_by_its_catalog_its_symlink_or_its_folder_or_stays_unknown(
    dataset: dict[str, Any], name: tuple[str | None, str, str]
) -> None:
    server = knowing()
    post("/api/v1/lineage", {**COMPLETE, "inputs": [], "outputs": [dataset]}, server)
    table = items(server, "run")[0]["tables"][0]
    assert (table["catalog"], table["namespace"], table["table"]) == name


def test_a_commit_report_to_a_rest_catalog_is_about_the_table_of_its_url() -> None:
    server = knowing()
    path = "/v1/prod%2Fwarehouse/namespaces/sales/tables/orders/metrics"
    for _ in range(2):
        assert post("/v1/prod/namespaces/sales/tables/orders/metrics", COMMIT, server).status_code == 202
    assert post("/v1/namespaces/a%1Fb/tables/c/metrics", SCAN, server).status_code == 202
    assert post(path, COMMIT, server).status_code == 400  # an escaped slash is never canonical
    commit, scan = items(server, "report")[0], items(server, "report")[-1]
    commit, scan = (commit, scan) if commit["kind"] == "commit" else (scan, commit)
    assert (commit["catalog"], commit["namespace"], commit["table"]) == ("lake", "sales", "orders")
    assert (commit["duration_seconds"], commit["attempts"], commit["added_data_files"]) == (2.5, 3, 50_000)
    assert (commit["engine"], commit["application_id"], commit["snapshot_id"]) == ("spark", "app-1", BIG)
    assert (scan["namespace"], scan["table"], scan["duration_seconds"]) == ("a.b", "c", 0.0015)
    assert (scan["filter"], scan["filter_columns"]) == (None, ["id"])
    assert {n["table"] for n in items(server, "notification")} == {"orders"}


def test_a_report_without_a_url_names_its_table_itself() -> None:
    server = knowing()
    assert post("/api/v1/notify/iceberg-report", SCAN, server).json() == {"accepted": 1, "duplicates": 0}
    assert post("/api/v1/notify/iceberg-report", SCAN, server).json() == {"accepted": 0, "duplicates": 1}
    assert post("/api/v1/notify/iceberg-report", {**SCAN, "table-name": "x.y.z"}, server).json()["accepted"] == 1
    assert items(server, "notification") == []
    told = {(r["catalog"], r["namespace"], r["table"]) for r in items(server, "report")}
    assert told == {("lake", "sales", "orders"), (None, "x.y", "z")}


@pytest.mark.parametrize(
    ("event", "table"),
    [
        ({"name": "orders", "namespace": "sales", "prefix": "wh", "tabular-type": "table"}, "orders"),
        ({"data": {"namespace": ["sales"], "name": "orders"}}, "orders"),
        ({"data": {"table-identifier": {"namespace": ["sales"], "name": "orders"}}}, "orders"),
        ({"data": {"metadata-location": METADATA}}, "orders"),
        ({"subject": "lake.sales.orders"}, "orders"),
        ({"type": "createNamespace", "data": [1, {"x": None}]}, None),
    ],
)
def test_a_cloudevent_names_its_table_in_one_of_several_ways(event: dict[str, Any], table: str | None) -> None:
    server = knowing()
    headers = {"content-type": "application/cloudevents+json"}
    assert post("/api/v1/notify/cloudevents", {**CLOUD, **event}, server, **headers).json()["accepted"] == 1
    assert [n.get("table") for n in items(server, "notification")] == [table]


def test_cloudevents_come_in_batches_and_in_headers_and_once() -> None:
    server = knowing()
    batch = [{**CLOUD, "id": str(i), "subject": "lake.sales.orders"} for i in (1, 2, 2)]
    assert post("/api/v1/notify/cloudevents", batch, server).json() == {"accepted": 2, "duplicates": 1}
    headers = {
        "ce-specversion": "1.0",
        "ce-id": "9",
        "ce-source": "s",
        "ce-type": "t",
        "ce-subject": "lake.sales.orders",
    }
    assert post("/api/v1/notify/cloudevents", b"", server, **headers).json()["accepted"] == 1
    assert post("/api/v1/notify/cloudevents", {"a": 1}, server, **headers).json()["duplicates"] == 1


def test_events_of_an_object_store_are_about_the_table_whose_metadata_moved() -> None:
    server = knowing()
    keys = ["wh/sales/orders/metadata/00008-bb.metadata.json", "wh/new+table/_delta_log/00000000000000000007.json"]
    body = {
        "EventName": "s3:ObjectCreated:Put",
        "Records": [s3(key) for key in (*keys, "wh/sales/orders/data/1.parquet")],
    }
    assert post("/api/v1/notify/s3", body, server).json() == {"accepted": 2, "duplicates": 0}
    assert post("/api/v1/notify/s3", body, server).json() == {"accepted": 0, "duplicates": 2}
    told = {(n.get("table"), n["location"]) for n in items(server, "notification")}
    assert told == {("orders", "s3://bucket/wh/sales/orders"), (None, "s3://bucket/wh/new table")}


@pytest.mark.parametrize(
    "body",
    [
        {"Service": "Amazon S3", "Event": "s3:TestEvent", "Bucket": "bucket"},
        {"Type": "SubscriptionConfirmation", "Message": "You have chosen to subscribe", "SubscribeURL": "https://x"},
        {"Records": []},
    ],
)
def test_a_test_event_of_an_object_store_is_accepted(body: dict[str, Any]) -> None:
    assert post("/api/v1/notify/s3", body).json() == {"accepted": 0, "duplicates": 0}


def test_sns_and_eventbridge_wrap_the_same_events() -> None:
    server = knowing()
    key = "wh/sales/orders/metadata/00008-bb.metadata.json"
    wrapped = {"Type": "Notification", "Message": json.dumps({"Records": [s3(key)]})}
    bridge = {"detail-type": "Object Created", "source": "aws.s3", "detail": s3(key)["s3"]}
    assert post("/api/v1/notify/s3", wrapped, server).json()["accepted"] == 1
    assert post("/api/v1/notify/s3", bridge, server).json()["accepted"] == 1
    assert {n["table"] for n in items(server, "notification")} == {"orders"}


@pytest.mark.parametrize(
    ("body", "accepted"),
    [
        ({"op": "u", "before": None, "after": ROW, "source": {"table": "iceberg_tables"}}, 1),
        ({"schema": {"type": "struct"}, "payload": {"op": "c", "after": ROW}}, 1),
        ({"op": "d", "before": ROW, "after": None}, 1),
        ([{"op": "u", "after": ROW}, {"payload": None}, {**ROW, "__op": "u"}], 1),
        ({"payload": None}, 0),
        (b"", 0),
        ({"op": "u", "after": {"namespace": "x"}, "source": {"table": "iceberg_namespace_properties"}}, 0),
        ({"op": "t", "before": None, "after": None}, 0),
    ],
)
def test_a_change_of_a_jdbc_catalog_names_its_table(body: Any, accepted: int) -> None:
    server = knowing()
    answer = post("/api/v1/notify/debezium", body, server)
    assert (answer.status_code, answer.json()["accepted"]) == (202, accepted)
    assert {n["table"] for n in items(server, "notification")} == ({"orders"} if accepted else set())


def without(body: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in body.items() if key != name}


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("lineage", b"{", "body"),
        ("lineage", b"\xff", "body"),
        ("lineage", b"[" * 200_000, "body"),
        ("lineage", [], "body"),
        ("lineage", {**START, "eventTime": "yesterday"}, "eventTime"),
        ("lineage", {**START, "eventTime": "0001-01-01T00:00:00Z"}, "eventTime"),
        ("lineage", without(START, "run"), "run"),
        ("lineage", {**START, "run": {}}, "run.runId"),
        ("lineage", {**START, "run": {"runId": ""}}, "run.runId"),
        ("lineage", {**START, "job": {"namespace": "x"}}, "job.name"),
        ("lineage", {**START, "eventType": "BEGIN"}, "eventType"),
        ("lineage", {**START, "inputs": [{"namespace": "n"}]}, "inputs[0].name"),
        ("notify/iceberg-report", without(COMMIT, "snapshot-id"), "snapshot-id"),
        ("notify/iceberg-report", {**COMMIT, "report-type": "other"}, "report-type"),
        ("notify/iceberg-report", {**COMMIT, "snapshot-id": 2**63}, "snapshot-id"),
        ("notify/iceberg-report", {**COMMIT, "metrics": []}, "metrics"),
        ("notify/cloudevents", without(CLOUD, "id"), "id"),
        ("notify/cloudevents", {**CLOUD, "specversion": "0.3"}, "specversion"),
        ("notify/cloudevents", [CLOUD, {}], "[1].specversion"),
        ("notify/s3", {}, "Records"),
        ("notify/s3", {"Records": [{"s3": {"bucket": {}}}]}, "Records[0].s3.bucket.name"),
        ("notify/s3", {"Type": "Notification", "Message": "hello"}, "body"),
        ("notify/debezium", {"op": "u"}, "after"),
        ("notify/debezium", {"payload": {"op": "u", "after": {}}}, "payload.after.catalog_name"),
        ("notify/debezium", 5, "body"),
    ],
)
def test_a_malformed_body_is_a_problem_that_names_the_field(path: str, body: Any, field: str) -> None:
    answer = post(f"/api/v1/{path}", body)
    assert (answer.status_code, answer.json()["type"], answer.json()["field"]) == (400, "bad-request", field)


PATHS = (
    *("/api/v1/lineage", "/api/v1/notify/iceberg-report", "/api/v1/notify/cloudevents", "/api/v1/notify/s3"),
    *("/api/v1/notify/debezium", "/v1/p/namespaces/n/tables/t/metrics", "/v1/namespaces/n/tables/t/metrics"),
)


@pytest.mark.parametrize("path", PATHS)
def test_nothing_is_accepted_unless_the_inbox_can_store_it(path: str) -> None:
    server = knowing()
    server.options.inbox.failure = SourceUnavailable("inbox", "disk is full")
    bodies = {"lineage": START, "cloudevents": CLOUD, "debezium": ROW}
    body = next((b for name, b in bodies.items() if path.endswith(name)), COMMIT)
    body = {"Records": [s3("t/metadata/v1.metadata.json")]} if path.endswith("s3") else body
    answer = post(path, body, server)
    assert (answer.status_code, answer.json()["type"]) == (503, "source-unavailable")


@pytest.mark.parametrize("path", [*PATHS, "/api/v1/runs"])
@pytest.mark.parametrize("declared", [True, False])
def test_a_body_over_a_megabyte_is_refused_with_and_without_a_content_length(path: str, declared: bool) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(40):
            yield b" " * 65_536

    async def ask() -> httpx.Response:
        async with client(knowing()) as http:
            return await http.post(path, content=b" " * 2**21 if declared else pieces())

    answer = asyncio.run(ask())
    assert (answer.status_code, answer.json()["type"]) == (413, "too-large")


def test_a_compressed_body_is_decompressed_to_the_same_limit() -> None:
    def send(body: bytes, coding: str = "gzip") -> tuple[int, str | None]:
        answer = post("/api/v1/lineage", body, **{"content-encoding": coding})
        return answer.status_code, answer.json().get("field", answer.json().get("type"))

    packed = gzip.compress(json.dumps(START).encode())
    assert send(packed) == (202, None)
    assert send(packed[:-20]) == (400, "body")
    assert send(b"{}") == (400, "body")
    assert send(b"{}", "zstd") == (400, "content-encoding")
    assert send(gzip.compress(b" " * 50_000_000))[0] == 413


def test_a_body_replayed_many_times_is_one_row() -> None:
    server = knowing()

    async def ask() -> set[int]:
        async with client(server) as http:
            return {(await http.post("/api/v1/lineage", json=COMPLETE)).status_code for _ in range(300)}

    assert asyncio.run(ask()) == {202}
    assert (len(items(server, "run")), len(items(server, "report")), len(items(server, "notification"))) == (1, 2, 1)
