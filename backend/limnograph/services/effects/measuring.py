"""Measures every maintenance operation when 8, 16 and 48 runs of each job that reads the table have ended since, and
stores the results in the inbox.

Repeated and concurrent measurements have the same key, so servers that share an inbox store each once. Cost law: one
read of new commits per pass of the pipeline; about two looks per mark of an operation and job, each a few queries; 100
to 800 ms of CPU per mark, newest operations first, limited to a fifth of one core.
"""

from __future__ import annotations

import asyncio
import logging
import time

from limnograph.domain.errors import LimnographError
from limnograph.domain.facts.effects import EffectFact
from limnograph.domain.time import MICROS_PER_SECOND, Micros
from limnograph.ports.clock import Clock
from limnograph.ports.query_engine import MetaHead, QueryEngine
from limnograph.services.effects.awaiting import HORIZON, RETRY_S, AwaitedEffect, AwaitedEffects, delay_s
from limnograph.services.effects.cases import EffectCases, JobCase, Subject
from limnograph.services.effects.measurement import due_marks, measured
from limnograph.services.effects.operations import Operation, OperationLog
from limnograph.services.effects.records import EffectRecords, MeasuredKey
from limnograph.services.effects.scans import COLUMNS, HISTORY, Scans, scan_case, scans_of
from limnograph.services.lake.store import HotStore

LOOKS = 32
"""Operations, and operations and jobs, that one call looks at."""
SCANS = 600 * MICROS_PER_SECOND
"""Time between two reads of the reports of all tables."""
RELINK = 3_600 * MICROS_PER_SECOND
"""Time between two searches for readers of tables that had none: a nightly job is not known before its first run."""
CPU_SHARE = 0.2
ALL_SCANS = ""
"""In place of a job's name."""
_log = logging.getLogger("limnograph.effects")


