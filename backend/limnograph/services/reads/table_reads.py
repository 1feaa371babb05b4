"""Reads of tables as the rules about readers need them, from reports of engines and from runs of jobs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping

import polars as pl

from limnograph.analysis.advice.readers import TableRead
from limnograph.domain.facts.events import RunFact
from limnograph.domain.ids import TableName
from limnograph.domain.time import Micros

NOT_STATED = "not stated"


def reads_of_reports(reports: pl.DataFrame) -> list[TableRead]:
    """Scans and queries of one table whose snapshot is known. A reader is its job, else its engine."""
    rows = reports.drop_nulls(["snapshot_id", "at"]).select("job_name", "engine", "snapshot_id", "at")
    return [
        TableRead(job or engine or NOT_STATED, snapshot, Micros(at)) for job, engine, snapshot, at in rows.iter_rows()
    ]


def reads_of_runs(runs: Iterable[RunFact], uuid_of: Callable[[TableName], str | None]) -> Mapping[str, list[TableRead]]:
    """Reads by table uuid of runs that state the snapshot. `uuid_of`: the table that a name means now."""
    found: dict[str, list[TableRead]] = defaultdict(list)
    for run in runs:
        at = run.started_at or run.ended_at or run.at
        for table in run.tables or ():
            if table.read_snapshot_id is None or not table.table or at is None or table.metadata_table:
                continue
            uuid = uuid_of(TableName(table.catalog or "", table.namespace or "", table.table))
            if uuid is not None and table.role != "writes":
                reader = run.job_name or run.engine or NOT_STATED
                found[uuid].append(TableRead(reader, table.read_snapshot_id, at, table.ref))
    return found
