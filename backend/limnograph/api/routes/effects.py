"""The effect ledger."""

from __future__ import annotations

from typing import Annotated, Any

from litestar import Request, get
from litestar.di import NamedDependency
from litestar.params import QueryParameter

from limnograph.api.wire import parameters as p
from limnograph.api.wire import values as v
from limnograph.api.wire.access import LAKE_PAGE
from limnograph.api.wire.pagination import resolved
from limnograph.api.wire.problems import documented
from limnograph.domain.answers.effect_ledger import LedgerPage, LedgerVerdict, Measure
from limnograph.domain.queries import DEFAULT_LIMIT, EffectsQuery
from limnograph.domain.time import to_millis
from limnograph.services.server.backend import Backend

Name = Annotated[str, QueryParameter(name="table", description="Only this table: `catalog.namespace.table`.")]
Owner = Annotated[str, QueryParameter(name="owner", description="Only tables with this owner.")]
Action = Annotated[str, QueryParameter(name="action", description="Only this action, such as `rewrite_data_files`.")]
Writer = Annotated[str, QueryParameter(name="writer", description="Only operations of this application.")]
JobName = Annotated[str, QueryParameter(name="job", description="Only effects on this job.")]
OfMeasure = Annotated[
    Measure | None,
    QueryParameter(name="measure", description="`duration` of runs, `planning` time of scans, or `files` they open."),
]
OfVerdict = Annotated[LedgerVerdict | None, QueryParameter(name="verdict", description="Only rows with this verdict.")]
MONTH_MS = 30 * 24 * v.HOUR_MS


@get(
    "/effects",
    operation_id="listEffects",
    summary="Effects of maintenance operations on jobs",
    responses=documented(503),
    opt=LAKE_PAGE,
)
async def list_effects(
    request: Request[Any, Any, Any],
    backend: NamedDependency[Backend],
    *,
    start: p.From = None,
    end: p.To = None,
    table: Name = "",
    owner: Owner = "",
    action: Action = "",
    writer: Writer = "",
    job: JobName = "",
    measure: OfMeasure = None,
    verdict: OfVerdict = None,
    cursor: p.Cursor = None,
    limit: p.Limit = DEFAULT_LIMIT,
) -> LedgerPage:
    """Every commit of operation `replace` and every expiry of snapshots between `from` and `to` (default: the last 30
    days), newest first, with its effect on each job that reads the table, measured 8, 16 and 48 runs later.
    """
    given = {"table": table, "owner": owner, "action": action, "writer": writer, "job": job}
    asked = resolved(
        request, "effects", cursor, {"from": start, "to": end, **given, "measure": measure, "verdict": verdict}
    )
    first, last = v.span(asked.pop("from"), asked.pop("to"), to_millis(backend.clock.now()), MONTH_MS)
    query = EffectsQuery(start=first, end=last, **asked, cursor=cursor, limit=v.page_size(limit))
    return await backend.effects.page(query)


HANDLERS: list[Any] = [list_effects]
