"""Ended runs of every job on every table in the last two weeks, from metrics and from pushed runs.

Cost law: two queries of all jobs at the start, then one a call for what ended since; O(new runs + jobs). A run takes 17
bytes.
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from limnograph.analysis.findings.facts import Ints
from limnograph.analysis.findings.jobs import RunHistory
from limnograph.domain.facts.events import RunTable
from limnograph.domain.finding_limits import DAY, HOUR, MINUTE
from limnograph.domain.ids import TableName
from limnograph.domain.metrics.series import Matrix, RangeQuery
from limnograph.domain.time import MICROS_PER_SECOND, Micros, to_micros, to_millis
from limnograph.ports.clock import Clock
from limnograph.services.jobs.discovery import Jobs
from limnograph.services.jobs.run_log import RUNNING, names_of
from limnograph.services.sources import templates
from limnograph.services.sources.metrics import Metrics

KEPT = 14 * DAY
FINE, FINE_STEP_S = 2 * DAY, 120
COARSE_STEP_S = 900
STEP_S = 30
SAME_END = 2 * MICROS_PER_SECOND
"""Ends closer than this are one run: metrics round them."""
MOST_RUNS = 2_000
Reader = tuple[TableName, str]


class _EndedRun(NamedTuple):
    end: Micros
    seconds: float
    failed: bool


class _RunColumns:
    """Ended runs of one job on one table, in the order of their ends."""

    def __init__(self) -> None:
        self.ends, self.seconds, self.failed = array("q"), array("d"), array("b")

    def add(self, run: _EndedRun) -> bool:
        """Insert a run; False if it is known."""
        near = bisect_left(self.ends, run.end - SAME_END + 1)
        if near < len(self.ends) and self.ends[near] < run.end + SAME_END:
            return False
        self.ends.insert(near, run.end)
        self.seconds.insert(near, run.seconds)
        self.failed.insert(near, run.failed)
        return True

    def trim(self, since: Micros) -> None:
        """Remove older runs, and all but the newest MOST_RUNS."""
        first = max(bisect_left(self.ends, since), len(self.ends) - MOST_RUNS)
        if first > 0:
            del self.ends[:first], self.seconds[:first], self.failed[:first]


class JobHistory:
    """Used on the event loop only, by one task."""

    def __init__(self, jobs: Jobs, clock: Clock) -> None:
        self._jobs, self._clock = jobs, clock
        self._runs: dict[Reader, _RunColumns] = defaultdict(_RunColumns)
        self._reads: set[Reader] = set()
        self._heard: Ints | None = None
        self._read_to: Micros | None = None

    async def read(self) -> set[Reader]:
        """Read what ended since the last call; returns the jobs with new runs. Raises SourceError, and forgets nothing
        then.
        """
        now = self._clock.now()
        found: list[tuple[Reader, _EndedRun]] = []
        metrics = self._jobs.metrics
        if metrics is not None:
            for start, step_s in self._spans(now):
                matrix = await metrics.everywhere(_query(templates.runs_of_tables(step_s), start, now, step_s))
                measured = list(_runs_of(matrix))
                self._reads.update(reader for reader, _ in measured)
                found += measured
            await self._hear(metrics, now)
        found += self._pushed(now)
        self._read_to = now
        return self._keep(found, now)

    def of(self, reader: Reader) -> RunHistory:
        """The runs of one job on a table."""
        runs = self._runs.get(reader) or _RunColumns()
        return RunHistory(
            job=reader[1],
            ends=np.array(runs.ends, np.int64),
            seconds=np.array(runs.seconds, np.float64),
            failed=np.array(runs.failed, np.bool_),
            answered=self._read_to or Micros(0),
            heard=self._heard,
        )

    def does_read(self, reader: Reader) -> bool:
        """Whether the job reads the table. A job that only writes it is not missed: its table is stale then."""
        return reader in self._reads

    @property
    def readers(self) -> Mapping[Reader, object]:
        """All known jobs by table."""
        return self._runs

    def _spans(self, now: Micros) -> Iterator[tuple[Micros, int]]:
        if self._read_to is None:
            yield Micros(now - KEPT), COARSE_STEP_S
            yield Micros(now - FINE), FINE_STEP_S
        else:
            yield Micros(max(self._read_to - MINUTE, now - FINE)), STEP_S

    async def _hear(self, metrics: Metrics, now: Micros) -> None:
        """When a server scraped anything, as far back as runs are kept: a job that is silent for a week must not look
        like an outage. A server without targets of its own shows nothing.
        """
        if self._heard is None:
            since, step_s = Micros(now - KEPT), FINE_STEP_S
        else:
            since, step_s = Micros(int(self._heard[-1])), MINUTE // MICROS_PER_SECOND
        matrix = await metrics.everywhere(_query(templates.targets(), since, now, step_s))
        instants = sorted({to_micros(at) for series in matrix.series for at in series.times})
        if instants:
            known = self._heard if self._heard is not None else np.zeros(0, np.int64)
            heard = np.union1d(known, np.array(instants, np.int64))
            self._heard = heard[heard >= now - KEPT]

    def _pushed(self, now: Micros) -> Iterator[tuple[Reader, _EndedRun]]:
        since = Micros(now - FINE) if self._read_to is None else Micros(self._read_to - HOUR)
        for run in self._jobs.runs.between(since, now):
            if run.status == RUNNING or run.ended_at is None or not run.job_name:
                continue
            seconds = math.nan
            if run.started_at is not None and run.status == "ok":
                seconds = (run.ended_at - run.started_at) / MICROS_PER_SECOND
            reads = {
                (table.catalog, table.namespace or "", table.table) for table in run.tables or () if _is_read(table)
            }
            for name in names_of(run):
                if tuple(name) in reads:
                    self._reads.add((name, run.job_name))
                yield (name, run.job_name), _EndedRun(run.ended_at, seconds, run.status == "failed")

    def _keep(self, found: Iterable[tuple[Reader, _EndedRun]], now: Micros) -> set[Reader]:
        changed = set()
        for reader, run in found:
            if run.end > now + MINUTE or run.end < now - KEPT:
                continue
            if self._runs[reader].add(run):
                changed.add(reader)
        for reader, runs in list(self._runs.items()):
            runs.trim(Micros(now - KEPT))
            if not runs.ends:
                del self._runs[reader]
        return changed


def _query(promql: str, start: Micros, end: Micros, step_s: int) -> RangeQuery:
    return RangeQuery(promql, to_millis(start), to_millis(end), step_s)


def _runs_of(matrix: Matrix) -> Iterator[tuple[Reader, _EndedRun]]:
    """Runs in the result of `templates.runs_of_tables`: every new time of a finish is a run."""
    lasted = {
        _reader(series.labels): dict(zip(series.times, series.values, strict=True))
        for series in matrix.series
        if series.labels.get(templates.STAT) == "duration"
    }
    for series in matrix.series:
        if series.labels.get(templates.STAT) != "finished":
            continue
        reader, before = _reader(series.labels), None
        durations = lasted.get(reader, {})
        for at, finished in zip(series.times, series.values, strict=True):
            if finished == before or not math.isfinite(finished):
                continue
            before = finished
            seconds = durations.get(at, math.nan)
            yield reader, _EndedRun(Micros(round(finished * MICROS_PER_SECOND)), seconds, failed=False)


def _is_read(table: RunTable) -> bool:
    return table.role == "reads" and table.metadata_table is None


def _reader(labels: Mapping[str, str]) -> Reader:
    name = TableName.from_plain(labels.get("catalog", ""), labels.get("table_namespace", ""), labels.get("table", ""))
    return name, labels.get("job_name", "")
