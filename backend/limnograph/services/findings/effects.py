"""Measures what the cause of an open finding did to the jobs that read its table, as the effect ledger does."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import NamedTuple

from limnograph.analysis.effect import measure_effect
from limnograph.analysis.effect.measure import LEAST_AFTER
from limnograph.domain.answers.findings import FindingVerdict
from limnograph.domain.answers.tables import LinkedJob
from limnograph.domain.errors import LimnographError
from limnograph.domain.facts.findings import FindingEffectFact, FindingFact
from limnograph.domain.finding_limits import DAY, MINUTE
from limnograph.domain.ids import TableName
from limnograph.domain.time import EPOCH, MS_PER_SECOND, Micros, Millis, to_micros
from limnograph.ports.clock import Clock
from limnograph.services.effects.cases import EffectCases, JobCase, Subject
from limnograph.services.findings.evaluator import FindingsEvaluator

SCHEMA_CODES = frozenset({"schema_breaking", "schema_changed"})
MEASURED = frozenset({"file_burst"}) | SCHEMA_CODES
"""Codes whose cause is one event at a known instant, which divides a job's runs into those before and after it."""
SOON, LATER = MINUTE // 2, 10 * MINUTE
"""Time between two looks while an open finding has an open verdict, and otherwise, microseconds."""
LOOKS = 4
MOST_JOBS = 6
_VERDICTS: dict[str, FindingVerdict] = {"worse": "slower", "helped": "faster", "none": "none"}
_log = logging.getLogger("limnograph.findings")


class _Look(NamedTuple):
    due: Micros
    runs: tuple[int, ...]
    effects: list[FindingEffectFact]


class FindingEffects:
    """Used on the event loop only, by one task."""

    def __init__(self, evaluator: FindingsEvaluator, cases: EffectCases, clock: Clock) -> None:
        self._evaluator, self._cases, self._clock = evaluator, cases, clock
        self._looks: dict[str, _Look] = {}

    async def measure_due(self) -> int:
        """Look at the findings that are due, open and severe ones first; returns the number of new measurements."""
        now = self._clock.now()
        found = [fact for fact in self._evaluator.board.facts if _is_measured(fact, now)]
        self._looks = {fact.finding_id: look for fact in found if (look := self._looks.get(fact.finding_id))}
        due = [fact for fact in found if self._is_due(fact, now)][:LOOKS]
        measured: dict[str, Sequence[FindingEffectFact]] = {}
        for fact in due:
            try:
                effects = await self._effects_of(fact, now)
            except LimnographError as error:
                _log.info("effect of finding %s: %s", fact.finding_id, error)
                self._looks[fact.finding_id] = _Look(Micros(now + MINUTE), (), [])
                continue
            if effects is not None:
                measured[fact.finding_id] = effects
        if measured:
            self._evaluator.measured(measured)
        return len(measured)

    def _is_due(self, fact: FindingFact, now: Micros) -> bool:
        look = self._looks.get(fact.finding_id)
        return look is None or look.due <= now

    async def _effects_of(self, fact: FindingFact, now: Micros) -> list[FindingEffectFact] | None:
        """Effects on each reader of the table; None if no run ended since the last look. Raises SourceError."""
        name = TableName(fact.catalog or "", fact.namespace or "", fact.table or "")
        since = Micros(fact.opened_at or EPOCH)
        commit = next(iter(fact.cause_snapshot_ids or ()), None)
        subject = Subject(name, commit, None, since, is_schema_change=fact.code in SCHEMA_CODES)
        until = now if fact.closed_at is None else fact.closed_at
        linked = await self._cases.linked(name, since, now)
        readers = [job for job in linked if job.role == "reads"][:MOST_JOBS]
        cases = await asyncio.gather(*(self._cases.of_job(subject, job, linked, until) for job in readers))
        runs = tuple(case.runs_after for case in cases)
        known = self._looks.get(fact.finding_id)
        if known is not None and known.effects and known.runs == runs:
            self._looks[fact.finding_id] = known._replace(due=_next(fact, now, known.effects))
            return None
        effects = await asyncio.to_thread(_measured, readers, cases, since)
        self._looks[fact.finding_id] = _Look(_next(fact, now, effects), runs, effects)
        return effects


def _is_measured(fact: FindingFact, now: Micros) -> bool:
    """Open ones, and those that closed within a day before anything was measured."""
    if fact.code not in MEASURED or (fact.code not in SCHEMA_CODES and not fact.cause_snapshot_ids):
        return False
    return fact.closed_at is None or (not fact.effects and fact.closed_at >= now - DAY)


def _next(fact: FindingFact, now: Micros, effects: Sequence[FindingEffectFact]) -> Micros:
    """The next look. Of a closed finding only late runs can change the effect."""
    is_open = not effects or any(effect.verdict in {"no_data_yet", "unknown"} for effect in effects)
    return Micros(now + (SOON if is_open and fact.closed_at is None else LATER))


def _measured(jobs: Sequence[LinkedJob], cases: Sequence[JobCase], since: Micros) -> list[FindingEffectFact]:
    return [_effect(job, case, since) for job, case in zip(jobs, cases, strict=True) if case.case.runs.times]


def _effect(job: LinkedJob, found: JobCase, since: Micros) -> FindingEffectFact:
    """The effect on one job. Takes 20 to 130 ms of CPU."""
    runs = zip(found.case.runs.times, found.case.runs.duration_seconds, strict=True)
    last = Millis(max(at + round((took or 0) * MS_PER_SECOND) for at, took in runs))
    if found.runs_after < LEAST_AFTER:
        return FindingEffectFact(
            job_name=job.name,
            verdict="no_data_yet",
            because=f"{found.runs_after} of {LEAST_AFTER} runs",
            runs=found.runs_after,
            since=since,
            last_run_at=to_micros(last),
        )
    effect = measure_effect(found.case)
    numbers = effect.numbers
    return FindingEffectFact(
        job_name=job.name,
        verdict=_VERDICTS.get(effect.verdict, "unknown"),
        because=effect.because,
        ratio=numbers.ratio,
        ratio_low=numbers.ratio_low,
        ratio_high=numbers.ratio_high,
        seconds=numbers.seconds,
        runs=found.runs_after,
        since=since,
        last_run_at=to_micros(last),
    )
