"""Collects what a change of a job is judged by: its runs, the tables that it reads, and the runs of other jobs."""

from __future__ import annotations

from collections.abc import Iterable

from limnograph.domain.ids import TableName
from limnograph.domain.time import Millis, to_micros
from limnograph.services.jobs import series as job_series
from limnograph.services.jobs.controls import LEAST_CONTROL_RUNS, Controls, controls, told_of
from limnograph.services.jobs.discovery import Jobs
from limnograph.services.jobs.run_log import RunRecord
from limnograph.services.lake.store import HotStore

MOST_TABLES = 50


class JobCollector:
    """Reads pushed runs and metrics. Instants are epoch milliseconds. Immutable after construction."""

    def __init__(self, store: HotStore, jobs: Jobs) -> None:
        self._store, self._jobs = store, jobs

    async def runs(self, name: TableName, job: str, start: Millis, end: Millis) -> list[RunRecord]:
        """Pushed or observed runs on the table, else runs from the configured query. Raises SourceError."""
        found = await self._jobs.runs_between(name, job, start, end)
        return found or await job_series.runs(self._jobs, job, start, end)

    def tables_read(self, name: TableName, job: str, start: Millis, end: Millis) -> list[TableName]:
        """The table itself first, then other tables that the job reads according to settings or runs."""
        listed = {table.name for table in self._store.reading.lake.listed if table.name is not None}
        read = {each for each in listed if self._jobs.reads(job, each)}
        for run in self._jobs.runs.between(to_micros(start), to_micros(end)):
            if run.job_name == job:
                read.update(
                    TableName(table.catalog or "", table.namespace or "", table.table or "")
                    for table in run.tables or ()
                    if table.role == "reads"
                )
        return [name, *sorted(each for each in read & listed if each != name)][:MOST_TABLES]

    async def controls(
        self,
        job: str,
        linked: Iterable[str],
        read: Iterable[TableName],
        start: Millis,
        end: Millis,
        *,
        least: int = LEAST_CONTROL_RUNS,
    ) -> Controls:
        """Jobs with at least `least` runs that touch none of the tables. `linked`: jobs known to touch them."""
        names = frozenset(read)
        pushed = told_of(self._jobs.runs.between(to_micros(start), to_micros(end)), job, names)
        pushed.touching.update(linked)
        return await controls(pushed, self._jobs.metrics, names, start, end, least=least)


def of_job(runs: Iterable[RunRecord], job: str) -> list[RunRecord]:
    """The job's runs as a reader; all of its runs if none is known to read."""
    mine = [run for run in runs if run.job == job]
    return [run for run in mine if run.role == "reads"] or mine
