"""Routes that other programs push to: lineage, metrics reports, notifications. A body is accepted whole or rejected
with the field.
"""

from __future__ import annotations

from typing import Annotated, Any

from litestar import Request, Router, post
from litestar.di import NamedDependency
from litestar.params import PathParameter

from limnograph.api.wire.access import WEBHOOK
from limnograph.api.wire.problems import documented
from limnograph.api.wire.views import AcceptedEvents
from limnograph.domain.ids import unescape_level
from limnograph.services.events.received import Acknowledgement
from limnograph.services.server.backend import Backend

AnyRequest = Request[Any, Any, Any]
_RESPONSES = documented(413, 503)
Prefix = Annotated[str, PathParameter(description="Prefix that the REST catalog assigned to its client.")]
Levels = Annotated[str, PathParameter(description="Namespace; levels joined with the unit separator `%1F`.")]
Table = Annotated[str, PathParameter(description="Table name.")]


def _accepted(taken: Acknowledgement) -> AcceptedEvents:
    return AcceptedEvents(accepted=taken.accepted, duplicates=taken.duplicates)


@post(
    "/lineage",
    operation_id="postLineage",
    summary="Accept an OpenLineage event",
    status_code=202,
    responses=_RESPONSES,
    opt=WEBHOOK,
)
async def post_lineage(backend: NamedDependency[Backend], request: AnyRequest) -> AcceptedEvents:
    """START, COMPLETE, FAIL and ABORT are transitions of a job run; Iceberg report facets become reports; outputs
    trigger a check of their tables. Job and dataset events are accepted and ignored.
    """
    return _accepted(await backend.events.lineage(await request.body()))


@post(
    "/iceberg-report",
    operation_id="postIcebergReport",
    summary="Accept an Iceberg metrics report",
    status_code=202,
    responses=_RESPONSES,
    opt=WEBHOOK,
)
async def post_report(backend: NamedDependency[Backend], request: AnyRequest) -> AcceptedEvents:
    """A ReportMetricsRequest for the table that it names; a commit report triggers a check of that table."""
    return _accepted(await backend.events.report(await request.body()))


@post(
    "/spark",
    operation_id="postSparkReports",
    summary="Accept scans, queries and commits of a PySpark job",
    status_code=202,
    responses=_RESPONSES,
    opt=WEBHOOK,
)
async def post_spark(backend: NamedDependency[Backend], request: AnyRequest) -> AcceptedEvents:
    """What `limnograph.spark_metrics` read from Spark's SQL status store. A repeat of a report changes nothing."""
    return _accepted(await backend.events.spark(await request.body()))


@post(
    "/trino",
    operation_id="postTrinoEvent",
    summary="Accept an event of Trino's HTTP event listener",
    status_code=202,
    responses=_RESPONSES,
    opt=WEBHOOK,
)
async def post_trino(backend: NamedDependency[Backend], request: AnyRequest) -> AcceptedEvents:
    """A QueryCompletedEvent of at most 8 MB: tables, times, user, source and outcome are kept. Beyond 200 a second
    events are dropped and counted; the response is then 202 with `accepted` 0.
    """
    if not backend.events.trino_rate.take():
        return AcceptedEvents(accepted=0, duplicates=0)
    return _accepted(await backend.events.trino(await request.body()))


@post(
    "/cloudevents",
    operation_id="postCloudEvents",
    summary="Accept a catalog's CloudEvents",
    status_code=202,
    responses=_RESPONSES,
    opt=WEBHOOK,
)
async def post_cloudevents(backend: NamedDependency[Backend], request: AnyRequest) -> AcceptedEvents:
    """Structured, batched or binary mode. A repeat of `(source, id)` changes nothing."""
    headers = {name.lower(): value for name, value in request.headers.items()}
    return _accepted(await backend.events.cloudevents(await request.body(), headers))


@post(
    "/s3",
    operation_id="postS3Event",
    summary="Accept object store events",
    status_code=202,
    responses=_RESPONSES,
    opt=WEBHOOK,
)
async def post_s3(backend: NamedDependency[Backend], request: AnyRequest) -> AcceptedEvents:
    """Records of S3, MinIO, RustFS or SeaweedFS, EventBridge or SNS; objects other than table metadata are ignored."""
    return _accepted(await backend.events.s3(await request.body()))


@post(
    "/debezium",
    operation_id="postDebezium",
    summary="Accept changes of a JDBC catalog",
    status_code=202,
    responses=_RESPONSES,
    opt=WEBHOOK,
)
async def post_debezium(backend: NamedDependency[Backend], request: AnyRequest) -> AcceptedEvents:
    """Debezium's change events of `iceberg_tables`, one or a list; events of other tables are ignored."""
    return _accepted(await backend.events.debezium(await request.body()))


@post(
    "/v1/{prefix:str}/namespaces/{namespace:str}/tables/{table:str}/metrics",
    operation_id="reportMetricsWithPrefix",
    summary="Accept an Iceberg metrics report on a REST catalog's path",
    status_code=202,
    responses=_RESPONSES,
    opt=WEBHOOK,
)
async def report_with_prefix(
    backend: NamedDependency[Backend], request: AnyRequest, prefix: Prefix, namespace: Levels, table: Table
) -> AcceptedEvents:
    """For a proxy that mirrors requests of clients to their REST catalog. The table is taken from the URL."""
    return _accepted(await backend.events.rest_report(await request.body(), prefix, [*_levels(namespace), table]))


@post(
    "/v1/namespaces/{namespace:str}/tables/{table:str}/metrics",
    operation_id="reportMetrics",
    summary="Accept an Iceberg metrics report on a REST catalog's path without prefix",
    status_code=202,
    responses=_RESPONSES,
    opt=WEBHOOK,
)
async def report_without_prefix(
    backend: NamedDependency[Backend], request: AnyRequest, namespace: Levels, table: Table
) -> AcceptedEvents:
    """The same for a catalog whose clients have no prefix."""
    return _accepted(await backend.events.rest_report(await request.body(), None, [*_levels(namespace), table]))


def _levels(namespace: str) -> list[str]:
    """Splits levels at the unit separator of the specification, or at dots for hand-written requests."""
    separator = "\x1f" if "\x1f" in namespace else "."
    return [unescape_level(level) for level in namespace.split(separator)]


NOTIFY = Router(
    "/notify", route_handlers=[post_report, post_spark, post_trino, post_cloudevents, post_s3, post_debezium]
)
API_HANDLERS: list[Any] = [post_lineage, NOTIFY]
ROOT_HANDLERS: list[Any] = [report_with_prefix, report_without_prefix]
