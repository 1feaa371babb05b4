"""Combines transitions of a job run: repeated, late or out-of-order ones produce the same run. Pure. Instants are epoch
microseconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import msgspec

from limnograph.domain.facts.events import RunFact, RunTable
from limnograph.domain.ids import TableName
from limnograph.domain.time import EPOCH, MICROS_PER_SECOND, Micros

RUNNING, SUCCEEDED = "running", "ok"
Status = str
SUMMED = "openlineage"
"""Source of runs whose `read_bytes` is a sum over the inputs of one event."""
_FILLED = ("read_snapshot_id", "written_snapshot_id", "facets", "location")
_Use = tuple[str | None, ...]


class RunRecord(NamedTuple):
    """One run of a job on one table; instants in epoch microseconds.

    `started_at`: None if only its end was reported
    `ended_at`: None while it runs; one of the two is known
    `measured`: it was not reported, only seen in metrics
    `read_bytes`: bytes that the run read from all its inputs, not only from this table; None if unknown
    """

    job: str
    role: str
    started_at: Micros | None
    ended_at: Micros | None
    status: str
    application_id: str | None = None
    read_snapshot_id: int | None = None
    measured: bool = False
    read_bytes: int | None = None

    @property
    def seconds(self) -> float | None:
        """Its duration; None while it runs or if its start is unknown."""
        if self.ended_at is None or self.started_at is None:
            return None
        return (self.ended_at - self.started_at) / MICROS_PER_SECOND

    @property
    def began(self) -> Micros:
        """Its start, else its end: the first instant at which it is known to have run."""
        return self.started_at if self.started_at is not None else self.ended_at or EPOCH


def together(transitions: Mapping[Status, RunFact]) -> RunFact:
    """All transitions of a run (at least one) as one fact: the newest end takes precedence, others fill its gaps."""
    ends = [fact for status, fact in transitions.items() if status != RUNNING]
    told = sorted(ends, key=lambda fact: (fact.at or 0, fact.status), reverse=True)
    told += [fact for status, fact in transitions.items() if status == RUNNING]
    first = told[0]
    found = {
        name: next((value for fact in told if (value := getattr(fact, name)) is not None), None)
        for name in RunFact.__struct_fields__
        if name not in {"run_id", "status", "tables", "ended_at"}
    }
    tables = _tables(told)
    if found["read_bytes"] is not None and not _summed_all(told, tables):
        found["read_bytes"] = None
    return msgspec.structs.replace(first, **found, tables=tables)


def last_sign(run: RunFact) -> Micros:
    """The newest instant at which a run is known to have existed."""
    return max(at for at in (run.ended_at, run.at, run.started_at, run.observed_at, EPOCH) if at is not None)


def began(run: RunFact) -> Micros:
    """Its start, else the first instant at which it is known to have run."""
    return next((at for at in (run.started_at, run.ended_at, run.at) if at is not None), EPOCH)


def written_by(run: RunFact) -> Iterator[tuple[TableName, int]]:
    """Commits that a run reported, by table."""
    for table in run.tables or ():
        if table.written_snapshot_id is not None and table.catalog is not None and table.table is not None:
            yield TableName(table.catalog, table.namespace or "", table.table), table.written_snapshot_id


def names_of(run: RunFact) -> Iterable[TableName]:
    """Tables that a run touches, as far as their names are known."""
    for table in run.tables or ():
        if table.catalog is not None and table.table is not None:
            yield TableName(table.catalog, table.namespace or "", table.table)


def on_table(run: RunFact, name: TableName, start: Micros, end: Micros) -> list[RunRecord]:
    """A run's records on a table: one per role, if it overlaps `[start, end)`. A run without a known start counts at
    its end.
    """
    ended = run.ended_at if run.started_at is not None else run.ended_at or run.at
    began = run.started_at if run.started_at is not None else ended
    if began is None or began >= end or (ended is not None and ended < start):
        return []
    uses = [table for table in run.tables or () if (table.catalog, table.namespace, table.table) == name]
    # Uses of main's rows take precedence over metadata tables and other refs.
    uses.sort(key=lambda table: (table.metadata_table is not None, table.ref is not None))
    roles: dict[str, RunTable] = {}
    for table in uses:
        roles.setdefault(table.role or "", table)
    return [
        RunRecord(
            run.job_name or "",
            role,
            run.started_at,
            ended,
            run.status,
            run.application_id,
            table.read_snapshot_id if table.metadata_table is None and table.ref is None else None,
            read_bytes=run.read_bytes,
        )
        for role, table in roles.items()
    ]


def reads_rows(run: RunFact, name: TableName) -> bool:
    """Whether a run reads the rows of a table, not only a metadata table of it."""
    return any(
        table.role == "reads" and table.metadata_table is None
        for table in run.tables or ()
        if (table.catalog, table.namespace, table.table) == name
    )


def wrote(run: RunFact, name: TableName, snapshot_id: int) -> RunTable | None:
    """The table entry of a run that wrote a commit; None if there is none."""
    for table in run.tables or ():
        if table.written_snapshot_id == snapshot_id and (table.catalog, table.namespace, table.table) == name:
            return table
    return None


def wrote_to(name: TableName, runs: Iterable[RunFact]) -> list[RunFact]:
    """The successful runs among these that wrote to a table, the latest end first."""
    found = [
        run
        for run in runs
        if run.status == SUCCEEDED
        and any(
            table.role == "writes" and (table.catalog, table.namespace, table.table) == name
            for table in run.tables or ()
        )
    ]
    return sorted(found, key=last_sign, reverse=True)


def only_written(tables: Iterable[RunTable]) -> int | None:
    """The snapshot that was written; None for none or several."""
    found = {table.written_snapshot_id for table in tables} - {None}
    return found.pop() if len(found) == 1 else None


def _summed_all(told: Iterable[RunFact], tables: Iterable[RunTable] | None) -> bool:
    """Whether the newest `read_bytes` covers all inputs. A sum does not cover those that only other events list."""
    counted = next(fact for fact in told if fact.read_bytes is not None)
    return counted.source != SUMMED or _inputs(tables) == _inputs(counted.tables)


def _inputs(tables: Iterable[RunTable] | None) -> set[_Use]:
    return {_use(table) for table in tables or () if table.role == "reads"}


def _use(table: RunTable) -> _Use:
    return table.catalog, table.namespace, table.table, table.role, table.ref, table.metadata_table


def _tables(told: Iterable[RunFact]) -> list[RunTable] | None:
    """All tables that any transition names, once per role; the newest transition decides their snapshots."""
    found: dict[_Use, RunTable] = {}
    for fact in told:
        for table in fact.tables or ():
            use = _use(table)
            known = found.setdefault(use, table)
            more = {name: value for name in _FILLED if (value := getattr(table, name)) and not getattr(known, name)}
            if more:
                found[use] = msgspec.structs.replace(known, **more)
    return list(found.values()) or None
