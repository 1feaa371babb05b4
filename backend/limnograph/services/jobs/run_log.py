"""Transitions of a job run put together: what is told twice, late or out of order makes the same run.

Pure. Instants are epoch microseconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import msgspec

from limnograph.domain.events import RunFact, RunTable
from limnograph.domain.ids import TableName
from limnograph.domain.time import MICROS_PER_SECOND

RUNNING = "running"
Status = str
_Use = tuple[str | None, str | None, str | None, str | None]


class JobRun(NamedTuple):
    """One run of a job on one table. Instants epoch microseconds; `ended_at` None while it runs.

    `measured`: nobody told of it, metrics show it.
    """

    job: str
    role: str
    started_at: int
    ended_at: int | None
    status: str
    application_id: str | None = None
    read_snapshot_id: int | None = None
    measured: bool = False

    @property
    def seconds(self) -> float | None:
        """How long it took; None while it runs."""
        return None if self.ended_at is None else (self.ended_at - self.started_at) / MICROS_PER_SECOND


def together(transitions: Mapping[Status, RunFact]) -> RunFact:
    """One fact of all transitions of a run (at least one): the newest end counts, what it does not say others may."""
    ends = [fact for status, fact in transitions.items() if status != RUNNING]
    told = sorted(ends, key=lambda fact: (fact.at or 0, fact.status), reverse=True)
    told += [fact for status, fact in transitions.items() if status == RUNNING]
    first = told[0]
    found = {
        name: next((value for fact in told if (value := getattr(fact, name)) is not None), None)
        for name in RunFact.__struct_fields__
        if name not in {"run_id", "status", "tables", "ended_at"}
    }
    return msgspec.structs.replace(first, **found, tables=_tables(told))


def last_sign(run: RunFact) -> int:
    """Newest instant that a run is known to have been at."""
    return max(at for at in (run.ended_at, run.at, run.started_at, run.observed_at, 0) if at is not None)


def names_of(run: RunFact) -> Iterable[TableName]:
    """Tables that a run touches, as far as their names are known."""
    for table in run.tables or ():
        if table.catalog is not None and table.table is not None:
            yield TableName(table.catalog, table.namespace or "", table.table)


def on_table(run: RunFact, name: TableName, start: int, end: int) -> list[JobRun]:
    """The run as it was on a table: once a role, when it overlaps `[start, end)`. None without a known start."""
    if run.started_at is None or run.started_at >= end or (run.ended_at is not None and run.ended_at < start):
        return []
    return [
        JobRun(
            run.job_name or "",
            table.role or "",
            run.started_at,
            run.ended_at,
            run.status,
            run.application_id,
            table.read_snapshot_id,
        )
        for table in run.tables or ()
        if (table.catalog, table.namespace, table.table) == name
    ]


def _tables(told: Iterable[RunFact]) -> list[RunTable] | None:
    """All tables that any transition names, each role of each once; the newest word on its snapshot counts."""
    found: dict[_Use, RunTable] = {}
    for fact in told:
        for table in fact.tables or ():
            use = (table.catalog, table.namespace, table.table, table.role)
            known = found.setdefault(use, table)
            if known.read_snapshot_id is None and table.read_snapshot_id is not None:
                found[use] = msgspec.structs.replace(known, read_snapshot_id=table.read_snapshot_id)
    return list(found.values()) or None
