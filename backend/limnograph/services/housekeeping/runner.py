"""Housekeeping of the meta tables: roll-ups, retention, compaction, expiry, orphans; one step at a time.

The clock and the meta tables themselves decide what is due, so the schedule survives every restart and also runs while
no table changes. A failed step is recorded and retried later; it blocks no other step.
"""

from __future__ import annotations

import logging
import time
import uuid
from collections import Counter

import msgspec

from limnograph.domain.facts.housekeeping import MaintenanceFact
from limnograph.domain.failpoints import FailpointReached
from limnograph.domain.metrics import pipeline as metrics
from limnograph.domain.secrecy import clean
from limnograph.domain.time import MICROS_PER_SECOND, Micros
from limnograph.ports.clock import Clock
from limnograph.ports.meta_upkeep import MetaTableState, MetaUpkeep
from limnograph.ports.meter import Meter, NullMeter
from limnograph.services.housekeeping import schedule
from limnograph.services.housekeeping.journal import Journal, StepKey
from limnograph.services.housekeeping.step import HousekeepingStep, StepOutcome
from limnograph.services.housekeeping.steps import Steps
from limnograph.services.pipeline.metering import tell_step

CHECK_SECONDS = 10
"""Seconds until the next check after one that found nothing due."""
_log = logging.getLogger("limnograph.housekeeping")


class StepReport(msgspec.Struct, frozen=True):
    """A step that was run. `did`: it changed something; `problem`: why it failed; `note`: what came of it."""

    kind: str
    table: str
    subject: str | None
    did: bool
    seconds: float
    problem: str | None = None
    note: str | None = None


class Housekeeping:
    """Maintains one store's meta tables. `place`: catalog and namespace in the rows of `maintenance`."""

    def __init__(
        self,
        upkeep: MetaUpkeep,
        journal: Journal,
        steps: Steps,
        clock: Clock,
        place: tuple[str, str],
        *,
        meter: Meter | None = None,
    ) -> None:
        self._upkeep, self._journal, self._steps = upkeep, journal, steps
        self._clock, self._place, self._meter = clock, place, meter or NullMeter()
        self._failures: Counter[StepKey] = Counter()
        self._idle_until = 0

    def run_due(self, now: Micros | None = None) -> StepReport | None:
        """Run the first due step; None if none is due. A failed step is reported too. Raises SourceError if the meta
        tables cannot be read.
        """
        now = self._clock.now() if now is None else now
        if now < self._idle_until:
            return None
        self._journal.refresh(now)
        for step in self._steps.due(now):
            if not self._backing_off(step.key, now):
                return self._run(step, now)
        self._idle_until = now + CHECK_SECONDS * MICROS_PER_SECOND
        self._meter.put(metrics.LOOKED, now / MICROS_PER_SECOND)
        return None

    def _backing_off(self, key: StepKey, now: Micros) -> bool:
        if not self._failures[key]:
            return False
        wait = min(schedule.RETRY_SECONDS * 2 ** (self._failures[key] - 1), schedule.HOUR_SECONDS)
        return not schedule.passed(self._journal.last(key), now, wait)

    def _run(self, step: HousekeepingStep, now: Micros) -> StepReport:
        started = time.monotonic()
        before = self._upkeep.standing(step.table)
        outcome, problem = self._acted(step)
        self._journal.tried(step.key, now)
        self._failures[step.key] = self._failures[step.key] + 1 if problem else 0
        report = StepReport(
            *step.key,
            outcome.did and not problem,
            round(time.monotonic() - started, 3),
            problem=problem,
            note=outcome.note,
        )
        tell_step(self._meter, step.key.kind, report.seconds, now, ok=problem is None)
        if problem or outcome.did:
            self._record(self._fact(report, outcome, now), step, before)
        return report

    def _acted(self, step: HousekeepingStep) -> tuple[StepOutcome, str | None]:
        try:
            return step.act(), None
        except FailpointReached:
            raise
        except Exception as error:  # noqa: BLE001 - one step fails, the others go on
            _log.exception("%s of %s failed", step.key.kind, step.key.table)
            return StepOutcome(), clean(f"{type(error).__name__}: {error}")

    def _fact(self, report: StepReport, outcome: StepOutcome, now: Micros) -> MaintenanceFact:
        return MaintenanceFact(
            run_id=str(uuid.uuid4()),
            status="failed" if report.problem else "ok",
            kind=report.kind,
            catalog=self._place[0],
            namespace=self._place[1],
            table=report.table,
            subject=report.subject,
            started_at=now,
            ended_at=now + round(report.seconds * MICROS_PER_SECOND),
            seconds=report.seconds,
            rows=outcome.rows,
            late_facts=outcome.late_facts,
            problem=report.problem,
            detail=msgspec.json.encode(outcome.detail).decode() if outcome.detail else None,
        )

    def _record(self, fact: MaintenanceFact, step: HousekeepingStep, before: MetaTableState) -> None:
        """Append a row to `maintenance`. If it cannot be written, that is only logged: the step itself is done."""
        try:
            self._journal.record(_with_sizes(fact, before, self._upkeep.standing(step.table)))
        except FailpointReached:
            raise
        except Exception:  # noqa: BLE001 - the step itself is done
            _log.exception("%s of %s could not be recorded", step.key.kind, step.key.table)


def _with_sizes(fact: MaintenanceFact, before: MetaTableState, after: MetaTableState) -> MaintenanceFact:
    return msgspec.structs.replace(
        fact,
        files_before=before.files,
        files_after=after.files,
        bytes_before=before.bytes,
        bytes_after=after.bytes,
        snapshots_before=len(before.committed),
        snapshots_after=len(after.committed),
        manifests_before=before.manifests,
        manifests_after=after.manifests,
    )
