"""Commits and findings as annotations for other programs' graphs, in Grafana's format."""

from __future__ import annotations

from typing import Annotated, Any

from litestar import get
from litestar.di import NamedDependency
from litestar.params import QueryParameter

from limnograph.api.wire import parameters as p
from limnograph.api.wire import values as v
from limnograph.api.wire.access import LAKE_PAGE
from limnograph.api.wire.problems import documented
from limnograph.domain.answers.annotations import AnnotationKind, AnnotationsPage
from limnograph.domain.errors import InvalidInput
from limnograph.domain.ids import TableName
from limnograph.domain.queries import MAX_LIMIT, CommitsQuery
from limnograph.domain.time import to_millis
from limnograph.services.server.backend import Backend
from limnograph.services.timeline.annotations import annotation

ANY = {"", "*", ".*", "$__all"}
"""Values of a Grafana variable that mean "all"."""
_SAID = "of the table, as in its metrics' labels; empty, `*` or `.*`: any"
OfCatalog = Annotated[str, QueryParameter(name="catalog", description=f"Catalog {_SAID}.")]
OfNamespace = Annotated[str, QueryParameter(name="table_namespace", description=f"Namespace {_SAID}.")]
OfTable = Annotated[str, QueryParameter(name="table", description=f"Name {_SAID}.")]

OfKind = Annotated[
    AnnotationKind,
    QueryParameter(
        name="kind", description="`commits`, or `findings`: one mark where each opened, one where it closed."
    ),
]


@get(
    "/annotations",
    operation_id="listAnnotations",
    summary="Commits or findings as annotations",
    responses=documented(404, 503),
    opt=LAKE_PAGE,
)
async def list_annotations(
    backend: NamedDependency[Backend],
    *,
    start: p.From = None,
    end: p.To = None,
    kind: OfKind = "commits",
    catalog: OfCatalog = "",
    table_namespace: OfNamespace = "",
    table: OfTable = "",
    min_added_data_files: p.MinAdded = None,
    limit: p.Limit = MAX_LIMIT,
) -> AnnotationsPage:
    """Newest first, of all tables or, if all three names are given, of one; default: the last 24 hours. For data
    sources that read annotations from JSON; fields have Grafana's names.
    """
    first, last = v.span(start, end, to_millis(backend.clock.now()), 24 * v.HOUR_MS)
    name = _table(catalog, table_namespace, table)
    if kind == "findings":
        return AnnotationsPage(rows=backend.findings.annotations(first, last, name, v.page_size(limit)))
    query = CommitsQuery(
        start=first,
        end=last,
        table=name,
        min_added_data_files=min_added_data_files,
        limit=v.page_size(limit),
    )
    return AnnotationsPage(rows=[annotation(commit) for commit in (await backend.commits.page(query)).rows])


def _table(catalog: str, namespace: str, table: str) -> TableName | None:
    """Raises InvalidInput when only some of the names are given, instead of ignoring them."""
    given = [name not in ANY for name in (catalog, namespace, table)]
    if table in ANY and not any(given):
        return None
    if not all(given):
        raise InvalidInput("table", "requires catalog, table_namespace and table together, or none of them")
    return TableName(catalog, namespace, table)


HANDLERS: list[Any] = [list_annotations]
