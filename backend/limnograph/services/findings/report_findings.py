"""Findings that follow from what engines reported of commits: of every table that lost an attempt within two days."""

from __future__ import annotations

from collections.abc import Sequence

from limnograph.analysis.findings.contention import contention_episodes
from limnograph.analysis.findings.episodes import Episode
from limnograph.domain.finding_limits import FindingLimits
from limnograph.domain.time import Micros
from limnograph.ports.clock import Clock
from limnograph.services.findings.evaluator import FindingsEvaluator
from limnograph.services.lake.store import WINDOW, HotStore
from limnograph.services.reads.attempts import AttemptSource
from limnograph.services.reads.log import ReadLog


class ReportFindings:
    """Immutable after construction."""

    def __init__(
        self,
        store: HotStore,
        log: ReadLog,
        attempts: AttemptSource,
        clock: Clock,
        *,
        limits: FindingLimits = FindingLimits(),  # noqa: B008  # immutable
    ) -> None:
        self._store, self._log, self._attempts = store, log, attempts
        self._clock, self._limits = clock, limits

    def observe(self, evaluator: FindingsEvaluator) -> None:
        """Hand the episodes of all tables to the evaluator; nothing while the meta tables have not been read. Blocks.
        O(commits of two days) of each table that lost an attempt.
        """
        if self._log.floor is None:
            return
        lake = self._store.reading.lake
        names = {self._store.resolved(name) for name in self._log.contended()}
        uuids = {uuid for name in names if (uuid := lake.names.get(name)) is not None}
        evaluator.observed({uuid: self._episodes(uuid) for uuid in sorted(uuids)}, "commits")

    def _episodes(self, uuid: str) -> Sequence[Episode]:
        history = self._store.reading.lake.histories.get(uuid)
        if history is None:
            return ()
        now = self._clock.now()
        found = self._attempts.recent(history, Micros(now - WINDOW), Micros(now + 1))
        if found is None:
            return ()
        return contention_episodes(found.attempts, found.collisions, found.start, now, self._limits)
