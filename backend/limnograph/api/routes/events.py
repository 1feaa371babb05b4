"""Routes that other programs push to: lineage, metrics reports, notifications. Taken whole, or the field is named."""

from __future__ import annotations

import zlib
from typing import Annotated, Any

from litestar import Request, Router, post
from litestar.di import NamedDependency
from litestar.params import PathParameter

from limnograph.api.access import WEBHOOK
from limnograph.api.bodies import MAX_BODY
from limnograph.api.problems import TooLarge, documented
from limnograph.api.views import Accepted
from limnograph.domain.errors import InvalidInput
from limnograph.domain.ids import unescape_level
from limnograph.services.backend import Backend
from limnograph.services.told import Taken

AnyRequest = Request[Any, Any, Any]
_RESPONSES = documented(413, 503)
Prefix = Annotated[str, PathParameter(description="Prefix that the REST catalog gave its client.")]
Levels = Annotated[str, PathParameter(description="Namespace; levels joined with the unit separator `%1F`.")]
Table = Annotated[str, PathParameter(description="Table name.")]


async def unpacked(request: AnyRequest) -> bytes:
    """The body, unpacked where the client packed it (OpenLineage's clients can), to the same cap."""
    body: bytes = await request.body()
    coding = request.headers.get("content-encoding", "identity").strip().lower()
    if coding in {"", "identity"}:
        return body
    if coding != "gzip":
        raise InvalidInput("content-encoding", f"{coding!r} is not understood here; send gzip or none")
    unpacking = zlib.decompressobj(wbits=31)
    try:
        found = unpacking.decompress(body, MAX_BODY + 1)
    except zlib.error as error:
        raise InvalidInput("body", "is not gzip, as its content-encoding says") from error
    if len(found) > MAX_BODY:
        raise TooLarge(f"a body has at most {MAX_BODY} bytes, unpacked")
    if not unpacking.eof:
        raise InvalidInput("body", "ends before its gzip stream does")
    return found


def _accepted(taken: Taken) -> Accepted:
    return Accepted(accepted=taken.accepted, duplicates=taken.duplicates)


@post(
    "/lineage",
    operation_id="postLineage",
    summary="Accept an OpenLineage event",
    status_code=202,
    responses=_RESPONSES,
    opt=WEBHOOK,
)
async def post_lineage(backend: NamedDependency[Backend], request: AnyRequest) -> Accepted:
    """START, COMPLETE, FAIL and ABORT are transitions of a job run; Iceberg report facets become reports; outputs wake
    whoever looks at tables. Events of jobs or datasets alone are taken and say nothing.
    """
    return _accepted(await backend.events.lineage(await unpacked(request)))


@post(
    "/iceberg-report",
    operation_id="postIcebergReport",
    summary="Accept an Iceberg metrics report",
    status_code=202,
    responses=_RESPONSES,
    opt=WEBHOOK,
)
async def post_report(backend: NamedDependency[Backend], request: AnyRequest) -> Accepted:
    """A ReportMetricsRequest whose table is the one that it names; a commit wakes whoever looks at it."""
    return _accepted(await backend.events.report(await unpacked(request)))


@post(
    "/cloudevents",
    operation_id="postCloudEvents",
    summary="Accept CloudEvents of a catalog",
    status_code=202,
    responses=_RESPONSES,
    opt=WEBHOOK,
)
async def post_cloudevents(backend: NamedDependency[Backend], request: AnyRequest) -> Accepted:
    """Structured, batched or binary mode. A repeat of `(source, id)` changes nothing."""
    headers = {name.lower(): value for name, value in request.headers.items()}
    return _accepted(await backend.events.cloudevents(await unpacked(request), headers))


@post(
    "/s3",
    operation_id="postS3Event",
    summary="Accept object store events",
    status_code=202,
    responses=_RESPONSES,
    opt=WEBHOOK,
)
async def post_s3(backend: NamedDependency[Backend], request: AnyRequest) -> Accepted:
    """Records of S3, MinIO, RustFS or SeaweedFS, EventBridge or SNS; objects that are no metadata are left out."""
    return _accepted(await backend.events.s3(await unpacked(request)))


@post(
    "/debezium",
    operation_id="postDebezium",
    summary="Accept changes of a JDBC catalog",
    status_code=202,
    responses=_RESPONSES,
    opt=WEBHOOK,
)
async def post_debezium(backend: NamedDependency[Backend], request: AnyRequest) -> Accepted:
    """Debezium's change events of `iceberg_tables`, one or a list; those of other tables are left out."""
    return _accepted(await backend.events.debezium(await unpacked(request)))


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
) -> Accepted:
    """For a proxy that copies what clients send to their REST catalog. The table is that of the URL."""
    return _accepted(await backend.events.rest_report(await unpacked(request), prefix, [*_levels(namespace), table]))


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
) -> Accepted:
    """The same for a catalog whose clients have no prefix."""
    return _accepted(await backend.events.rest_report(await unpacked(request), None, [*_levels(namespace), table]))


def _levels(namespace: str) -> list[str]:
    """Unit separator between levels, as the specification has it; a dot, as people write it by hand."""
    separator = "\x1f" if "\x1f" in namespace else "."
    return [unescape_level(level) for level in namespace.split(separator)]


NOTIFY = Router("/notify", route_handlers=[post_report, post_cloudevents, post_s3, post_debezium])
API_HANDLERS: list[Any] = [post_lineage, NOTIFY]
ROOT_HANDLERS: list[Any] = [report_with_prefix, report_without_prefix]
