"""Routes of a table's structure (partitions, schemas, lineage, branches and tags), reads, columns and storage."""

from __future__ import annotations

from typing import Any

from litestar import Request, Router, get
from litestar.di import NamedDependency

from limnograph.api.wire import parameters as p
from limnograph.api.wire import values as v
from limnograph.api.wire.access import FAILED, READ, TABLE_PAGE
from limnograph.api.wire.problems import documented
from limnograph.domain.answers.columns import ColumnsPage
from limnograph.domain.answers.partitions import PartitionsPage
from limnograph.domain.answers.reads import ReadsPage
from limnograph.domain.answers.refs import RefsPage
from limnograph.domain.answers.schemas import LineagePage, SchemaPage
from limnograph.domain.answers.storage import StoragePage
from limnograph.domain.queries import DEFAULT_PARTITIONS, PartitionsQuery
from limnograph.domain.time import to_millis
from limnograph.services.server.backend import Backend


@get(
    "/partitions",
    operation_id="getPartitions",
    summary="Partitions of a table at two instants",
    responses=documented(404, 503),
    opt=TABLE_PAGE,
)
async def get_partitions(
    backend: NamedDependency[Backend],
    *,
    catalog: p.Catalog,
    namespace: p.Namespace,
    table: p.Table,
    at: p.At = None,
    compare: p.CompareAt = None,
    start: p.From = None,
    end: p.To = None,
    partition: p.Partition = None,
    sort: p.PartitionSorted = "data_files",
    direction: p.Dir = "desc",
    limit: p.Partitions = DEFAULT_PARTITIONS,
) -> PartitionsPage:
    """Leaderboard at `at`, file sizes at both instants, partitions by time in the range (default: 24 hours)."""
    now = to_millis(backend.clock.now())
    first, last = v.span(start, end, now, 24 * v.HOUR_MS)
    query = PartitionsQuery(
        table=v.known_name(backend, catalog, namespace, table),
        at=v.instant(at, min(last, now)),
        start=first,
        end=last,
        compare_s=v.compared(compare),
        conditions=v.conditions(partition),
        sort=sort,
        direction=direction,
        limit=v.partitions(limit),
    )
    return await backend.partitions.page(query)


@get(
    "/schema",
    operation_id="getSchemaHistory",
    summary="Versions of schema, partition spec and sort order",
    responses=documented(404, 503),
    opt=TABLE_PAGE,
)
async def get_schema(
    request: Request[Any, Any, Any],
    backend: NamedDependency[Backend],
    catalog: p.Catalog,
    namespace: p.Namespace,
    table: p.Table,
) -> SchemaPage:
    """Versions, newest first, each compared with the previous one by field id; every field across all versions of the
    schema.
    """
    found, failed = await backend.schemas.page(v.known_name(backend, catalog, namespace, table))
    request.scope["state"][FAILED] = failed
    return found


@get(
    "/lineage",
    operation_id="getLineage",
    summary="Origin of a table's columns",
    responses=documented(404, 503),
    opt=TABLE_PAGE,
)
async def get_lineage(
    request: Request[Any, Any, Any],
    backend: NamedDependency[Backend],
    catalog: p.Catalog,
    namespace: p.Namespace,
    table: p.Table,
) -> LineagePage:
    """Where each column of the current schema comes from, by the newest run that reported it in OpenLineage's
    `columnLineage`, and whether it is masked. Runs of the last 8 days.
    """
    found, failed = await backend.lineage.page(v.known_name(backend, catalog, namespace, table))
    request.scope["state"][FAILED] = failed
    return found


@get(
    "/refs",
    operation_id="getRefs",
    summary="Branches and tags",
    responses=documented(404, 503),
    opt=TABLE_PAGE,
)
async def get_refs(
    request: Request[Any, Any, Any],
    backend: NamedDependency[Backend],
    catalog: p.Catalog,
    namespace: p.Namespace,
    table: p.Table,
) -> RefsPage:
    """Branches and tags with their snapshots, retention and history."""
    found, failed = await backend.refs.page(v.known_name(backend, catalog, namespace, table))
    request.scope["state"][FAILED] = failed
    return found


@get("/reads", operation_id="getReads", summary="Reads of a table", responses=documented(404, 503), opt=READ)
async def get_reads(
    backend: NamedDependency[Backend],
    *,
    catalog: p.Catalog,
    namespace: p.Namespace,
    table: p.Table,
    start: p.From = None,
    end: p.To = None,
) -> ReadsPage:
    """Scans and queries that engines reported in the range (default: 24 hours): planning and query times, files opened
    and skipped, filtered columns, readers, and readers of old snapshots.
    """
    first, last = v.span(start, end, to_millis(backend.clock.now()), 24 * v.HOUR_MS)
    return await backend.reads.page(v.known_name(backend, catalog, namespace, table), first, last)


@get(
    "/columns",
    operation_id="getColumns",
    summary="Column statistics of a table",
    responses=documented(404, 503),
    opt=READ,
)
async def get_columns(
    backend: NamedDependency[Backend],
    *,
    catalog: p.Catalog,
    namespace: p.Namespace,
    table: p.Table,
    start: p.From = None,
    end: p.To = None,
) -> ColumnsPage:
    """Null share, NaN share, counts and bounds of columns in the data files that commits of the range added (default:
    24 hours). Private columns have counts only.
    """
    first, last = v.span(start, end, to_millis(backend.clock.now()), 24 * v.HOUR_MS)
    return await backend.columns.page(v.known_name(backend, catalog, namespace, table), first, last)


@get(
    "/storage",
    operation_id="getStorage",
    summary="Storage of a table",
    responses=documented(404, 503),
    opt=READ,
)
async def get_storage(
    backend: NamedDependency[Backend],
    *,
    catalog: p.Catalog,
    namespace: p.Namespace,
    table: p.Table,
    snapshot_id: p.OfSnapshot = None,
) -> StoragePage:
    """Bytes of a table by what reaches them (live, held by older snapshots, by branch and tag, by age, metadata), and
    the files of one snapshot: metadata file, manifest list, manifests, largest files. Reads storage, which may take
    seconds; answers are kept for ten minutes while the table does not change. At most eight requests wait.
    """
    name = v.known_name(backend, catalog, namespace, table)
    return await backend.storage.page(name, None if snapshot_id is None else v.snapshot_id(snapshot_id))


one_table = Router(
    "/tables/{catalog:str}/{namespace:str}/{table:str}",
    route_handlers=[get_partitions, get_schema, get_lineage, get_refs, get_reads, get_columns, get_storage],
)
HANDLERS = [one_table]
