"""Routes that other programs push to: lineage, metrics reports, notifications. Taken whole, or the field is named."""

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
Prefix = Annotated[str, PathParameter(description="Prefix that the REST catalog gave its client.")]
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
    """START, COMPLETE, FAIL and ABORT are transitions of a job run; Iceberg report facets become reports; outputs wake
    whoever looks at tables. Events of jobs or datasets alone are taken and say nothing.
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
    """A ReportMetricsRequest whose table is the one that it names; a commit wakes whoever looks at it."""
    return _accepted(await backend.events.report(await request.body()))


@post(
    "/cloudevents",
    operation_id="postCloudEvents",
    summary="Accept CloudEvents of a catalog",
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
    """Records of S3, MinIO, RustFS or SeaweedFS, EventBridge or SNS; objects that are no metadata are left out."""
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
    """Debezium's change events of `iceberg_tables`, one or a list; those of other tables are left out."""
    return _accepted(await backend.events.debezium(await request.body()))


@post(
    "/v1/{prefix:str}/namespaces/{namespace:str}/tables/{table:str}/metrics",
    operation_id="reportMetricsWithPrefix",
    summary="Accept an Iceberg metrics report as a REST catalog does",
    status_code=202,
    responses=_RESPONSES,
    opt=WEBHOOK,
)
async def report_with_prefix(
    backend: NamedDependency[Backend], request: AnyRequest, prefix: Prefix, namespace: Levels, table: Table
) -> AcceptedEvents:
    """For a proxy that copies what clients send to their REST catalog. The table is that of the URL."""
    return _accepted(await backend.events.rest_report(await request.body(), prefix, [*_levels(namespace), table]))


@post(
    "/v1/namespaces/{namespace:str}/tables/{table:str}/metrics",
    operation_id="reportMetrics",
    summary="Accept an Iceberg metrics report as a REST catalog without prefix does",
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
    """Unit separator between levels, as the specification has it; a dot, as people write it by hand."""
    separator = "\x1f" if "\x1f" in namespace else "."
    return [unescape_level(level) for level in namespace.split(separator)]


NOTIFY = Router("/notify", route_handlers=[post_report, post_cloudevents, post_s3, post_debezium])
API_HANDLERS: list[Any] = [post_lineage, NOTIFY]
ROOT_HANDLERS: list[Any] = [report_with_prefix, report_without_prefix]
