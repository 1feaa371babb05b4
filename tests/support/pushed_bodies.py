"""Bodies that other programs push, as their specifications have them, and a server that knows the tables in them."""

from __future__ import annotations

from typing import Any

from serving_kit import BIG, HOUR, NOW, change, lake, moved, parts, row

CATALOGS = {"lake": {"type": "sql", "uri": "sqlite:////x/catalog.db", "warehouse": "file:///warehouse"}}
RUN = "0190f3b4-0000-7000-8000-000000000001"
METADATA = "s3://bucket/wh/sales/orders/metadata/00007-aa.metadata.json"
START = {
    "eventType": "START",
    "eventTime": "2026-11-21T09:00:00.123456789Z",
    "producer": "https://github.com/OpenLineage/OpenLineage/tree/1.54.0/integration/spark",
    "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
    "run": {
        "runId": RUN,
        "facets": {
            "processing_engine": {"name": "spark", "version": "4.1.4"},
            "spark_applicationDetails": {"applicationId": "app-1"},
        },
    },
    "job": {"namespace": "prod", "name": "churn.append_data"},
}
READ = {
    "namespace": "s3://bucket",
    "name": "wh/sales/orders",
    "facets": {
        "symlinks": {"identifiers": [{"namespace": "s3://bucket/wh", "name": "sales.orders", "type": "TABLE"}]},
        "version": {"datasetVersion": str(BIG)},
    },
    "inputFacets": {
        "icebergScanReport": {
            "snapshotId": BIG,
            "filter": "id > 5",
            "scanMetrics": {"totalPlanningDuration": 52, "resultDataFiles": 12, "skippedDataManifests": 3},
        }
    },
}
WRITTEN = {
    "namespace": "file",
    "name": "/warehouse/sales/churn",
    "facets": {"catalog": {"technology": "iceberg", "name": "lake", "type": "jdbc", "source": "spark"}}
    | {"symlinks": {"identifiers": [{"namespace": "file:/warehouse", "name": "sales.churn", "type": "TABLE"}]}},
    "outputFacets": {
        "icebergCommitReport": {
            "snapshotId": 7,
            "sequenceNumber": 3,
            "operation": "append",
            "commitMetrics": {"totalDuration": 1500, "attempts": 2, "addedDataFiles": 4, "addedDVs": 1},
        }
    },
}
COMPLETE = {
    **START,
    "eventType": "COMPLETE",
    "eventTime": "2026-11-21T09:10:00Z",
    "run": {"runId": RUN},
    "inputs": [READ],
    "outputs": [WRITTEN],
}
COMMIT = {
    "report-type": "commit-report",
    "table-name": "rest.sales.orders",
    "snapshot-id": BIG,
    "sequence-number": 9,
    "operation": "append",
    "metrics": {
        "total-duration": {"count": 1, "time-unit": "nanoseconds", "total-duration": 2_500_000_000},
        "attempts": {"unit": "count", "value": 3},
        "added-data-files": {"unit": "count", "value": 50_000},
    },
    "metadata": {"engine-name": "spark", "engine-version": "4.1.4", "app-id": "app-1", "iceberg-version": "1.11.0"},
}
SCAN = {
    "report-type": "scan-report",
    "table-name": "lake.sales.orders",
    "snapshot-id": BIG,
    "filter": {"type": "gt", "term": "id", "value": 5},
    "schema-id": 0,
    "projected-field-ids": [1],
    "projected-field-names": ["id"],
    "metrics": {"total-planning-duration": {"count": 1, "time-unit": "microseconds", "total-duration": 1500}},
}
CLOUD = {"specversion": "1.0", "id": "1", "source": "uri:catalog", "type": "updateTable"}
ROW = {
    "catalog_name": "lake",
    "table_namespace": "sales",
    "table_name": "orders",
    "metadata_location": METADATA,
    "previous_metadata_location": None,
}


def s3(key: str, **fields: Any) -> dict[str, Any]:
    entity = {"bucket": {"name": "bucket"}, "object": {"key": key, "sequencer": "01", "eTag": "x"}}
    return {"eventName": "ObjectCreated:Put", "s3": entity, **fields}


def knowing(**given: Any) -> Any:
    """Parts of a server whose lake has `lake.sales.orders` in `s3://bucket/wh/sales/orders`."""
    named = change("named", NOW - 9 * HOUR, "lake.sales.orders", subject="lake.sales.orders")
    rows = [row(1, NOW - 5 * HOUR, 12, metadata_location=METADATA)]
    return parts(lake(rows, [named, moved(1, NOW - 5 * HOUR)]), catalogs=given.pop("catalogs", CATALOGS), **given)
