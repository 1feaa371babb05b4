"""Where the columns of a table come from, as the runs that wrote it report: the newest statement about each column that
names another table. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from limnograph.analysis.schema.field_trees import TreeField
from limnograph.domain.answers.schemas import ColumnSource, LineageRun
from limnograph.domain.facts.events import RunFact, RunTable
from limnograph.domain.ids import TableName
from limnograph.domain.time import to_millis
from limnograph.services.events.facets import Origin, origins
from limnograph.services.jobs.run_log import last_sign
from limnograph.services.table.writing_runs import origin_view, tables_of

ORIGINS_SHOWN = 20
READS_SHOWN = 20
MOST_STATEMENTS = 200
"""Different statements that are parsed; runs of one job mostly repeat each other's."""
_INDIRECT = "INDIRECT"


class ReportedLineage(NamedTuple):
    """The columns of a schema, and the runs that they name, newest first."""

    columns: list[ColumnSource]
    runs: list[LineageRun]

    @property
    def is_complete(self) -> bool:
        """Whether every column has an origin, so that older runs add nothing."""
        return all(column.origins for column in self.columns)


class _Statement(NamedTuple):
    """What one run says about one column. `elsewhere`: whether it names another table than the written one."""

    run: RunFact
    origins: list[Origin]
    elsewhere: bool


def reported_lineage(name: TableName, fields: Sequence[TreeField], runs: Iterable[RunFact]) -> ReportedLineage:
    """`fields`: top-level columns of the current schema. `runs`: successful ones, newest first."""
    wanted = {field.name for field in fields}
    sources: dict[str, _Statement] = {}
    own: dict[str, _Statement] = {}
    for column, statement in _statements(name, runs):
        if column not in wanted or column in sources:
            continue
        if statement.elsewhere:
            sources[column] = statement
            if len(sources) == len(wanted):
                break
        else:
            own.setdefault(column, statement)
    columns = [_column(field, sources.get(field.name), own.get(field.name)) for field in fields]
    named = {said.run.run_id: said.run for said in (*sources.values(), *own.values())}
    newest = sorted(named.values(), key=last_sign, reverse=True)
    return ReportedLineage(columns, [_run(run, name) for run in newest])


def _statements(name: TableName, runs: Iterable[RunFact]) -> Iterator[tuple[str, _Statement]]:
    parsed: dict[str, list[Origin]] = {}
    for run in runs:
        use = _written(run, name)
        if use is None or use.facets is None:
            continue
        if use.facets not in parsed:
            if len(parsed) == MOST_STATEMENTS:
                return
            parsed[use.facets] = list(origins(use.facets))
        known, of_column = tables_of(run), dict[str, list[Origin]]()
        for origin in parsed[use.facets]:
            of_column.setdefault(origin.column, []).append(origin)
        for column, found in of_column.items():
            yield column, _Statement(run, found, any(not _is_own(origin, name, known) for origin in found))


def _written(run: RunFact, name: TableName) -> RunTable | None:
    """What a run says about the table on main; a branch may never become part of it."""
    for table in run.tables or ():
        is_it = (table.catalog, table.namespace, table.table) == name
        if is_it and table.role == "writes" and table.ref is None and table.metadata_table is None:
            return table
    return None


def _is_own(origin: Origin, name: TableName, known: Mapping[str, str]) -> bool:
    return origin_view(origin, known).table == str(name)


def _column(field: TreeField, source: _Statement | None, own: _Statement | None) -> ColumnSource:
    found = source.origins if source else []
    known = tables_of(source.run) if source else {}
    return ColumnSource(
        field_id=field.id,
        column=field.name,
        origins=[origin_view(origin, known) for origin in found[:ORIGINS_SHOWN]],
        origins_total=len(found),
        masked=_masked(found),
        run_id=source.run.run_id if source else None,
        own_run_id=own.run.run_id if own else None,
    )


def _masked(found: Sequence[Origin]) -> bool | None:
    """Whether all values that a column takes over are masked. A column that only filters or sorts gives no value."""
    said = {origin.masked for origin in found if not _is_indirect(origin)}
    if False in said:
        return False
    return True if said == {True} else None


def _is_indirect(origin: Origin) -> bool:
    words = (origin.transformation or "").split(", ")
    return all(word.startswith(_INDIRECT) for word in words)


def _run(run: RunFact, name: TableName) -> LineageRun:
    use = _written(run, name)
    others = dict.fromkeys(
        ".".join(filter(None, (table.catalog, table.namespace, table.table)))
        for table in run.tables or ()
        if table.role == "reads" and (table.catalog, table.namespace, table.table) != name
    )
    return LineageRun(
        run_id=run.run_id,
        job=run.job_name,
        t=to_millis(last_sign(run)),
        snapshot_id=None if use is None or use.written_snapshot_id is None else str(use.written_snapshot_id),
        reads=list(others)[:READS_SHOWN],
    )
