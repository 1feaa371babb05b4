"""The job that writes a table, from its latest runs."""

from __future__ import annotations

from limnograph.domain.facts.events import RunFact
from limnograph.domain.finding_limits import DAY
from limnograph.domain.ids import TableName
from limnograph.domain.time import EPOCH, Micros
from limnograph.ports.clock import Clock
from limnograph.services.jobs.runs import RunRegistry


def writing_job(runs: RunRegistry, name: TableName, writer: str, clock: Clock) -> str | None:
    """The job of the latest run of two days that wrote the table; one with the name of the writer comes first. None: no
    run reports that. O(runs of two days).
    """
    now = clock.now()
    found = [run for run in runs.between(Micros(now - 2 * DAY), Micros(now + 1)) if run.job_name and _wrote(run, name)]
    latest = max(found, key=lambda run: (run.job_name == writer, run.at or EPOCH), default=None)
    return latest.job_name if latest else None


def _wrote(run: RunFact, name: TableName) -> bool:
    tables = run.tables or ()
    return any(each.role == "writes" and (each.catalog, each.namespace, each.table) == name for each in tables)
