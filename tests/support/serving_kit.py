"""Small builders for tests of the server: facts, parts in memory, an HTTP client on the real application."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
from litestar.types import ASGIApp

from limnograph.adapters.memory.inbox import MemoryInbox
from limnograph.adapters.memory.query_engine import MemoryEngine
from limnograph.api import spa
from limnograph.api.app import create_app
from limnograph.api.metrics.exposition import Exposition
from limnograph.domain.errors import SourceError
from limnograph.domain.facts.meta_tables import ChangeFact, SnapshotFact
from limnograph.services.lake.store import HotStore
from limnograph.services.reads.commit_users import CommitUsers
from limnograph.services.reads.log import ReadLog
from limnograph.services.table.commit_list import CommitLists
from limnograph.wiring.server import ServerServices, build_services
from limnograph.wiring.server_options import ServerOptions

SECOND = 1_000_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
NOW = 1_795_233_600 * SECOND + 6 * HOUR
"""2026-11-21 10:00:00 UTC, epoch microseconds."""
UUID = "3d5e8f3a-0000-4000-8000-000000000001"
BIG = 5184430069070270604
"""An id that a double cannot hold."""


class FixedClock:
    """A clock that stands until it is moved."""

    def __init__(self, now: int = NOW) -> None:
        self.micros = now

    def now(self) -> int:
        return self.micros


def row(snapshot_id: int, at: int, files: int | None = 10, **fields: Any) -> SnapshotFact:
    """A snapshot of `lake.sales.orders` on main; every other number only when given."""
    given = {
        "table_uuid": UUID,
        "catalog": "lake",
        "namespace": "sales",
        "table": "orders",
        "format": "iceberg",
        "format_version": 2,
        "operation": "append",
        "on_main": True,
        "status": "ok",
        "total_data_files": files,
        **fields,
    }
    return SnapshotFact(snapshot_id=snapshot_id, committed_at=at, **given)


def change(kind: str, at: int, to_value: str | None = None, **fields: Any) -> ChangeFact:
    """A change of `lake.sales.orders`."""
    given = {"table_uuid": UUID, "catalog": "lake", "namespace": "sales", "table": "orders", **fields}
    return ChangeFact(kind=kind, at=at, to_value=to_value, **given)


def moved(snapshot_id: int, at: int, **fields: Any) -> ChangeFact:
    """An entry of main's log."""
    return change("ref", at, str(snapshot_id), subject="main", **fields)


def schema(schema_id: int, at: int, *columns: tuple[int, str, str], before: int | None = None) -> ChangeFact:
    """A schema change with its columns `(id, name, type)`."""
    fields = [{"id": i, "name": name, "type": kind, "required": False} for i, name, kind in columns]
    detail = json.dumps({"type": "struct", "schema-id": schema_id, "fields": fields})
    return change("schema", at, str(schema_id), from_value=None if before is None else str(before), detail=detail)


def parts(
    engine: MemoryEngine | None = None,
    source: Any = None,
    clock: FixedClock | None = None,
    *,
    inbox: MemoryInbox | None = None,
    evaluated: bool = True,
    **given: Any,
) -> ServerServices:
    """The server's services over memory, its hot store read once and, if `evaluated`, findings too. `source`: of
    metrics, one or several.
    """
    sources = () if source is None else source if isinstance(source, list | tuple) else (source,)
    options = ServerOptions(engine or MemoryEngine(), inbox or MemoryInbox(), clock or FixedClock(), sources, **given)
    made = build_services(options)
    made.store.refresh()
    with contextlib.suppress(SourceError):
        made.notes.catch_up()
        made.team.owners.refresh()
    if evaluated:
        with contextlib.suppress(SourceError):
            made.evaluator.evaluate()
    return made


def lake(snapshots: list[SnapshotFact], changes: list[ChangeFact] | None = None) -> MemoryEngine:
    """An engine with these facts."""
    engine = MemoryEngine()
    engine.append(snapshots, changes or [])
    return engine


def commit_lists(store: HotStore) -> CommitLists:
    """Lists of commits of which no report names a user."""
    engine, clock = MemoryEngine(), FixedClock()
    return CommitLists(store, CommitUsers(ReadLog(MemoryInbox(), engine, clock), engine, clock))


@contextlib.asynccontextmanager
async def client(
    made: ServerServices,
    build: Path | None = None,
    *,
    url: str = "http://limnograph",
    peer: str = "127.0.0.1",
    **given: Any,
) -> AsyncIterator[httpx.AsyncClient]:
    """HTTP on the whole application, front layer included. `given`: gate and limits."""
    transport = httpx.ASGITransport(
        app=application(made, build, **given), raise_app_exceptions=False, client=(peer, 50_000)
    )
    async with httpx.AsyncClient(transport=transport, base_url=url) as http:
        yield http


def application(made: ServerServices, build: Path | None = None, **given: Any) -> ASGIApp:
    """The whole application. Litestar takes 0.15 s to build one: the clients of a test share it."""
    last = _LAST.get("app")
    if last is None or last[0] is not made or last[1] != (build, given):
        site = spa.load(build) if build else spa.load(Path("/nonexistent"))
        exposition = Exposition(made.gauges.numbers, lambda: made.store.watermark, board=lambda: made.evaluator.board)
        last = _LAST["app"] = made, (build, given), create_app(made.backend, site, exposition, **given)
    return last[2]


_LAST: dict[str, tuple[ServerServices, tuple[Path | None, dict[str, Any]], ASGIApp]] = {}
"""The services, other arguments and application of the last call."""
