"""The run that wrote a commit, for the commit's page: when it ran, and the origin of the table's columns."""

from __future__ import annotations

from limnograph.domain.answers.commits import ColumnOrigin, WritingRun
from limnograph.domain.facts.events import RunFact
from limnograph.domain.ids import TableName
from limnograph.domain.time import to_millis
from limnograph.services.events.facets import Origin, origins
from limnograph.services.jobs.run_log import wrote

COLUMNS_SHOWN = 500


def writing_run(run: RunFact, name: TableName, snapshot_id: int) -> WritingRun:
    """The part of a run about a commit that it reported as written."""
    table = wrote(run, name, snapshot_id)
    found = list(origins(table.facets if table else None))
    return WritingRun(
        run_id=run.run_id,
        job=run.job_name,
        status=run.status,
        started_at=to_millis(run.started_at),
        ended_at=to_millis(run.ended_at),
        parent_run_id=run.parent_run_id,
        ref=table.ref if table else None,
        read_bytes=run.read_bytes,
        columns=list(map(_view, found[:COLUMNS_SHOWN])),
        columns_total=len(found),
        masked_columns=len({origin.column for origin in found if origin.masked}),
    )


def _view(origin: Origin) -> ColumnOrigin:
    return ColumnOrigin(
        column=origin.column,
        from_table=origin.dataset,
        from_column=origin.field,
        transformation=origin.transformation,
        masked=origin.masked,
    )
