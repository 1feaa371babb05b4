"""Forecasts: which tables are at risk."""

from __future__ import annotations

from typing import Annotated, Any

from litestar import Request, get
from litestar.di import NamedDependency
from litestar.params import QueryParameter

from limnograph.api.wire import parameters as p
from limnograph.api.wire import values as v
from limnograph.api.wire.access import READ
from limnograph.api.wire.pagination import resolved
from limnograph.api.wire.problems import documented
from limnograph.domain.forecasts.cases import ForecastMetric
from limnograph.domain.forecasts.pages import ForecastsPage, RiskState, TableForecastPage
from limnograph.domain.queries import DEFAULT_LIMIT, ForecastsQuery
from limnograph.services.server.backend import Backend

OfState = Annotated[
    RiskState | None,
    QueryParameter(name="state", description="Only rows in this state. Default: all but `not_at_risk`."),
]
OfMetric = Annotated[
    ForecastMetric | None, QueryParameter(name="metric", description="Only this metric, such as `small_files`.")
]
OfTable = Annotated[str, QueryParameter(name="table", description="Only this table: `catalog.namespace.table`.")]
OfOwner = Annotated[str, QueryParameter(name="owner", description="Only tables with this owner.")]


@get(
    "/forecasts",
    operation_id="listForecasts",
    summary="Tables at risk, most urgent first",
    responses=documented(503),
    opt=READ,
)
async def list_forecasts(
    request: Request[Any, Any, Any],
    backend: NamedDependency[Backend],
    *,
    risk: OfState = None,
    metric: OfMetric = None,
    table: OfTable = "",
    owner: OfOwner = "",
    cursor: p.Cursor = None,
    limit: p.Limit = DEFAULT_LIMIT,
) -> ForecastsPage:
    """The newest forecast of every metric of every table, one row each: those at risk first, by probability times the
    number of jobs that read the table. A table without a commit in the last eight days has none.
    """
    given = {"state": risk, "metric": metric, "table": table, "owner": owner}
    asked = resolved(request, "forecasts", cursor, given)
    return await backend.forecasts.page(ForecastsQuery(**asked, cursor=cursor, limit=v.page_size(limit)))


@get(
    "/tables/{catalog:str}/{namespace:str}/{table:str}/forecast",
    operation_id="getTableForecast",
    summary="Forecast of one table",
    responses=documented(404, 503),
    opt=READ,
)
async def get_table_forecast(
    backend: NamedDependency[Backend], catalog: p.Catalog, namespace: p.Namespace, table: p.Table
) -> TableForecastPage:
    """The newest forecast of one table: a row and a fan for each of its metrics, what came of earlier warnings, and its
    bytes in 30 days.
    """
    return await backend.forecasts.table(backend.resolved(v.table_name(catalog, namespace, table)))


HANDLERS: list[Any] = [list_forecasts, get_table_forecast]
