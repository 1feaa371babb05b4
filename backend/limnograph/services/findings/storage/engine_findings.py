"""Findings of engines that cannot read a table: `format_incompatible`, from the hours of reads of 30 days.

Cost: one read of `reads_hourly` in six hours, and O(tables with reads) in between.
"""

from __future__ import annotations

import logging
from collections import defaultdict

from limnograph.analysis.engine_support import TableFeatures
from limnograph.analysis.findings.observed.engines import SeenEngine, incompatible_levels
from limnograph.domain.errors import SourceError
from limnograph.domain.finding_limits import DAY, HOUR, FindingLimits
from limnograph.domain.time import EPOCH, Micros
from limnograph.ports.clock import Clock
from limnograph.ports.query_engine import MetaQuery, QueryEngine
from limnograph.services.findings.evaluator import FindingsEvaluator
from limnograph.services.findings.storage.level_observer import LevelObserver
from limnograph.services.lake.history import History
from limnograph.services.lake.store import HotStore

EVERY = 6 * HOUR
_log = logging.getLogger("limnograph.findings")


class EngineFindings:
    """Used on the event loop only, by one task, which waits for `observe` in a thread."""

    def __init__(
        self,
        store: HotStore,
        engine: QueryEngine,
        clock: Clock,
        *,
        limits: FindingLimits = FindingLimits(),  # noqa: B008  # immutable
    ) -> None:
        self._store, self._engine, self._clock, self._limits = store, engine, clock, limits
        self._levels = LevelObserver("engines", clock, limits=limits)
        self._seen: dict[str, list[SeenEngine]] = {}
        self._at = EPOCH

    def observe(self, evaluator: FindingsEvaluator) -> None:
        """Hand the episodes of all tables to the evaluator; nothing while the hours of reads cannot be read. Blocks."""
        now = self._clock.now()
        if now - self._at >= EVERY:
            try:
                self._seen = self._read(now)
            except SourceError as error:
                _log.info("engines that read tables: %s", error)
                return
            self._at = now
        found = {}
        tables = self._store.reading.lake.tables
        for uuid, seen in self._seen.items():
            table = tables.get(uuid)
            head = None if table is None or table.dropped else History(table).head
            if head is None:
                continue
            features = TableFeatures(
                head.format or "", head.format_version, head.total_dvs, head.total_equality_deletes
            )
            if features.needed:
                found[uuid] = incompatible_levels(
                    seen, _with_vectors(features, head.total_position_deletes), now, self._limits
                )
        self._levels.take(evaluator, found)

    def _read(self, now: Micros) -> dict[str, list[SeenEngine]]:
        """Engines by table uuid. Raises SourceError."""
        columns = ("table_uuid", "hour", "engine", "engine_version")
        start = Micros(now - self._limits.engine_days * DAY)
        newest: dict[tuple[str, str, str | None], Micros] = {}
        for uuid, hour, engine, version in self._engine.select(
            MetaQuery(table="reads_hourly", columns=columns, start=start)
        ).iter_rows():
            if uuid and engine:
                key = (uuid, engine, version or None)
                newest[key] = max(newest.get(key, EPOCH), Micros(hour))
        found: dict[str, list[SeenEngine]] = defaultdict(list)
        for (uuid, engine, version), at in newest.items():
            found[uuid].append(SeenEngine(engine, version, at))
        return found


def _with_vectors(features: TableFeatures, deletes: int | None) -> TableFeatures:
    """Memory has no number of deletion vectors: in format version 3 they hold all deleted positions."""
    return features if features.vectors is not None else features._replace(vectors=deletes)
