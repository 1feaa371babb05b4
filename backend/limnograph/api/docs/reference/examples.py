"""An example request for each operation, as a `curl` command. A test sends each of them to the application."""

from __future__ import annotations

import json
import shlex
from typing import Any, NamedTuple

SERVER = "http://127.0.0.1:8787"
NAMES = {
    "catalog": "lake",
    "namespace": "sales",
    "table": "orders",
    "snapshot_id": "5184430069070270604",
    "name": "small-file-proliferation",
    "prefix": "main",
    "fingerprint": "9266ef3da838ad95",
    "finding_id": "dfe75855290ab4444625635c4ca316ec",
    "plan_id": "3f2a9c1d7be04a55b1c2d3e4f5a60718",
}
"""Example values of path parameters."""


class RouteExample(NamedTuple):
    """`query`: the query string, without the question mark."""

    query: str = ""
    body: Any = None


_REPORT = {
    "report-type": "commit-report",
    "table-name": "lake.sales.orders",
    "snapshot-id": 5184430069070270604,
    "sequence-number": 7,
    "operation": "append",
    "metrics": {"added-data-files": {"unit": "count", "value": 12}},
}
_SPARK = {
    "run_id": "5b7e0c",
    "job_name": "churn",
    "application_id": "app-1",
    "reports": [
        {
            "kind": "commit",
            "execution": 12,
            "node": 0,
            "at": 1795651200000,
            "table": "lake.sales.orders",
            "operation": "overwrite",
            "outcome": "conflict",
            "conflict_kind": "files_added",
        }
    ],
}
_TRINO = {
    "metadata": {"queryId": "20261126_100000_00042_abcde"},
    "context": {"user": "ada", "source": "dashboards", "serverVersion": "476"},
    "statistics": {"wallTime": 1.25},
    "ioMetadata": {"inputs": [{"catalogName": "lake", "schema": "sales", "table": "orders", "columns": ["id"]}]},
    "endTime": "2026-11-26T10:00:01.250Z",
}
_SEEN = {"arguments_sha256": "0a1b2c3d4e5f60718293a4b5c6d7e8f900112233445566778899aabbccddeeff", "seq": 1}
EXAMPLES = {
    "listTables": RouteExample("sort=growth&limit=20&grew=0.2&within=3600&severity=warning&has_job=true"),
    "getTableFacets": RouteExample("severity=warning&format=iceberg"),
    "find": RouteExample("q=5184430069070270604"),
    "getHeat": RouteExample("from=1795168800000&to=1795255200000"),
    "getTimeline": RouteExample("from=1795212000000&to=1795255200000&step=60&lanes=job_duration,commits,data_files"),
    "listTableCommits": RouteExample("from=1795168800000&to=1795255200000&min_added_data_files=10000"),
    "getPartitions": RouteExample("at=1795255200000&cmp=86400&partition=day%3D2026-11-20&sort=data_files"),
    "listCommits": RouteExample("operation=append&min_added_data_files=10000"),
    "listAnnotations": RouteExample("catalog=lake&table_namespace=sales&table=orders&min_added_data_files=1"),
    "listAlerts": RouteExample("state=firing&q=orders"),
    "resolveAlert": RouteExample("alertname=SmallFileProliferation&catalog=lake&table_namespace=sales&table=orders"),
    "getAlert": RouteExample("starts_at=1795240800000"),
    "postAlertmanager": RouteExample(
        body={
            "version": "4",
            "status": "firing",
            "alerts": [
                {
                    "status": "firing",
                    "labels": {"alertname": "SmallFileProliferation", "catalog": "lake", "table": "orders"},
                    "startsAt": "2026-11-21T03:05:00Z",
                    "endsAt": "0001-01-01T00:00:00Z",
                }
            ],
        }
    ),
    "createSession": RouteExample(body={"token": "lmn_…", "next": "/"}),
    "postRun": RouteExample(
        body={
            "run_id": "churn-2026-11-21T03",
            "job_name": "churn",
            "status": "ok",
            "started_at": 1795230000000,
            "ended_at": 1795230420000,
            "tables": [{"catalog": "lake", "table_namespace": "sales", "table": "orders", "role": "reads"}],
        }
    ),
    "explain": RouteExample("from=1795212000000&to=1795255200000&job=churn"),
    "postLabel": RouteExample(
        body={
            "kind": "confirmed",
            "snapshot_id": "5184430069070270604",
            "from": 1795212000000,
            "to": 1795255200000,
            "job_name": "churn",
            "comment": "compacted, and it was fast again",
        }
    ),
    "listFindings": RouteExample("severity=critical&owner=team-sales&acknowledged=any"),
    "listNotes": RouteExample("table=lake.sales.orders&from=1795168800000&to=1795255200000"),
    "postNote": RouteExample(
        body={
            "key": "0f8b5c1e-6a43-4d0e-9c55-3a1b5d2c7e90",
            "kind": "ack",
            "scope": "finding",
            "target_id": "dfe75855290ab4444625635c4ca316ec",
            "text": "compaction is planned for tonight",
            "until": 1795294800000,
        }
    ),
    "listMaintenance": RouteExample("state=proposed,approved,running&rule=compact"),
    "proposePlan": RouteExample(body={"plan_id": NAMES["plan_id"], "reason": "the hold has ended"}),
    "approvePlan": RouteExample(body={**_SEEN, "reason": "agreed with team-sales"}),
    "dismissPlan": RouteExample(body={**_SEEN, "reason": "the table is dropped next week"}),
    "withdrawPlan": RouteExample(body=_SEEN),
    "cancelPlan": RouteExample(body={**_SEEN, "seq": 2, "reason": "the month is being closed"}),
    "closeBreaker": RouteExample(body={"key": "action:rewrite_data_files:conflicts"}),
    "postLineage": RouteExample(
        body={
            "eventType": "COMPLETE",
            "eventTime": "2026-11-21T03:07:00Z",
            "run": {"runId": "0197e1f0-0000-7000-8000-000000000001"},
            "job": {"namespace": "prod", "name": "churn"},
            "outputs": [{"namespace": "s3://lake", "name": "warehouse/sales/orders"}],
        }
    ),
    "postIcebergReport": RouteExample(body=_REPORT),
    "reportMetrics": RouteExample(body=_REPORT),
    "reportMetricsWithPrefix": RouteExample(body=_REPORT),
    "postCloudEvents": RouteExample(
        body={
            "specversion": "1.0",
            "id": "42",
            "source": "/catalogs/lake",
            "type": "org.apache.polaris.table.committed",
            "subject": "lake.sales.orders",
        }
    ),
    "postS3Event": RouteExample(
        body={
            "Records": [
                {
                    "eventName": "ObjectCreated:Put",
                    "s3": {
                        "bucket": {"name": "lake"},
                        "object": {"key": "warehouse/sales/orders/metadata/00002-a.metadata.json"},
                    },
                }
            ]
        }
    ),
    "postSparkReports": RouteExample(body=_SPARK),
    "postTrinoEvent": RouteExample(body=_TRINO),
    "postDebezium": RouteExample(
        body={
            "op": "u",
            "after": {
                "catalog_name": "lake",
                "table_namespace": "sales",
                "table_name": "orders",
                "metadata_location": "s3://lake/warehouse/sales/orders/metadata/00002-a.metadata.json",
            },
            "source": {"table": "iceberg_tables"},
        }
    ),
}


def curl(method: str, path: str, operation: dict[str, Any]) -> str:
    """A shell command that sends the request."""
    example = EXAMPLES.get(operation["operationId"], RouteExample())
    parts = ["curl"]
    if "text/event-stream" in operation["responses"].get("200", {}).get("content", {}):
        parts.append("-N")
    if method == "delete":
        parts.append("-X DELETE")
    if operation["security"]:
        parts.append('-H "Authorization: Bearer $TOKEN"')
    if example.body is not None:
        body = shlex.quote(json.dumps(example.body, ensure_ascii=False))
        parts += ["-H 'Content-Type: application/json'", f"-d {body}"]
    address = SERVER + path.format(**NAMES) + (f"?{example.query}" if example.query else "")
    return " ".join((*parts, f"'{address}'"))
