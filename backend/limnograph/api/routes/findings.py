"""Findings: what is wrong with tables."""

from __future__ import annotations

from typing import Annotated, Any

from litestar import Request, get
from litestar.di import NamedDependency
from litestar.params import PathParameter, QueryParameter

from limnograph.api.wire import parameters as p
from limnograph.api.wire import values as v
from limnograph.api.wire.access import READ
from limnograph.api.wire.pagination import resolved
from limnograph.api.wire.problems import documented
from limnograph.domain.answers.findings import AcknowledgedFilter, FindingDetail, FindingsPage, FindingState
from limnograph.domain.finding_codes import FindingCode, FindingSeverity
from limnograph.domain.queries import DEFAULT_LIMIT, FindingsQuery
from limnograph.domain.time import to_millis
from limnograph.services.server.backend import Backend

Name = Annotated[str, QueryParameter(name="table", description="Only this table: `catalog.namespace.table`.")]
OfState = Annotated[
    FindingState, QueryParameter(name="state", description="`open`, or `closed` between `from` and `to`.")
]
OfSeverity = Annotated[FindingSeverity | None, QueryParameter(name="severity", description="Only this severity.")]
OfCode = Annotated[FindingCode | None, QueryParameter(name="code", description="Only this code.")]
OfOwner = Annotated[str, QueryParameter(name="owner", description="Only findings with this owner.")]
IsAcknowledged = Annotated[
    AcknowledgedFilter,
    QueryParameter(name="acknowledged", description="Of open findings: those that are not, those that are, or `any`."),
]
FindingId = Annotated[str, PathParameter(description="Id of a finding.")]
DAY_MS = 24 * v.HOUR_MS


@get("/findings", operation_id="listFindings", summary="What is wrong with tables", responses=documented(), opt=READ)
async def list_findings(
    request: Request[Any, Any, Any],
    backend: NamedDependency[Backend],
    *,
    start: p.From = None,
    end: p.To = None,
    chosen: OfState = "open",
    severity: OfSeverity = None,
    code: OfCode = None,
    table: Name = "",
    owner: OfOwner = "",
    acknowledged: IsAcknowledged = "false",
    cursor: p.Cursor = None,
    limit: p.Limit = DEFAULT_LIMIT,
) -> FindingsPage:
    """Open findings, the most severe first, or those that closed between `from` and `to` (default: the last 24
    hours). A range does not change which findings are open, or their severity. Acknowledged findings are left out and
    counted, unless `acknowledged` requests them; they are listed again when the acknowledgement ends or their severity
    rises.
    """
    given = {"state": chosen, "severity": severity, "code": code, "table": table}
    given |= {"owner": owner, "acknowledged": acknowledged}
    asked = resolved(request, "findings", cursor, {"from": start, "to": end, **given})
    first, last = v.span(asked.pop("from"), asked.pop("to"), to_millis(backend.clock.now()), DAY_MS)
    query = FindingsQuery(start=first, end=last, **asked, cursor=cursor, limit=v.page_size(limit))
    return backend.findings.page(query)


@get(
    "/findings/{finding_id:str}",
    operation_id="getFinding",
    summary="One finding with its history",
    responses=documented(404),
    opt=READ,
)
async def get_finding(backend: NamedDependency[Backend], finding_id: FindingId) -> FindingDetail:
    """A finding, each of its recorded transitions, and earlier findings of the same code on the same table."""
    return await backend.findings.detail(finding_id)


HANDLERS: list[Any] = [list_findings, get_finding]