class EffectMeasurer:
    """Used on the event loop only, by one task; pages read `awaited`, `recent` and `unread`."""

    def __init__(
        self,
        store: HotStore,
        cases: EffectCases,
        records: EffectRecords,
        clock: Clock,
        *,
        engine: QueryEngine,
        cpu_share: float = CPU_SHARE,
    ) -> None:
        self._store, self._engine, self._cases, self._records, self._clock = store, engine, cases, records, clock
        self._cpu_share = cpu_share
        self._operations = OperationLog(engine)
        self._head: MetaHead | None = None
        self._marks: dict[MeasuredKey, int] = {}
        self._marks_read = False
        self._seen: set[int] = set()
        self._unlinked: list[Operation] = []
        self._scans_read: Micros | None = None
        self._relinked_at = clock.now()
        self.awaited = AwaitedEffects()
        self.recent: dict[tuple[str, str], Operation] = {}
        """Operations of the last days, for which scans are compared."""
        self.unread: dict[tuple[str, str], Operation] = {}
        """Those of them on tables that no known job reads."""

    async def measure_due(self) -> int:
        """Look at what is due; returns the number of new measurements. Raises SourceError."""
        now = self._clock.now()
        await self._discover(now)
        stored = 0
        for _ in range(LOOKS):
            effect = self.awaited.pop(now)
            if effect is None:
                break
            stored += await self._look(effect, now)
        if self._scans_read is None or now - self._scans_read >= SCANS:
            self._scans_read = now
            stored += await self._measure_scans(now)
        return stored

    async def _discover(self, now: Micros) -> None:
        """Find new operations and the jobs that read their tables."""
        head = self._store.reading.head
        if not self._marks_read:
            self._marks = await asyncio.to_thread(self._records.marks, now - HORIZON)
            self._marks_read = True
        if head != self._head:
            found = await asyncio.to_thread(self._operations.new, now - HORIZON)
            self._head = head
            new = [each for each in found if hash((each.table_uuid, each.operation_id)) not in self._seen]
            self._seen.update(hash((each.table_uuid, each.operation_id)) for each in new)
            self._unlinked = sorted([*self._unlinked, *new], key=lambda each: each.committed_at)
        for _ in range(min(LOOKS, len(self._unlinked))):
            if not await self._link(self._unlinked[-1], now):
                break
            self._unlinked.pop()
        for key, operation in list(self.recent.items()):
            if operation.committed_at < now - HISTORY:
                self.recent.pop(key)
                self.unread.pop(key, None)
        if now - self._relinked_at >= RELINK:
            self._relinked_at = now
            self._unlinked = sorted([*self._unlinked, *self.unread.values()], key=lambda each: each.committed_at)

    async def _link(self, operation: Operation, now: Micros) -> bool:
        """Await the effects on the jobs that read the table then. Returns False if not all of them are known now."""
        if operation.snapshot_id is not None:
            started = await self._cases.started_at(operation.name, operation.snapshot_id, operation.committed_at)
            operation = operation._replace(started_at=started)
        linked = await self._cases.linked(operation.name, operation.committed_at, now)
        if not self._cases.are_jobs_known:
            return False
        readers = [job for job in linked if job.role == "reads"]
        key = operation.table_uuid, operation.operation_id
        if operation.committed_at >= now - HISTORY:
            self.recent[key] = operation
            self.unread.pop(key, None)
            if not readers:
                self.unread[key] = operation
        for job in readers:
            self.awaited.put(AwaitedEffect(operation, job, linked, self._done((*key, job.name, "duration"))), now)
        return True

    def _done(self, key: MeasuredKey) -> int:
        return self._marks.get(key, 0)

    async def _look(self, effect: AwaitedEffect, now: Micros) -> int:
        """Measure an effect and await its next mark. If a source fails, nothing is stored: a row is never replaced."""
        wait_s, stored = RETRY_S, 0
        try:
            found = await self._cases.of_job(_subject(effect.operation), effect.job, effect.linked, now)
            effect.runs_after = found.runs_after
            if found.problem is None:
                stored = await self._measure(effect.operation, effect.key, found, now)
                wait_s = delay_s(found, self._done(effect.key))
        except LimnographError as error:
            _log.info("effect of %s on %s: %s", effect.operation.operation_id, effect.job.name, error)
        effect.done = self._done(effect.key)
        self.awaited.put(effect, Micros(now + round(wait_s * MICROS_PER_SECOND)))
        return stored

    async def _measure(self, operation: Operation, key: MeasuredKey, found: JobCase, now: Micros) -> int:
        """Measure at every mark that was reached, and store the results."""
        marks = due_marks(found.runs_after, self._done(key))
        for mark in marks:
            fact, used_s = await asyncio.to_thread(_timed, operation, key, found, mark, now)
            await asyncio.to_thread(self._records.put, [fact], now)
            self._marks[key] = mark
            await asyncio.sleep(used_s * (1 / self._cpu_share - 1))
        return len(marks)

    async def _measure_scans(self, now: Micros) -> int:
        names = {operation.name for operation in self.recent.values()}
        if not names:
            return 0
        first = min(operation.committed_at for operation in self.recent.values())
        scans = await asyncio.to_thread(scans_of, self._engine, names, Micros(first - HISTORY), now)
        read = [operation for operation in self.recent.values() if operation.name in scans]
        return sum([await self._measure_scans_of(operation, scans[operation.name], now) for operation in read])

    async def _measure_scans_of(self, operation: Operation, scans: Scans, now: Micros) -> int:
        """Every measure of one operation. Other events are read only if a mark was reached."""
        due = [
            (key, measure)
            for measure in COLUMNS
            if due_marks(
                scan_case(operation, scans, measure, ()).runs_after,
                self._done(key := (operation.table_uuid, operation.operation_id, ALL_SCANS, measure)),
            )
        ]
        if not due:
            return 0
        events = await self._cases.events(_subject(operation), Micros(operation.committed_at - HISTORY), now)
        cases = [(key, scan_case(operation, scans, measure, events)) for key, measure in due]
        return sum([await self._measure(operation, key, found, now) for key, found in cases])


def _subject(operation: Operation) -> Subject:
    return Subject(operation.name, operation.snapshot_id, operation.started_at, operation.committed_at)


def _timed(operation: Operation, key: MeasuredKey, found: JobCase, mark: int, now: Micros) -> tuple[EffectFact, float]:
    """A measurement and the CPU time that it took, seconds."""
    began = time.thread_time()
    fact = measured(operation, key, found, mark, now)
    return fact, time.thread_time() - began
