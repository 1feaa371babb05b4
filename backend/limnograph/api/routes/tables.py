"""Routes of the fleet and of one table: parse the request, call a service, return its result."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
from litestar import Request, Router, get
from litestar.di import NamedDependency

from limnograph.api.docs.runbooks import runbooks
from limnograph.api.wire import parameters as p
from limnograph.api.wire import values as v
from limnograph.api.wire.access import FAILED, LAKE_PAGE, TABLE_PAGE
from limnograph.api.wire.pagination import resolved
from limnograph.api.wire.problems import documented
from limnograph.domain.answers.commits import CommitDetail, CommitsPage
from limnograph.domain.answers.runbooks import TableRunbook
from limnograph.domain.answers.tables import FleetHeat, TableDetail, TableFacets, TablesPage
from limnograph.domain.answers.timeline import Timeline
from limnograph.domain.errors import NotFound, SourceError
from limnograph.domain.ids import TableName
from limnograph.domain.queries import DEFAULT_LIMIT, CommitsQuery, FleetQuery
from limnograph.domain.time import Millis, TimeRange, to_millis
from limnograph.services.server.backend import Backend

AnyRequest = Request[Any, Any, Any]


def _now_ms(backend: Backend) -> Millis:
    return to_millis(backend.clock.now())


@get("/tables", operation_id="listTables", summary="List tables", responses=documented(503), opt=LAKE_PAGE)
async def list_tables(
    request: AnyRequest,
    backend: NamedDependency[Backend],
    *,
    text: p.Text = "",
    namespace: p.NamespaceFilter = "",
    sort: p.Sort = "attention",
    direction: p.Dir = "desc",
    start: p.From = None,
    end: p.To = None,
    grew: p.Grew = None,
    within: p.Within = None,
    compare: p.CompareTables = None,
    severity: p.OfSeverity = None,
    code: p.OfCode = None,
    acknowledged: p.IsAcknowledged = None,
    owner: p.OfOwner = "",
    table_format: p.OfFormat = None,
    has_job: p.HasJob = None,
    planning: p.Planning = None,
    missed: p.Missed = None,
    cursor: p.Cursor = None,
    limit: p.Limit = DEFAULT_LIMIT,
) -> TablesPage:
    """Tables that match all filters, each with the reason for its rank; default range: the last 24 hours. Findings,
    owners and jobs are those of now, whatever the range.
    """
    given: dict[str, Any] = {"q": text, "ns": namespace, "sort": sort, "dir": direction, "from": start, "to": end}
    given |= {"grew": grew, "within": within, "cmp": compare, "severity": severity, "code": code}
    given |= {"acknowledged": acknowledged, "owner": owner, "format": table_format, "has_job": has_job}
    given |= {"planning": planning, "missed": missed}
    asked = resolved(request, "tables", cursor, given)
    first, last = v.span(asked["from"], asked["to"], _now_ms(backend), 24 * v.HOUR_MS)
    share, within_s = v.growth(asked["grew"], asked["within"])
    query = FleetQuery(
        start=first,
        end=last,
        text=asked["q"],
        namespace=asked["ns"],
        sort=asked["sort"],
        direction=asked["dir"],
        cursor=cursor,
        limit=v.page_size(limit),
        grew=share,
        within_s=within_s,
        compare_s=v.compared(asked["cmp"]),
        planning_s=v.planning(asked["planning"]),
        missed=v.missed(asked["missed"]),
        **{name: asked[name] for name in ("severity", "code", "acknowledged", "owner", "format", "has_job")},
    )
    return await backend.fleet.page(query)


@get(
    "/tables/facets",
    operation_id="getTableFacets",
    summary="Values of the filters of tables",
    responses=documented(503),
    opt=LAKE_PAGE,
)
async def get_table_facets(
    backend: NamedDependency[Backend],
    *,
    text: p.Text = "",
    namespace: p.NamespaceFilter = "",
    start: p.From = None,
    end: p.To = None,
    grew: p.Grew = None,
    within: p.Within = None,
    severity: p.OfSeverity = None,
    code: p.OfCode = None,
    acknowledged: p.IsAcknowledged = None,
    owner: p.OfOwner = "",
    table_format: p.OfFormat = None,
    has_job: p.HasJob = None,
    planning: p.Planning = None,
    missed: p.Missed = None,
) -> TableFacets:
    """How many tables each value of each filter would leave, the other filters being as in the request. Filters have
    the meaning that they have in the list of tables.
    """
    first, last = v.span(start, end, _now_ms(backend), 24 * v.HOUR_MS)
    share, within_s = v.growth(grew, within)
    query = FleetQuery(
        start=first,
        end=last,
        text=text,
        namespace=namespace,
        grew=share,
        within_s=within_s,
        severity=severity,
        code=code,
        acknowledged=acknowledged,
        owner=owner,
        format=table_format,
        has_job=has_job,
        planning_s=v.planning(planning),
        missed=v.missed(missed),
    )
    return await backend.fleet.facets(query)


@get("/tables/heat", operation_id="getHeat", summary="Heat map of tables", responses=documented(503), opt=LAKE_PAGE)
async def get_heat(
    backend: NamedDependency[Backend],
    *,
    text: p.Text = "",
    namespace: p.NamespaceFilter = "",
    start: p.From = None,
    end: p.To = None,
) -> FleetHeat:
    """Commits, changes in data files and alerts in about 48 equal parts of a range (default: the last 24 hours), for
    the 30 tables that need the most attention. Parts begin at full minutes, hours or days of UTC: the first and the
    last one may reach beyond the range, and `from` and `to` of the response are their ends. Computed from memory.
    """
    first, last = v.span(start, end, _now_ms(backend), 24 * v.HOUR_MS)
    return await backend.fleet.heat(FleetQuery(start=first, end=last, text=text, namespace=namespace))


@get("/", operation_id="getTable", summary="Describe a table", responses=documented(404, 503), opt=TABLE_PAGE)
async def get_table(
    backend: NamedDependency[Backend], catalog: p.Catalog, namespace: p.Namespace, table: p.Table
) -> TableDetail:
    """Identity, schema, spec, refs, freshness and jobs. For an unreadable table, the response contains its status."""
    return await backend.tables.detail(v.known_name(backend, catalog, namespace, table))


@get(
    "/timeline",
    operation_id="getTimeline",
    summary="Lanes of a table",
    responses=documented(404, 503),
    opt=TABLE_PAGE,
)
async def get_timeline(
    request: AnyRequest,
    backend: NamedDependency[Backend],
    *,
    catalog: p.Catalog,
    namespace: p.Namespace,
    table: p.Table,
    start: p.From = None,
    end: p.To = None,
    step: p.Step = None,
    lanes: p.Lanes = None,
    job: p.Job = None,
    compare: p.Compare = None,
    compare_table: p.CompareTable = "",
    ref: p.RefName = None,
    detail: p.WithDetail = False,
) -> Timeline:
    """Metadata and metrics on one time axis; 200 if at least one lane is available. Default: the last six hours."""
    first, last = v.span(start, end, _now_ms(backend), 6 * v.HOUR_MS)
    asked = TimeRange.parse(first, last, step)
    name = v.known_name(backend, catalog, namespace, table)
    other = v.table_named(backend, compare_table) if compare_table else None
    answer = backend.timelines.answer(name, asked, v.lane_names(lanes), job, compare, ref=ref, other=other)
    if not detail:
        found = await answer
        request.scope["state"][FAILED] = found.failed
        return found
    found, now = await asyncio.gather(answer, _told(backend, name))
    request.scope["state"][FAILED] = found.failed or now is None
    return msgspec.structs.replace(found, detail=now)


async def _told(backend: Backend, name: TableName) -> TableDetail | None:
    """The table now. A failed source does not affect other lanes."""
    try:
        return await backend.tables.detail(name)
    except SourceError:
        return None


@get(
    "/commits",
    operation_id="listTableCommits",
    summary="Commits of a table",
    responses=documented(404, 503),
    opt=TABLE_PAGE,
)
async def list_table_commits(
    request: AnyRequest,
    backend: NamedDependency[Backend],
    *,
    catalog: p.Catalog,
    namespace: p.Namespace,
    table: p.Table,
    start: p.From = None,
    end: p.To = None,
    operation: p.Operation = None,
    min_added_data_files: p.MinAdded = None,
    schema_changed: p.SchemaChanged = None,
    writer: p.CommitWriter = None,
    sort: p.CommitOrder = "newest",
    cursor: p.Cursor = None,
    limit: p.Limit = DEFAULT_LIMIT,
) -> CommitsPage:
    """Newest first unless `sort` says otherwise; default range: the last 24 hours."""
    given = {"from": start, "to": end, "operation": operation, "min_added_data_files": min_added_data_files}
    given |= {"schema_changed": schema_changed, "writer": writer, "sort": sort}
    name = v.known_name(backend, catalog, namespace, table)
    asked = resolved(request, "commits", cursor, given, name)
    return await backend.commits.page(_commits(backend, asked, cursor, limit, name))


@get(
    "/commits/{snapshot_id:str}",
    operation_id="getCommit",
    summary="One commit",
    responses=documented(404, 503),
    opt=TABLE_PAGE,
)
async def get_commit(
    *,
    backend: NamedDependency[Backend],
    catalog: p.Catalog,
    namespace: p.Namespace,
    table: p.Table,
    snapshot_id: p.SnapshotId,
) -> CommitDetail:
    """Effect of the commit on its parent's state, its writer, the partitions it touched, and job runs before and after
    it.
    """
    return await backend.commit_details.detail(
        v.known_name(backend, catalog, namespace, table), v.snapshot_id(snapshot_id)
    )


@get(
    "/runbooks/{name:str}",
    operation_id="getTableRunbook",
    summary="A runbook for a table",
    responses=documented(404, 503),
    opt=TABLE_PAGE,
)
async def get_table_runbook(
    *,
    backend: NamedDependency[Backend],
    catalog: p.Catalog,
    namespace: p.Namespace,
    table: p.Table,
    name: p.RunbookName,
    snapshot_id: p.WrittenBy = None,
) -> TableRunbook:
    """A runbook of docs/runbooks whose statements address the table by its own names; with `snapshot_id`, those that
    take a condition select the rows that this commit wrote. A statement that cannot be written safely is null, with the
    reason. The response changes nothing: statements are run by users.
    """
    text = runbooks().get(name)
    if text is None:
        raise NotFound(f"there is no runbook {name!r}")
    found = v.known_name(backend, catalog, namespace, table)
    commit = None if snapshot_id is None else v.snapshot_id(snapshot_id)
    return await backend.runbooks.filled(name, text, found, commit)


@get(
    "/commits",
    operation_id="listCommits",
    summary="Commits of all tables",
    responses=documented(503),
    opt=LAKE_PAGE,
)
async def list_commits(
    request: AnyRequest,
    backend: NamedDependency[Backend],
    *,
    start: p.From = None,
    end: p.To = None,
    operation: p.Operation = None,
    min_added_data_files: p.MinAdded = None,
    schema_changed: p.SchemaChanged = None,
    writer: p.CommitWriter = None,
    sort: p.CommitOrder = "newest",
    cursor: p.Cursor = None,
    limit: p.Limit = DEFAULT_LIMIT,
) -> CommitsPage:
    """Newest first unless `sort` says otherwise; default range: the last 24 hours."""
    given = {"from": start, "to": end, "operation": operation, "min_added_data_files": min_added_data_files}
    given |= {"schema_changed": schema_changed, "writer": writer, "sort": sort}
    asked = resolved(request, "commits", cursor, given)
    return await backend.commits.page(_commits(backend, asked, cursor, limit, None))


def _commits(
    backend: Backend, asked: dict[str, Any], cursor: str | None, limit: int, table: TableName | None
) -> CommitsQuery:
    first, last = v.span(asked["from"], asked["to"], _now_ms(backend), 24 * v.HOUR_MS)
    return CommitsQuery(
        start=first,
        end=last,
        table=table,
        operation=asked["operation"],
        min_added_data_files=asked["min_added_data_files"],
        schema_changed=asked["schema_changed"],
        writer=asked["writer"] or None,
        sort=asked["sort"],
        cursor=cursor,
        limit=v.page_size(limit),
    )


one_table = Router(
    "/tables/{catalog:str}/{namespace:str}/{table:str}",
    route_handlers=[get_table, get_timeline, list_table_commits, get_commit, get_table_runbook],
)
HANDLERS = [list_tables, get_table_facets, get_heat, one_table, list_commits]
