"""Findings of jobs: silent, failing and slower ones, of every table."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from limnograph.analysis.effect import measure_effect
from limnograph.analysis.findings.episodes import Episode
from limnograph.analysis.findings.jobs import RunHistory, due, job_episodes, slow_runs
from limnograph.analysis.findings.level import NEVER
from limnograph.analysis.findings.slowdown import slow_since
from limnograph.analysis.findings.slower_jobs import began_at, is_back, slower_episode
from limnograph.domain.errors import LimnographError
from limnograph.domain.finding_limits import MINUTE, FindingLimits
from limnograph.domain.ids import TableName
from limnograph.domain.objectives import Objectives
from limnograph.domain.time import Micros
from limnograph.ports.clock import Clock
from limnograph.services.effects.cases import EffectCases, Subject
from limnograph.services.findings.evaluator import FindingsEvaluator
from limnograph.services.findings.job_history import JobHistory, Reader
from limnograph.services.jobs.directory import JobDirectory
from limnograph.services.lake.store import HotStore

LOOKS = 4
"""Slowdowns that one call measures, each 20 to 130 ms of CPU."""
RESTED = 10 * MINUTE
"""After a measurement, the next one of the same job follows no sooner unless it has new runs."""
_log = logging.getLogger("limnograph.findings")


class _SlowdownCheck(NamedTuple):
    """A slowdown as last measured. `runs`: the number of runs then; `episode`: None if the estimator refused it."""

    at: Micros
    runs: int
    began: Micros
    episode: Episode | None


class _JobLook(NamedTuple):
    """What the runs of a job show, until the next one ends or something is `due`. `onset`: of a slowdown, if any."""

    runs: RunHistory
    episodes: Sequence[Episode]
    onset: int | None
    due: Micros


class JobFindings:
    """Used on the event loop only, by one task."""

    def __init__(
        self,
        store: HotStore,
        history: JobHistory,
        cases: EffectCases,
        clock: Clock,
        *,
        limits: FindingLimits = FindingLimits(),  # noqa: B008  # immutable
        objectives: Objectives = Objectives(),  # noqa: B008  # immutable
        directory: JobDirectory | None = None,
    ) -> None:
        self._objectives, self._directory = objectives, directory
        self._store, self._history, self._cases, self._clock, self._limits = store, history, cases, clock, limits
        self._looks: dict[Reader, _JobLook] = {}
        self._slow: dict[Reader, _SlowdownCheck] = {}
        self._readers: Mapping[TableName, int] = {}

    async def observe(self, evaluator: FindingsEvaluator) -> None:
        """Read new runs and hand the episodes of all jobs to the evaluator. If a source does not respond, nothing
        changes. O(runs) of each job that had a run or is due, and at most LOOKS measurements.
        """
        try:
            changed = await self._history.read()
        except LimnographError as error:
            _log.info("job runs: %s", error)
            return
        if self._directory is not None:
            self._directory.take((self._store.resolved(name), job) for name, job in self._history.readers)
        self._readers = Counter(
            self._store.resolved(reader[0]) for reader in self._history.readers if self._history.does_read(reader)
        )
        found: dict[str, list[Episode]] = defaultdict(list)
        names = self._store.reading.lake.names
        measurements = LOOKS
        await self._look(changed)
        for reader, look in self._looks.items():
            uuid = names.get(self._store.resolved(reader[0]))
            if uuid is None:
                continue
            found[uuid] += look.episodes
            if look.onset is None:
                self._slow.pop(reader, None)
                continue
            if measurements and self._is_due(reader, look.runs):
                measurements -= 1
                await self._measure(reader, look.runs, look.onset)
            measured = self._slow.get(reader)
            if measured is not None and measured.episode is not None:
                found[uuid].append(measured.episode)
        evaluator.observed(found)

    def readers_of(self, name: TableName) -> int | None:
        """The number of jobs that read a table; None: no job of it is known. O(1)."""
        return self._readers.get(name)

    async def _look(self, changed: set[Reader]) -> None:
        """Look at the jobs that had a run or are due, and give way to requests after each of them."""
        now, readers = self._clock.now(), self._history.readers
        measured = "job_slower" not in self._limits.disabled
        self._looks = {reader: look for reader, look in self._looks.items() if reader in readers}
        for reader in readers:
            known = self._looks.get(reader)
            if known is not None and reader not in changed and now < known.due:
                continue
            runs, reads = self._history.of(reader), self._history.does_read(reader)
            promised = self._objectives.duration(self._store.resolved(reader[0]), reader[1])
            slow, turns = ([], NEVER) if promised is None else slow_runs(runs, promised)
            self._looks[reader] = _JobLook(
                runs,
                [*job_episodes(runs, self._limits, reads=reads), *slow],
                slow_since(np.where(runs.failed, np.nan, runs.seconds)) if reads and measured else None,
                min(turns, due(runs, self._limits) if reads else NEVER),
            )
            await asyncio.sleep(0)

    def _is_due(self, reader: Reader, runs: RunHistory) -> bool:
        known = self._slow.get(reader)
        return known is None or (known.runs != len(runs.ends) and self._clock.now() - known.at >= MINUTE)

    async def _measure(self, reader: Reader, runs: RunHistory, onset: int) -> None:
        name, job = self._store.resolved(reader[0]), reader[1]
        now = self._clock.now()
        known = self._slow.get(reader)
        began = began_at(runs, onset)
        if known is not None and known.episode is not None and abs(known.began - began) < RESTED:
            began = known.began  # the onset may move by a run, its finding does not
        try:
            linked = await self._cases.linked(name, began, now)
            mine = next((each for each in linked if each.name == job and each.role == "reads"), None)
            if mine is None:
                self._slow.pop(reader, None)
                return
            case = await self._cases.of_job(Subject(name, None, None, began), mine, linked, now)
            effect = await asyncio.to_thread(measure_effect, case.case)
        except LimnographError as error:
            _log.info("slowdown of %s: %s", job, error)
            return
        episode = slower_episode(runs, onset, began, effect, now=self._clock.now(), limits=self._limits)
        if episode is None and known is not None and known.episode is not None and not is_back(effect, self._limits):
            episode = known.episode  # between the bounds it stays as it was
        self._slow[reader] = _SlowdownCheck(now, len(runs.ends), began, episode)
