"""What a commit did to the jobs of its table, for its page: measured as in the effect ledger, with every run so far."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from limnograph.analysis.alignment import median
from limnograph.analysis.effect import measure_effect
from limnograph.domain.answers.commits import RunEffect
from limnograph.domain.answers.tables import LinkedJob
from limnograph.domain.errors import SourceError
from limnograph.domain.facts.meta_tables import SnapshotFact
from limnograph.domain.ids import TableName
from limnograph.domain.secrecy import placeless
from limnograph.domain.time import Millis
from limnograph.ports.clock import Clock
from limnograph.services.effects.cases import EffectCases, JobCase, Subject
from limnograph.services.effects.operations import REPLACE
from limnograph.services.sources.metrics import page_budget

RUNS_KEPT = 30
"""Nearest runs on either side whose medians are shown."""
AT_ONCE = 4
"""Jobs that one page collects concurrently. Cold reads are limited and shared with other pages."""
MOST_JOBS = 12
"""Jobs of one page, those with the most runs first: each is measured in 20 to 130 ms."""


class CommitEffects:
    """Immutable after construction."""

    def __init__(self, cases: EffectCases, clock: Clock) -> None:
        self._cases, self._clock = cases, clock

    async def of_commit(self, name: TableName, row: SnapshotFact) -> list[RunEffect]:
        """One per job with runs near the commit. A source that does not respond is the reason for `unknown`."""
        if row.committed_at is None:
            return []
        started = None
        if row.operation == REPLACE:
            started = await self._cases.started_at(name, row.snapshot_id, row.committed_at)
        subject = Subject(name, row.snapshot_id, started, row.committed_at)
        now = self._clock.now()
        free = asyncio.Semaphore(AT_ONCE)

        async def collected(job: LinkedJob) -> JobCase:
            async with free:
                return await self._cases.of_job(subject, job, linked, now)

        with page_budget():
            linked = await self._cases.linked(name, row.committed_at, now)
            chosen = linked[:MOST_JOBS]
            found = await asyncio.gather(*map(collected, chosen), return_exceptions=True)
        effects = []
        for job, case in zip(chosen, found, strict=True):
            if isinstance(case, SourceError):
                effects.append(_unread(job, case))
            elif isinstance(case, BaseException):
                raise case
            elif case.case.runs.times:
                effects.append(await asyncio.to_thread(effect_of, job, case))
        return effects


def effect_of(job: LinkedJob, found: JobCase) -> RunEffect:
    """The effect on one job. Takes 20 to 130 ms of CPU."""
    effect, case = measure_effect(found.case), found.case
    early, late = _durations(
        case.runs.times, case.runs.duration_seconds, case.operation.started_at, case.operation.committed_at
    )
    numbers = effect.numbers
    return RunEffect(
        job=job.name,
        role=job.role,
        verdict=effect.verdict,
        because="; ".join([effect.because, *_missing(found)]),
        runs_before=effect.runs_before,
        runs_after=effect.runs_after,
        median_before_s=median(early[-RUNS_KEPT:]),
        median_after_s=median(late[:RUNS_KEPT]),
        ratio=numbers.ratio,
        ratio_low=numbers.ratio_low,
        ratio_high=numbers.ratio_high,
        change_s=numbers.seconds,
        change_low_s=numbers.seconds_low,
        change_high_s=numbers.seconds_high,
        more_runs=effect.more_runs,
        controls=len(case.controls or ()),
        last_run=max([*case.runs.times, *found.running], default=None),
    )


def _missing(found: JobCase) -> list[str]:
    return [] if found.problem is None else [f"other jobs could not be read: {found.problem}"]


def _durations(
    times: Sequence[Millis], seconds: Sequence[float | None], started: Millis, committed: Millis
) -> tuple[list[float], list[float]]:
    """Durations of the runs before and after, in order of their starts."""
    ended = sorted((at, took) for at, took in zip(times, seconds, strict=True) if took is not None)
    return [took for at, took in ended if at < started], [took for at, took in ended if at >= committed]


def _unread(job: LinkedJob, error: SourceError) -> RunEffect:
    return RunEffect(
        job=job.name,
        role=job.role,
        verdict="unknown",
        because=f"the job's runs could not be read: {placeless(error.detail)}",
        runs_before=0,
        runs_after=0,
        median_before_s=None,
        median_after_s=None,
        ratio=None,
        ratio_low=None,
        ratio_high=None,
        change_s=None,
        change_low_s=None,
        change_high_s=None,
        more_runs=None,
        controls=0,
        last_run=None,
    )
