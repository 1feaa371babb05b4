"""Findings of readers that a table's own retention hits: `reader_at_risk`.

Cost: O(reads of 7 days and runs in memory) an hour, and the history of 30 days of each table that has a reader which is
behind, or a declared one.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import polars as pl

from limnograph.analysis.advice.readers import DeclaredReader, ReaderNeed, TableRead, needs_of
from limnograph.analysis.findings.observed.subject_levels import SubjectLevel
from limnograph.analysis.findings.storage.readers_at_risk import at_risk_levels
from limnograph.domain.errors import LimnographError
from limnograph.domain.finding_limits import DAY, HOUR, FindingLimits
from limnograph.domain.ids import TableName, matches
from limnograph.domain.time import EPOCH, Micros
from limnograph.ports.clock import Clock
from limnograph.ports.query_engine import QueryEngine
from limnograph.services.findings.evaluator import HISTORY, FindingsEvaluator
from limnograph.services.findings.read_findings import ReadFindings
from limnograph.services.findings.storage.expiry_facts import own_retention, retained_refs, retained_snapshots
from limnograph.services.findings.storage.level_observer import LevelObserver
from limnograph.services.jobs.runs import RunRegistry
from limnograph.services.lake.history import History
from limnograph.services.lake.store import HotStore
from limnograph.services.reads.log import ReadLog
from limnograph.services.reads.of_history import main_moves
from limnograph.services.reads.table_reads import reads_of_reports, reads_of_runs

COLUMNS = ("committed_at", "sequence_number", "on_main", "parent_id", "oldest_snapshot_at")
_log = logging.getLogger("limnograph.findings")


class ReaderPattern(NamedTuple):
    """Readers of tables that may be behind. `tables`, `jobs`: patterns; `lag_us`: microseconds."""

    jobs: str
    tables: str
    lag_us: int


class RiskSources(NamedTuple):
    """Where reads come from. `declared`: of the settings."""

    store: HotStore
    log: ReadLog
    reads: ReadFindings
    runs: RunRegistry
    engine: QueryEngine
    declared: tuple[ReaderPattern, ...] = ()


class ReaderRisks:
    """Used on the event loop only, by one task, which waits for `observe` in a thread."""

    def __init__(self, sources: RiskSources, clock: Clock, *, limits: FindingLimits = FindingLimits()) -> None:  # noqa: B008  # immutable
        self._sources, self._clock = sources, clock
        self._levels = LevelObserver("readers", clock, limits=limits)
        self._found: dict[str, list[SubjectLevel]] = {}
        self._unknown: set[str] = set()
        self._reads: dict[str, list[TableRead]] = {}
        self._at = EPOCH

    def observe(self, evaluator: FindingsEvaluator) -> None:
        """Hand the episodes of all readers to the evaluator; nothing while the reports have not been read. Blocks."""
        now = self._clock.now()
        if self._sources.log.floor is None or evaluator.known_open("reader_at_risk") is None:
            return
        if now - self._at >= HOUR:
            self._found, self._unknown, self._at = {}, set(), now
            self._reads = self.reads_of_tables(now)
            for uuid, reads in self._reads.items():
                self._judge(uuid, reads, now)
        self._levels.take(evaluator, self._found, self._unknown)

    def needs(self, uuid: str, name: TableName) -> list[ReaderNeed] | None:
        """What readers of a table need; None: no read of it is reported and no reader declared, or its history is not
        known. Blocks. Thread-safe.
        """
        reads, declared, now = self._reads.get(uuid), self.declared(name), self._clock.now()
        table = self._sources.store.reading.lake.tables.get(uuid)
        if table is None or (not reads and not declared):
            return None
        history = History(table)
        try:
            whole = self._long(history, now)
            refs = retained_refs(self._sources.engine, history)
        except LimnographError as error:
            _log.info("readers of %s: %s", name, error)
            return None
        return None if whole is None else needs_of(reads or (), retained_snapshots(whole), refs, declared, now=now)

    def declared(self, name: TableName) -> list[DeclaredReader]:
        """Readers of a table that the settings declare."""
        return [
            DeclaredReader(each.jobs, each.lag_us) for each in self._sources.declared if matches(each.tables, str(name))
        ]

    def reads_of_tables(self, now: Micros) -> dict[str, list[TableRead]]:
        """Reads of the last 7 days by table uuid, with an empty list for other tables that have a declared reader."""
        store = self._sources.store
        lake = store.reading.lake
        frames: dict[str, list[pl.DataFrame]] = defaultdict(list)
        names = {*self._sources.log.counts(), *self._sources.reads.week}
        for name in names:
            uuid = lake.names.get(store.resolved(name))
            if uuid is not None:
                week = self._sources.reads.week.get(name)
                frames[uuid] += [week] if week is not None else []
                floor = self._sources.log.floor or now
                frames[uuid].append(self._sources.log.of_table({name: Micros(now + 1)}, floor, Micros(now + 1)))
        found = {
            uuid: reads_of_reports(pl.concat(parts).unique("event_id", keep="last", maintain_order=True))
            for uuid, parts in frames.items()
        }
        runs = self._sources.runs.between(Micros(now - 7 * DAY), Micros(now + 1))
        for uuid, reads in reads_of_runs(runs, lambda name: lake.names.get(store.resolved(name))).items():
            found.setdefault(uuid, []).extend(reads)
        for table in lake.listed if self._sources.declared else ():
            if table.name is not None and self.declared(table.name):
                found.setdefault(table.uuid, [])
        return found

    def _judge(self, uuid: str, reads: Sequence[TableRead], now: Micros) -> None:
        table = self._sources.store.reading.lake.tables.get(uuid)
        if table is None or table.dropped or table.name is None:
            return
        history, declared = History(table), self.declared(table.name)
        if not declared and not _is_behind(history, reads):
            return
        try:
            whole = self._long(history, now)
            if whole is None:
                self._unknown.add(uuid)
                return
            refs = retained_refs(self._sources.engine, history)
        except LimnographError as error:
            _log.info("readers of %s: %s", table.name, error)
            self._unknown.add(uuid)
            return
        self._found[uuid] = at_risk_levels(
            reads, retained_snapshots(whole), refs, own_retention(history), declared, now=now
        )

    def _long(self, history: History, now: Micros) -> History | None:
        """The history of 30 days; None if it is not known in full."""
        view = self._sources.store.since(Micros(now - HISTORY), (history.uuid,), COLUMNS)
        table = view.lake.tables.get(history.uuid)
        return None if table is None or view.partial else History(table)


def _is_behind(history: History, reads: Sequence[TableRead]) -> bool:
    """Whether a read was of something else than main's head."""
    moves, heads = main_moves(history), set(history.main_ids)
    for read in reads:
        behind = moves.behind(read.snapshot_id, read.at)
        if read.ref is not None or read.snapshot_id not in heads or (behind is not None and behind.is_stale):
            return True
    return False
