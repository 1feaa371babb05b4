"""Recommended maintenance: what to do, with statements, cost and risk."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from litestar import Request, get
from litestar.di import NamedDependency
from litestar.params import QueryParameter

from limnograph.api.wire import parameters as p
from limnograph.api.wire import values as v
from limnograph.api.wire.access import READ
from limnograph.api.wire.pagination import resolved
from limnograph.api.wire.problems import documented
from limnograph.domain.advice.pages import MaintenancePage, TableMaintenance
from limnograph.domain.errors import InvalidInput, SourceUnavailable
from limnograph.domain.maintenance.states import OPEN, STATES, PlanState
from limnograph.domain.queries import DEFAULT_LIMIT, MaintenanceQuery
from limnograph.services.advice.pages import MaintenancePages
from limnograph.services.server.backend import Backend

Rule = Annotated[str, QueryParameter(name="rule", description="Only this rule, such as `compact`.")]
OfAction = Annotated[str, QueryParameter(name="action", description="Only this action, such as `rewrite_data_files`.")]
OfOwner = Annotated[str, QueryParameter(name="owner", description="Only tables with this owner.")]
Text = Annotated[str, QueryParameter(name="q", description="Only tables whose name contains this text.")]
OfState = Annotated[
    str,
    QueryParameter(
        name="state",
        description=f"Comma-separated states: {', '.join(STATES)}. Default: the open ones, "
        f"{', '.join(state for state in STATES if state in OPEN)}.",
        schema_extra={"pattern": "^([a-z]+(,[a-z]+)*)?$"},
    ),
]


@get(
    "/maintenance",
    operation_id="listMaintenance",
    summary="Recommended maintenance, best value first",
    responses=documented(503),
    opt=READ,
)
async def list_maintenance(
    request: Request[Any, Any, Any],
    backend: NamedDependency[Backend],
    *,
    rule: Rule = "",
    action: OfAction = "",
    owner: OfOwner = "",
    text: Text = "",
    states: OfState = "",
    cursor: p.Cursor = None,
    limit: p.Limit = DEFAULT_LIMIT,
) -> MaintenancePage:
    """Plans that the rules recommend, ranked by what they save in a month for what they cost, then other recorded ones
    in the same states. A value that is not known is null, and such plans come last. Nothing is executed: see
    `POST /api/v1/maintenance/{plan_id}/approve`.
    """
    given = {"rule": rule, "action": action, "owner": owner, "q": text, "state": ",".join(sorted(_states(states)))}
    asked = resolved(request, "maintenance", cursor, given)
    asked["text"], chosen = asked.pop("q"), _states(asked.pop("state"))
    query = MaintenanceQuery(**asked, states=chosen, cursor=cursor, limit=v.page_size(limit))
    if chosen <= OPEN:
        return pages_of(backend).page(query)
    return await asyncio.to_thread(pages_of(backend).page, query)


@get(
    "/tables/{catalog:str}/{namespace:str}/{table:str}/maintenance",
    operation_id="getTableMaintenance",
    summary="Recommended maintenance of one table",
    responses=documented(404, 503),
    opt=READ,
)
async def get_table_maintenance(
    backend: NamedDependency[Backend], catalog: p.Catalog, namespace: p.Namespace, table: p.Table
) -> TableMaintenance:
    """Findings, plans with their statements, what does not pay, what is not known, bytes and cost of one table."""
    name = backend.resolved(v.table_name(catalog, namespace, table))
    return await asyncio.to_thread(pages_of(backend).table, name)


def _states(text: str) -> frozenset[PlanState]:
    """States of a comma-separated list. Raises InvalidInput."""
    asked = set(text.split(",")) if text else set[str]()
    if unknown := asked.difference(STATES):
        raise InvalidInput("state", f"{min(unknown)!r} is not a state; choose from {', '.join(STATES)}")
    return frozenset(state for state in STATES if state in asked)


def pages_of(backend: Backend) -> MaintenancePages:
    """The service. Raises SourceUnavailable: this server cannot read tables."""
    if backend.maintenance is None:
        raise SourceUnavailable("tables", "this server does not read tables")
    return backend.maintenance


HANDLERS: list[Any] = [list_maintenance, get_table_maintenance]
