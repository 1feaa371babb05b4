"""Operations and jobs whose effect is not measured at every mark, and when to look at each again. Used by one task."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from limnograph.domain.answers.effect_ledger import Measure
from limnograph.domain.answers.tables import LinkedJob
from limnograph.domain.facts.effects import MARKS
from limnograph.domain.time import MICROS_PER_SECOND, MS_PER_SECOND, Micros
from limnograph.services.effects.cases import JobCase
from limnograph.services.effects.operations import Operation
from limnograph.services.effects.records import MeasuredKey

HORIZON = 60 * 86_400 * MICROS_PER_SECOND
"""How long the runs after an operation are awaited, in microseconds: 48 runs of a nightly job."""
SOONEST_S, LATEST_S, RETRY_S = 60.0, 6 * 3_600.0, 3_600.0
"""Bounds of the time between two looks, and the time after which a source that failed is queried again, seconds."""

_PACE_RUNS = MARKS[0] + 1


@dataclass(slots=True)
class AwaitedEffect:
    """An operation and a job. `linked`: all jobs of the table; `done`: the highest measured mark; `runs_after`: runs
    that ended since the operation, None before the first look.
    """

    operation: Operation
    job: LinkedJob
    linked: Sequence[LinkedJob]
    done: int
    runs_after: int | None = None
    measure: Measure = "duration"

    @property
    def key(self) -> MeasuredKey:
        """Identity in the ledger, without the mark."""
        return self.operation.table_uuid, self.operation.operation_id, self.job.name, self.measure


class AwaitedEffects:
    """Ordered by when they are due; of those due at the same time the newest operation comes first. Used on the
    event loop only.
    """

    def __init__(self) -> None:
        self._due: list[tuple[Micros, int, int, AwaitedEffect]] = []
        self._all: dict[MeasuredKey, AwaitedEffect] = {}
        self._pushed = 0

    def __iter__(self) -> Iterator[AwaitedEffect]:
        """All of them."""
        return iter(list(self._all.values()))

    def put(self, effect: AwaitedEffect, at: Micros) -> None:
        """Look at it at `at`, unless every mark is measured or its horizon has passed."""
        if effect.done >= MARKS[-1] or effect.operation.committed_at < at - HORIZON:
            self._all.pop(effect.key, None)
            return
        self._all[effect.key] = effect
        self._pushed += 1
        heapq.heappush(self._due, (at, -effect.operation.committed_at, self._pushed, effect))

    def pop(self, now: Micros) -> AwaitedEffect | None:
        """The next one that is due; None if there is none."""
        return heapq.heappop(self._due)[-1] if self._due and self._due[0][0] <= now else None


def delay_s(found: JobCase, done: int) -> float:
    """Seconds until the next mark is about to be reached at the pace of the job's last few runs: one that has begun to
    run more often would otherwise be looked at too late.
    """
    wanted = next((mark for mark in MARKS if mark > done), MARKS[-1])
    times = sorted(found.case.runs.times)[-_PACE_RUNS:]
    gaps = [late - early for early, late in itertools.pairwise(times)]
    if not gaps:
        return LATEST_S
    return min(LATEST_S, max(SOONEST_S, (wanted - found.runs_after) * median(gaps) / MS_PER_SECOND))
