"""Findings of data that no one writes or reads: `cold_data`.

Cost: once a day for each table that is large enough, a read of the rows of its last day with a commit; the hours of
reads only of tables with enough bytes without a write.
"""

from __future__ import annotations

import logging

from limnograph.analysis.findings.observed.subject_levels import SubjectLevel
from limnograph.analysis.findings.storage.cold_data import KnownReads, PartitionWrite, cold_levels
from limnograph.domain.errors import SourceError
from limnograph.domain.facts.meta_tables import PartitionFact, SnapshotFact
from limnograph.domain.finding_limits import DAY, HOUR, FindingLimits
from limnograph.domain.time import EPOCH, Micros
from limnograph.ports.clock import Clock
from limnograph.ports.query_engine import MetaQuery, QueryEngine
from limnograph.services.findings.evaluator import FindingsEvaluator
from limnograph.services.findings.storage.level_observer import LevelObserver
from limnograph.services.lake.history import History
from limnograph.services.lake.loading import snapshot_facts
from limnograph.services.lake.store import HotStore
from limnograph.services.lake.table import HotTable

AT_ONCE = 20
"""Tables that one call looks at, so that a fleet is spread over the day."""
_COLUMNS = ("table_uuid", "snapshot_id", "committed_at", "partitions", "partitions_scope", "oldest_snapshot_at")
_NO_READS = KnownReads()
_log = logging.getLogger("limnograph.findings")


class ColdFindings:
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
        self._levels = LevelObserver("partitions", clock, limits=limits)
        self._looked: dict[str, Micros] = {}
        self._found: dict[str, list[SubjectLevel]] = {}

    def observe(self, evaluator: FindingsEvaluator) -> None:
        """Look at the next tables, and hand the episodes of all tables to the evaluator. Blocks."""
        now = self._clock.now()
        tables = {table.uuid: table for table in self._store.reading.lake.listed}
        self._found = {uuid: each for uuid, each in self._found.items() if uuid in tables}
        due = [table for uuid, table in tables.items() if now - self._looked.get(uuid, EPOCH) >= DAY]
        for table in due[:AT_ONCE]:
            try:
                self._found[table.uuid] = self._look(table, now)
                self._looked[table.uuid] = now
            except SourceError as error:
                _log.info("partitions of %s: %s", table.name, error)
                self._looked[table.uuid] = Micros(now - DAY + HOUR)
        unknown = tables.keys() - self._found.keys()
        self._levels.take(evaluator, self._found, unknown)

    def _look(self, table: HotTable, now: Micros) -> list[SubjectLevel]:
        written = _written(self._engine, table, now, self._limits)
        if written is None:
            return []
        found = cold_levels(*written, _NO_READS, now, self._limits)
        return cold_levels(*written, self._reads(table, now), now, self._limits) if found[0].is_over else found

    def _reads(self, table: HotTable, now: Micros) -> KnownReads:
        """Whether reads were reported at the beginning of these days, and the table's last one. Raises SourceError."""
        since = Micros(now - self._limits.cold_days * DAY)
        first = MetaQuery(table="reads_hourly", columns=("hour",), start=Micros(since - DAY), end=since)
        own = MetaQuery(table="reads_hourly", columns=("hour",), table_uuids=(table.uuid,), start=since)
        began, hours = self._engine.select(first), self._engine.select(own)["hour"].drop_nulls()
        return KnownReads(
            since=None if began.is_empty() else Micros(since - DAY),
            last=None if hours.is_empty() else Micros(int(hours.max())),  # type: ignore[arg-type]
        )


def written_levels(engine: QueryEngine, table: HotTable, now: Micros, limits: FindingLimits) -> list[SubjectLevel]:
    """The level of a table by its writes alone; none of a table that is too small. Raises SourceError."""
    written = _written(engine, table, now, limits)
    return [] if written is None else cold_levels(*written, _NO_READS, now, limits)


def _written(
    engine: QueryEngine, table: HotTable, now: Micros, limits: FindingLimits
) -> tuple[list[PartitionWrite], int] | None:
    """Live partitions and bytes of a table; None: it is too small. Raises SourceError."""
    head = History(table).head
    size = head.total_bytes if head else None
    if size is None or size < limits.cold_bytes:
        return None
    since = Micros(now - limits.cold_days * DAY)
    is_whole = table.last_at <= since
    return ([PartitionWrite(size, table.last_at)] if is_whole else _partitions(engine, table, since)), size


def _partitions(engine: QueryEngine, table: HotTable, since: Micros) -> list[PartitionWrite]:
    """The live partitions, as far as their last rows name them. Raises SourceError."""
    day = Micros(table.last_at // DAY * DAY)
    query = MetaQuery(
        table="snapshots", columns=_COLUMNS, table_uuids=(table.uuid,), start=day, end=Micros(table.last_at + 1)
    )
    facts = [fact for fact in snapshot_facts(engine.select(query)) if fact.committed_at is not None]
    state: dict[tuple[str | None, int | None], PartitionFact] = {}
    bound: Micros | None = None
    for fact in sorted(facts, key=lambda fact: fact.committed_at or EPOCH):
        if fact.partitions_scope == "full":
            state = {}
        state.update({(each.partition, each.spec_id): each for each in fact.partitions or ()})
        bound = _expired_before(fact, since)
    return [
        PartitionWrite(each.bytes or 0, each.last_committed_at if each.last_committed_at is not None else bound)
        for each in state.values()
        if each.data_files
    ]


def _expired_before(fact: SnapshotFact, since: Micros) -> Micros | None:
    """When a commit that expired was made at the latest: before the oldest snapshot; None if that is too recent."""
    oldest = fact.oldest_snapshot_at
    return oldest if oldest is not None and oldest <= since else None
