"""Routes about the server itself: status, accepted runs, health, its own metrics."""

from __future__ import annotations

from typing import Any

import msgspec
from litestar import Request, Response, get, post
from litestar.datastructures import State
from litestar.di import NamedDependency

from limnograph import __version__
from limnograph.api.front.bodies import parsed
from limnograph.api.wire.access import METRICS, OPEN, READ, WEBHOOK
from limnograph.api.wire.problems import documented
from limnograph.api.wire.views import AcceptedEvents, HealthView, RunIn, RunTableIn
from limnograph.domain.answers.tables import Status
from limnograph.domain.errors import InvalidInput
from limnograph.domain.facts.events import RunFact, RunTable
from limnograph.domain.ids import TableName
from limnograph.domain.time import to_micros
from limnograph.services.jobs.run_log import only_written
from limnograph.services.server.backend import Backend

EXPOSITION = "text/plain; version=0.0.4; charset=utf-8"


@get("/status", operation_id="getStatus", summary="Server status", responses=documented(), opt=READ)
async def get_status(request: Request[Any, Any, Any], backend: NamedDependency[Backend]) -> Status:
    """Sources, watermark, latest pass and set-up hints. A failed source is a status, never an error."""
    found = await backend.status.status()
    identity = request.scope["state"].get("identity")
    if identity is None:
        return found
    user = None if identity.method == "none" else identity.subject
    return msgspec.structs.replace(found, scopes=tuple(sorted(identity.scopes)), user=user)


@post(
    "/runs",
    operation_id="postRun",
    summary="Accept a job run",
    status_code=202,
    responses=documented(413, 503),
    opt=WEBHOOK,
)
async def post_run(request: Request[Any, Any, Any], backend: NamedDependency[Backend]) -> AcceptedEvents:
    """A transition of a run, durable in the inbox before the response; repeats of (run_id, status) change nothing."""
    data = await parsed(request, RunIn)
    new = await backend.runs.accept([_fact(data, backend)])
    return AcceptedEvents(accepted=new, duplicates=1 - new)


@get(
    "/healthz",
    operation_id="getLiveness",
    summary="Liveness probe",
    responses=documented(),
    sync_to_thread=False,
    opt=OPEN,
)
def healthz() -> HealthView:
    """The process is running."""
    return HealthView(status="ok", version=__version__)


@get(
    "/readyz",
    operation_id="getReadiness",
    summary="Readiness probe",
    responses=documented(),
    sync_to_thread=False,
    opt=OPEN,
)
def readyz(backend: NamedDependency[Backend]) -> Response[HealthView]:
    """200 once the first read of the meta tables and the first check of every catalog have finished, even if they
    failed (see `/api/v1/status`) or the check takes longer than 30 s; until then 503 with `starting` and a reason.
    """
    waiting = backend.status.waiting_for()
    view = HealthView(status="ok" if waiting is None else "starting", version=__version__, detail=waiting)
    return Response(view, status_code=200 if waiting is None else 503)


@get(
    "/metrics",
    operation_id="getMetrics",
    summary="Prometheus exposition",
    responses=documented(),
    media_type="text/plain",
    sync_to_thread=True,  # tens of milliseconds at thousands of tables
    opt=METRICS,
)
def metrics(state: State) -> Response[bytes]:
    """Metrics of the server and of every table (docs/metrics.md)."""
    return Response(state["exposition"](), headers={"content-type": EXPOSITION})


def _fact(run: RunIn, backend: Backend) -> RunFact:
    now = backend.clock.now()
    if run.ended_at is not None and run.ended_at < run.started_at:
        raise InvalidInput("ended_at", "must not be before started_at")
    started = to_micros(run.started_at)
    tables = [_touched(table, backend) for table in run.tables]
    ended = to_micros(run.ended_at)
    return RunFact(
        run_id=run.run_id,
        status=run.status,
        job_name=run.job_name,
        application_id=run.application_id,
        started_at=started,
        ended_at=ended,
        tables=tables,
        observed_at=now,
        at=started if run.status == "running" else now if ended is None else ended,
        source="runs",
        written_snapshot_id=only_written(tables),
        read_bytes=run.read_bytes,
    )


def _touched(table: RunTableIn, backend: Backend) -> RunTable:
    """Resolve a plain name; an unknown table is accepted under that name."""
    given = TableName(table.catalog, table.table_namespace, table.table)
    name = backend.resolved(given)
    if name == given:
        name = TableName.from_plain(*given)
    return RunTable(
        catalog=name.catalog,
        namespace=name.namespace,
        table=name.table,
        role=table.role,
        read_snapshot_id=_snapshot_id("read_snapshot_id", table.read_snapshot_id),
        written_snapshot_id=_written_id(table),
    )


def _written_id(table: RunTableIn) -> int | None:
    if table.written_snapshot_id is not None and table.role != "writes":
        raise InvalidInput("tables.written_snapshot_id", "is only valid for a table with role `writes`")
    return _snapshot_id("written_snapshot_id", table.written_snapshot_id)


def _snapshot_id(field: str, text: str | None) -> int | None:
    if text is None:
        return None
    if not -(2**63) <= int(text) < 2**63:
        raise InvalidInput(f"tables.{field}", "must be a decimal snapshot id of 64 bits, as text")
    return int(text)


API_HANDLERS = [get_status, post_run]
ROOT_HANDLERS = [healthz, readyz, metrics]
