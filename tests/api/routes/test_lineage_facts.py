"""What OpenLineage events say of commits, branches, metadata tables and columns: kept, joined and never made up."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx
import msgspec
import pytest

from limnograph.domain.ids import TableName
from pushed_bodies import COMPLETE, METADATA, READ, RUN, START, WRITTEN
from serving_kit import BIG, HOUR, NOW, change, client, lake, moved, parts, row

ORDERS = TableName("lake", "sales", "orders")
CATALOGS = {"lake": {"type": "sql", "uri": "sqlite:////x/catalog.db", "warehouse": "file:///warehouse"}}
LINEAGE = {
    "_producer": "https://example.com/spark",
    "_schemaURL": "https://openlineage.io/spec/facets/1-2-0/ColumnLineageDatasetFacet.json",
    "fields": {
        "description": {
            "inputFields": [
                {
                    "namespace": "s3://bucket",
                    "name": "wh/sales/raw",
                    "field": "mail",
                    "transformations": [
                        {
                            "type": "DIRECT",
                            "subtype": "TRANSFORMATION",
                            "description": "sha2('salt-4711' || mail)",
                            "masking": True,
                        }
                    ],
                }
            ],
            "transformationDescription": "sha2('salt-4711' || mail)",
            "transformationType": "MASKED",
        },
        "id": {
            "inputFields": [
                {"namespace": "s3://bucket", "name": "wh/sales/raw", "field": "id", "transformations": []},
            ],
            "transformationType": "IDENTITY",
        },
    },
}


def knowing() -> Any:
    """A server that knows `lake.sales.orders`, `lake.spike.evo`, `lake.deep.er.files` and `lake.deep.er.other`."""
    rows, changes = [], []
    for place in ("sales/orders", "spike/evo", "deep/er/files", "deep/er/other"):
        *levels, table = place.split("/")
        folder = METADATA.replace("sales/orders", place)
        of: dict[str, Any] = {"table_uuid": f"u-{place}", "namespace": ".".join(levels), "table": table}
        first = row(1, NOW - 5 * HOUR, metadata_location=folder, **of)
        second = row(BIG, NOW - 4 * HOUR, parent_id=1, metadata_location=folder, app_id="app-1", **of)
        name = f"lake.{'.'.join(levels)}.{table}"
        rows += [first, second]
        changes += [change("named", NOW - 9 * HOUR, name, subject=name, **of)]
        changes += [moved(fact.snapshot_id, fact.committed_at or 0, **of) for fact in (first, second)]
    return parts(lake(rows, changes), catalogs=CATALOGS)


def post(path: str, body: Any, server: Any) -> httpx.Response:
    async def send() -> httpx.Response:
        async with client(server) as http:
            return await http.post(path, json=body)

    return asyncio.run(send())


def items(server: Any, kind: str) -> list[dict[str, Any]]:
    return [msgspec.json.decode(item.payload) for item in server.options.inbox.items(kind)]


def ended(*, inputs: Any = (), outputs: Any = (), kind: str = "COMPLETE", run: str = RUN) -> dict[str, Any]:
    return {**COMPLETE, "eventType": kind, "run": {"runId": run}, "inputs": list(inputs), "outputs": list(outputs)}


def iceberg(name: str, folder: str | None = None, **facets: Any) -> dict[str, Any]:
    """A dataset as the Spark integration names an Iceberg table."""
    place = folder or name.replace(".", "/")
    links = {"identifiers": [{"namespace": "s3://bucket/wh", "name": name, "type": "TABLE"}]}
    catalog = {"framework": "iceberg", "name": "lake", "type": "jdbc", "source": "spark"}
    return {
        "namespace": "s3://bucket",
        "name": f"wh/{place}",
        "facets": {"symlinks": links, "catalog": catalog, **facets},
    }


def uses(dataset: dict[str, Any], role: str = "inputs") -> dict[str, Any]:
    """The one table of the run that an event with one dataset makes."""
    server = knowing()
    assert post("/api/v1/lineage", ended(**{role: [dataset]}), server).status_code == 202
    (run,) = items(server, "run")
    (table,) = run["tables"]
    found: dict[str, Any] = table
    return found


def test_a_run_with_only_a_reported_end_is_drawn_at_its_end() -> None:
    server = knowing()
    post("/api/v1/lineage", ended(inputs=[READ]), server)
    (run,) = asyncio.run(server.runs.of_table(ORDERS, NOW - 24 * HOUR, NOW + HOUR))
    assert (run.started_at, run.seconds, run.status, run.began) == (None, None, "ok", run.ended_at)
    end_ms = run.ended_at // 1_000
    url = f"/api/v1/tables/lake/sales/orders/timeline?from={end_ms - 60_000}&to={end_ms + 60_000}&lanes=job_runs"

    async def ask() -> dict[str, Any]:
        async with client(server) as http:
            found: dict[str, Any] = (await http.get(url)).raise_for_status().json()
            return found

    (lane,) = asyncio.run(ask())["lanes"]
    assert [(bar["start"], bar["end"], bar["state"], bar["detail"]) for bar in lane["bars"]] == [
        (None, end_ms, "ok", None)
    ]
    assert asyncio.run(server.runs.of_table(ORDERS, run.ended_at + 1, NOW + HOUR)) == []
    post("/api/v1/lineage", START, server)
    (whole,) = asyncio.run(server.runs.of_table(ORDERS, NOW - 24 * HOUR, NOW + HOUR))
    assert whole.seconds == pytest.approx(599.876544)


@pytest.mark.parametrize(
    ("dataset", "table", "ref", "metadata_table"),
    [
        (iceberg("sales.orders"), "sales.orders", None, None),
        (iceberg("spike.evo.files"), "spike.evo", None, "files"),
        (iceberg("spike.evo.ALL_DATA_FILES"), "spike.evo", None, "all_data_files"),
        (iceberg("sales.orders.branch_audit"), "sales.orders", "audit", None),
        (iceberg("sales.orders.tag_2026-Q1"), "sales.orders", "2026-Q1", None),
        (iceberg("sales.orders.snapshot_id_7"), "sales.orders", None, None),
        (iceberg("sales.orders.at_timestamp_1795260000000"), "sales.orders", None, None),
        (iceberg("spike.unseen.snapshots"), "spike.unseen", None, "snapshots"),
        (iceberg("sales.files"), "sales.files", None, None),
        (iceberg("sales.branch_offices"), "sales.branch_offices", None, None),
        (iceberg("deep.er.files"), "deep.er.files", None, None),
        (iceberg("deep.er.history"), "deep.er.history", None, None),
        (iceberg("deep.er.files.files"), "deep.er.files", None, "files"),
        ({"namespace": "trino://host:8080", "name": "lake.sales.orders$files"}, "sales.orders", None, "files"),
        ({"namespace": "trino://host:8080", "name": "lake.sales.orders$strange"}, "sales.orders$strange", None, None),
        ({"namespace": "hive://m:9083", "name": "spike.evo.history"}, "spike.evo", None, "history"),
        ({"namespace": "hive://m:9083", "name": "other.spike.evo.history"}, "spike.evo", None, "history"),
        ({"namespace": "s3://bucket", "name": "wh/spike/evo/files"}, "spike.evo", None, "files"),
        ({"namespace": "s3a://bucket", "name": "/wh/spike/evo#branch_x"}, "spike.evo", "x", None),
        ({"namespace": "s3://bucket", "name": "wh/deep/er/files"}, "deep.er.files", None, None),
        (
            {
                "namespace": "file",
                "name": "/warehouse/wap/t/branch_audit",
                "facets": iceberg("wap.t.branch_audit")["facets"],
            },
            "wap.t",
            "audit",
            None,
        ),
    ],
)
def test_suffixes_of_a_table_name_are_a_ref_or_a_metadata_table(
    dataset: dict[str, Any], table: str, ref: str | None, metadata_table: str | None
) -> None:
    found = uses(dataset)
    assert (found["catalog"], f"{found['namespace']}.{found['table']}") == ("lake", table)
    assert (found["ref"], found["metadata_table"]) == (ref, metadata_table)
    assert not str(found["location"]).endswith(("branch_audit", "#branch_x")) or ref is None


def test_a_selected_snapshot_is_the_one_read_and_the_version_of_main_does_not_apply_to_a_branch() -> None:
    main = {"datasetVersion": "99"}
    assert uses(iceberg("sales.orders", version=main))["read_snapshot_id"] == 99
    assert uses(iceberg("sales.orders.snapshot_id_7", version=main))["read_snapshot_id"] == 7
    assert uses(iceberg("sales.orders.branch_audit", version=main))["read_snapshot_id"] is None
    assert uses(iceberg("sales.orders.at_timestamp_5", version=main))["read_snapshot_id"] is None
    assert uses(READ | {"facets": READ["facets"] | {"version": main}})["read_snapshot_id"] == BIG, "the scan says which"


@pytest.mark.parametrize(
    ("kind", "name", "version", "commit", "expected"),
    [
        ("COMPLETE", "sales.orders", str(BIG), None, BIG),
        ("COMPLETE", "sales.orders", "99", BIG, BIG),
        ("START", "sales.orders", "99", None, None),
        ("FAIL", "sales.orders", "99", None, None),
        ("ABORT", "sales.orders", "99", None, None),
        ("COMPLETE", "sales.orders", "not a number", None, None),
        ("COMPLETE", "sales.orders", str(2**63), None, None),
        ("COMPLETE", "sales.orders.branch_audit", "99", None, None),
        ("COMPLETE", "sales.orders.branch_audit", "99", 5, 5),
    ],
)
def test_the_snapshot_that_a_run_wrote_is_stored_if_its_event_has_it(
    kind: str, name: str, version: str, commit: int | None, expected: int | None
) -> None:
    server = knowing()
    dataset = iceberg(name, version={"datasetVersion": version})
    if commit is not None:
        dataset["outputFacets"] = {"icebergCommitReport": {"snapshotId": commit}}
    post("/api/v1/lineage", ended(outputs=[dataset], kind=kind), server)
    (run,) = items(server, "run")
    assert (run["written_snapshot_id"], run["tables"][0]["written_snapshot_id"]) == (expected, expected)


def test_a_run_that_wrote_two_tables_has_a_snapshot_for_each_and_none_for_itself() -> None:
    server = knowing()
    outputs = [iceberg(n, version={"datasetVersion": v}) for n, v in (("sales.orders", "4"), ("spike.evo", "5"))]
    post("/api/v1/lineage", ended(outputs=outputs), server)
    (run,) = items(server, "run")
    assert run["written_snapshot_id"] is None
    assert [table["written_snapshot_id"] for table in run["tables"]] == [4, 5]


def commit_page(server: Any, table: str = "sales/orders") -> dict[str, Any]:
    async def ask() -> dict[str, Any]:
        async with client(server) as http:
            found: dict[str, Any] = (await http.get(f"/api/v1/tables/lake/{table}/commits/{BIG}")).json()
            return found

    return asyncio.run(ask())


def test_a_commit_names_the_run_that_reported_it_before_the_one_with_its_application_id() -> None:
    server = knowing()
    post("/api/v1/lineage", {**START, "run": {**START["run"], "runId": "by-app"}, "outputs": [WRITTEN]}, server)
    assert (commit_page(server)["written_by_job"], "written_by_run" in commit_page(server)) == (
        "churn.append_data",
        False,
    )
    version, job = {"datasetVersion": str(BIG)}, {"namespace": "prod", "name": "exact"}
    output = iceberg("sales.orders", version=version, columnLineage=LINEAGE)
    post("/api/v1/lineage", {**ended(outputs=[output], run="exact"), "job": job}, server)
    page = commit_page(server)
    assert page["written_by_job"] == "exact"
    assert "written_by_run" not in commit_page(server, "spike/evo"), "the same id in another table is another commit"
    run = page["written_by_run"]
    assert (run["run_id"], run["job"], run["started_at"], run["status"]) == ("exact", "exact", None, "ok")
    assert (run["columns_total"], run["masked_columns"]) == (2, 1)
    assert [(c["column"], c["from_column"], c["masked"]) for c in run["columns"]] == [
        ("description", "mail", True),
        ("id", "id", False),
    ]
    assert run["columns"][0]["transformation"] == "DIRECT/TRANSFORMATION"


def test_column_lineage_and_masking_are_kept_without_expressions() -> None:
    masking = {"_producer": "x", "columns": {"mail": {"method": "sha256"}}}
    found = uses(iceberg("sales.orders", columnLineage=LINEAGE, masking=masking, schema={"fields": []}), "outputs")
    kept = json.loads(found["facets"])
    assert list(kept) == ["columnLineage", "masking"]
    assert kept["masking"] == {"columns": {"mail": {"method": "sha256"}}}
    (source,) = kept["columnLineage"]["fields"]["description"]["inputFields"]
    assert source["transformations"] == [{"type": "DIRECT", "subtype": "TRANSFORMATION", "masking": True}]
    assert "salt-4711" not in found["facets"]


@pytest.mark.parametrize(
    "facet",
    [None, 5, "text", [], {}, {"fields": 5}, {"fields": {"a": 5}}, {"fields": {"a": {"inputFields": [{"x": 1}]}}}],
)
def test_a_malformed_facet_breaks_no_page(facet: Any) -> None:
    server = knowing()
    output = iceberg("sales.orders", version={"datasetVersion": str(BIG)}, columnLineage=facet)
    assert post("/api/v1/lineage", ended(outputs=[output]), server).status_code == 202
    assert commit_page(server)["written_by_run"]["columns"] == []


def test_a_pushed_run_may_say_which_commit_it_made() -> None:
    server = knowing()
    table = {"catalog": "lake", "table_namespace": "sales", "table": "orders", "role": "writes"}
    at = (NOW - 4 * HOUR) // 1_000
    body = {"run_id": "r", "job_name": "load", "status": "ok", "started_at": at, "ended_at": at + 5}
    for wrong in ({"written_snapshot_id": str(2**63)}, {"written_snapshot_id": "4", "role": "reads"}):
        answer = post("/api/v1/runs", {**body, "tables": [{**table, **wrong}]}, server)
        assert (answer.status_code, answer.json()["field"]) == (400, "tables.written_snapshot_id")
    assert (
        post("/api/v1/runs", {**body, "tables": [{**table, "written_snapshot_id": str(BIG)}]}, server).status_code
        == 202
    )
    run = commit_page(server)["written_by_run"]
    assert (run["run_id"], run["ended_at"] - run["started_at"], run["columns"]) == ("r", 5, [])
