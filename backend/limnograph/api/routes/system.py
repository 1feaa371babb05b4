"""Routes about the server itself: status, accepted runs, health, its own metrics."""

from __future__ import annotations

from litestar import Response, get, post
from litestar.datastructures import State
from litestar.di import NamedDependency
from litestar.params import JSONBody

from limnograph import __version__
from limnograph.api.access import METRICS, OPEN, READ, WEBHOOK
from limnograph.api.problems import documented
from limnograph.api.views import Accepted, HealthView, RunIn, RunTableIn
from limnograph.domain.answers import Status
from limnograph.domain.errors import InvalidInput
from limnograph.domain.events import RunFact, RunTable
from limnograph.domain.time import MICROS_PER_MS
from limnograph.services.backend import Backend

EXPOSITION = "text/plain; version=0.0.4; charset=utf-8"


@get("/status", operation_id="getStatus", summary="State of the whole", responses=documented(), opt=READ)
async def get_status(backend: NamedDependency[Backend]) -> Status:
    """Sources, watermark, newest pass and what is missing. A failed source is a status, never an error."""
    return await backend.status.status()


@post(
    "/runs",
    operation_id="postRun",
    summary="Accept a job run",
    status_code=202,
    responses=documented(413, 503),
    opt=WEBHOOK,
)
async def post_run(backend: NamedDependency[Backend], data: JSONBody[RunIn]) -> Accepted:
    """One transition of a run, durable in the inbox before the answer; a repeat of (run_id, status) changes nothing."""
    new = await backend.runs.accept([_fact(data, backend.clock.now())])
    return Accepted(accepted=new, duplicates=1 - new)


@get("/healthz", operation_id="getLiveness", summary="Alive", responses=documented(), sync_to_thread=False, opt=OPEN)
def healthz() -> HealthView:
    """The process answers."""
    return HealthView(status="ok", version=__version__)


@get("/readyz", operation_id="getReadiness", summary="Ready", responses=documented(), sync_to_thread=False, opt=OPEN)
def readyz(backend: NamedDependency[Backend]) -> Response[HealthView]:
    """200 once the first read of the meta tables has finished, 503 with `starting` before."""
    ready = backend.status.ready()
    view = HealthView(status="ok" if ready else "starting", version=__version__)
    return Response(view, status_code=200 if ready else 503)


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
    """Numbers of the server and of every table (docs/metrics.md)."""
    return Response(state["exposition"](), headers={"content-type": EXPOSITION})


def _fact(run: RunIn, now: int) -> RunFact:
    if run.ended_at is not None and run.ended_at < run.started_at:
        raise InvalidInput("ended_at", "must not be before started_at")
    started = run.started_at * MICROS_PER_MS
    ended = None if run.ended_at is None else run.ended_at * MICROS_PER_MS
    return RunFact(
        run_id=run.run_id,
        status=run.status,
        job_name=run.job_name,
        application_id=run.application_id,
        started_at=started,
        ended_at=ended,
        tables=[_touched(table) for table in run.tables],
        observed_at=now,
        at=started if run.status == "running" else now if ended is None else ended,
        source="runs",
    )


def _touched(table: RunTableIn) -> RunTable:
    return RunTable(
        catalog=table.catalog,
        namespace=table.table_namespace,
        table=table.table,
        role=table.role,
        read_snapshot_id=_read_id(table.read_snapshot_id),
    )


def _read_id(text: str | None) -> int | None:
    if text is None:
        return None
    if not -(2**63) <= int(text) < 2**63:
        raise InvalidInput("tables.read_snapshot_id", "must be a decimal snapshot id of 64 bits, as text")
    return int(text)


API_HANDLERS = [get_status, post_run]
ROOT_HANDLERS = [healthz, readyz, metrics]
