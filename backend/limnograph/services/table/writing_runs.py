"""The run that wrote a commit, for the commit's page: when it ran, and the origin of the table's columns."""

from __future__ import annotations

from collections.abc import Mapping

from limnograph.domain.answers.commits import ColumnOrigin, WritingRun
from limnograph.domain.facts.events import RunFact
from limnograph.domain.ids import TableName
from limnograph.domain.time import to_millis
from limnograph.services.events.facets import Origin, origins
from limnograph.services.events.naming import dataset_location
from limnograph.services.jobs.run_log import wrote

COLUMNS_SHOWN = 500


def writing_run(run: RunFact, name: TableName, snapshot_id: int) -> WritingRun:
    """The part of a run about a commit that it reported as written."""
    table = wrote(run, name, snapshot_id)
    found = list(origins(table.facets if table else None))
    known = tables_of(run)
    return WritingRun(
        run_id=run.run_id,
        job=run.job_name,
        status=run.status,
        started_at=to_millis(run.started_at),
        ended_at=to_millis(run.ended_at),
        parent_run_id=run.parent_run_id,
        ref=table.ref if table else None,
        read_bytes=run.read_bytes,
        columns=[origin_view(origin, known) for origin in found[:COLUMNS_SHOWN]],
        columns_total=len(found),
        masked_columns=len({origin.column for origin in found if origin.masked}),
    )


def tables_of(run: RunFact) -> Mapping[str, str]:
    """Names of the tables that a run touches, `catalog.namespace.table`, by their folder and by their own names."""
    found: dict[str, str] = {}
    for table in run.tables or ():
        if table.catalog is None or table.table is None:
            continue
        name = ".".join(filter(None, (table.catalog, table.namespace, table.table)))
        for spelling in (table.location, name, name.removeprefix(f"{table.catalog}.")):
            if spelling is not None:
                found.setdefault(spelling, name)
    return found


def origin_view(origin: Origin, known: Mapping[str, str]) -> ColumnOrigin:
    """An origin with its table, if it is one of `known`, as `tables_of` has them."""
    return ColumnOrigin(
        column=origin.column,
        from_table=origin.dataset,
        table=known.get(dataset_location(origin.namespace, origin.dataset) or origin.dataset),
        from_column=origin.field,
        transformation=origin.transformation,
        masked=origin.masked,
    )
