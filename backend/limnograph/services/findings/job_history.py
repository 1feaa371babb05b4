"""Ended runs of every job on every table in the last two weeks, from metrics and from pushed runs.

Cost law: two queries of all jobs at the start, then one a call for what ended since; O(new runs).
"""

from __future__ import annotations

import math
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


class JobHistory:
    """Used on the event loop only, by one task."""

    def __init__(self, jobs: Jobs, clock: Clock) -> None:
        self._jobs, self._clock = jobs, clock
        self._runs: dict[Reader, dict[int, _EndedRun]] = defaultdict(dict)
        self._reads: set[Reader] = set()
        self._heard: Ints | None = None
        self._read_to: Micros | None = None

    async def read(self) -> set[Reader]:
        """Read what ended since the last call; returns the jobs with new runs. Raises SourceError, and forgets nothing
        then.
        """
        now = self._clock.now()
        found: list[tuple[Reader, _EndedRun]] = []
        if self._jobs.metrics is not None:
            for start, step_s in self._spans(now):
                matrix = await self._ask(templates.runs_of_tables(step_s), start, now, step_s)
                measured = list(_runs_of(matrix))
                self._reads.update(reader for reader, _ in measured)
                found += measured
            await self._hear(now)
        found += self._pushed(now)
        self._read_to = now
        return self._keep(found, now)

    def of(self, reader: Reader) -> RunHistory:
        """The runs of one job on a table."""
        runs = sorted(self._runs.get(reader, {}).values())
        return RunHistory(
            job=reader[1],
            ends=np.array([run.end for run in runs], np.int64),
            seconds=np.array([run.seconds for run in runs], np.float64),
            failed=np.array([run.failed for run in runs], np.bool_),
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

    async def _ask(self, promql: str, start: Micros, end: Micros, step_s: int) -> Matrix:
        metrics = self._jobs.metrics
        if metrics is None:
            return Matrix([])
        return await metrics.everywhere(RangeQuery(promql, to_millis(start), to_millis(end), step_s))

    async def _hear(self, now: Micros) -> None:
        """When a server scraped anything. A server without targets of its own shows nothing."""
        step_s = MINUTE // MICROS_PER_SECOND
        since = Micros(now - FINE) if self._heard is None else Micros(int(self._heard[-1]))
        matrix = await self._ask(templates.targets(), since, now, step_s)
        instants = sorted({to_micros(at) for series in matrix.series for at in series.times})
        if instants:
            known = self._heard if self._heard is not None else np.zeros(0, np.int64)
            heard = np.union1d(known, np.array(instants, np.int64))
            self._heard = heard[heard >= now - FINE]

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
            known, slot = self._runs[reader], run.end // SAME_END
            if any(near in known and abs(known[near].end - run.end) < SAME_END for near in (slot - 1, slot, slot + 1)):
                continue
            known[slot] = run
            changed.add(reader)
        for reader, known in list(self._runs.items()):
            old = sorted(known)[: max(0, len(known) - MOST_RUNS)]
            for slot in {*old, *(slot for slot, run in known.items() if run.end < now - KEPT)}:
                del known[slot]
            if not known:
                del self._runs[reader]
                changed.add(reader)
        return changed


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
