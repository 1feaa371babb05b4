"""What the meta tables record of the tables to maintain, if they can be read: reads, findings, savings and places."""

from __future__ import annotations

import logging
import threading
import time
from collections import defaultdict

import msgspec

from limnograph.adapters.inbox.store import SqlInbox
from limnograph.analysis.advice.readers import DeclaredReader, TableRead
from limnograph.analysis.maintenance.run_lengths import longest_runs_us
from limnograph.domain.advice.reading import AdviceReading
from limnograph.domain.errors import LimnographError
from limnograph.domain.facts.events import RunFact
from limnograph.domain.facts.findings import FindingFact
from limnograph.domain.finding_limits import DAY
from limnograph.domain.ids import TableName, matches
from limnograph.domain.maintenance.policy import PolicyRule
from limnograph.domain.time import Micros
from limnograph.ports.clock import Clock
from limnograph.ports.lake import LakeListing
from limnograph.ports.query_engine import MetaQuery, QueryEngine
from limnograph.ports.table_maintainer import OpenedTable
from limnograph.services.advice.findings import advised_findings
from limnograph.services.advice.saved_times import savings
from limnograph.services.effects.records import EffectRecords
from limnograph.services.findings.records import FindingRecords
from limnograph.services.lake.lake import Histories
from limnograph.services.lake.loading import load
from limnograph.services.maintenance.known import LakeKnowledge, RecordedFacts, TableSurroundings
from limnograph.services.reads.table_reads import reads_of_reports, reads_of_runs
from limnograph.services.table.due import newest_location
from limnograph.settings import Settings
from limnograph.wiring.finding_limits import readers_of
from limnograph.wiring.watching import embedded_engine

WEEK, SPAN = 7 * DAY, 2 * DAY
"""Of reads and findings; of the histories that say where tables are. Microseconds."""
KEPT_S = 600.0
_READ_COLUMNS = ("catalog", "namespace", "table", "job_name", "engine", "snapshot_id", "at")
_log = logging.getLogger("limnograph.maintain")


class RecordedKnowledge:
    """Port TableKnowledge. Reads the meta tables at most every ten minutes. Thread-safe: `_read_at` and `_recorded` are
    guarded by `_lock`; `_listing` is a single value.
    """

    def __init__(self, settings: Settings, clock: Clock) -> None:
        self._settings, self._clock, self._declared = settings, clock, readers_of(settings)
        self._lock = threading.Lock()
        self._read_at = -KEPT_S
        self._recorded: RecordedFacts | None = None
        self._listing = LakeListing((), frozenset(), frozenset())

    def saw(self, listing: LakeListing) -> LakeListing:
        """Remember where all tables are; returns the listing."""
        self._listing = listing
        return listing

    def of(self, opened: OpenedTable, reading: AdviceReading, rule: PolicyRule) -> TableSurroundings:
        listing = self._listing
        complete = not listing.failed and set(self._settings.catalogs) <= listing.complete
        known = LakeKnowledge(listing.pointers, self._facts(), self._declared_for, complete=complete)
        return known.of(opened, reading, rule)

    def _declared_for(self, name: TableName) -> list[DeclaredReader]:
        return [DeclaredReader(each.jobs, each.lag_us) for each in self._declared if matches(each.tables, str(name))]

    def _facts(self) -> RecordedFacts | None:
        with self._lock:
            if time.monotonic() - self._read_at >= KEPT_S:
                self._read_at = time.monotonic()
                try:
                    self._recorded = recorded_facts(self._settings, self._clock.now())
                except LimnographError as error:
                    self._recorded = None
                    _log.warning("the meta tables cannot be read, so that readers of tables are unknown: %s", error)
            return self._recorded


def recorded_facts(settings: Settings, now: Micros) -> RecordedFacts:
    """Facts of the last week. O(reports and runs of a week + tables). Raises SourceError, NotFound."""
    engine, inbox = embedded_engine(settings), SqlInbox(settings.inbox_url)
    histories = Histories(load(engine, Micros(now - SPAN), end=Micros(now + 1)).tables)
    places, uuids = [], dict[TableName, str]()
    for uuid, history in histories.items():
        name, location = history.table.name, newest_location(history)
        if name is not None and not history.table.dropped:
            uuids[name] = uuid
            places += [(name, uuid, location)] if location is not None else []
    found = engine.select(MetaQuery(table="runs", start=Micros(now - WEEK), end=Micros(now + 1))).to_dicts()
    runs = msgspec.convert(found, list[RunFact])
    return RecordedFacts(
        reads=_reads(engine, runs, uuids, now),
        findings={uuid: advised_findings(facts) for uuid, facts in _findings(engine, inbox, now).items()},
        saved=savings(EffectRecords(inbox, engine).newest(Micros(now - WEEK), Micros(now + 1))),
        places=places,
        longest_runs_us=longest_runs_us(runs, uuids.get, now),
    )


def _reads(
    engine: QueryEngine, runs: list[RunFact], uuids: dict[TableName, str], now: Micros
) -> dict[str, list[TableRead]]:
    found: dict[str, list[TableRead]] = defaultdict(list)
    query = MetaQuery(table="reports", columns=(*_READ_COLUMNS, "kind"), start=Micros(now - WEEK), end=Micros(now + 1))
    reports = engine.select(query).drop_nulls("table")
    for key, own in reports.group_by("catalog", "namespace", "table"):
        catalog, namespace, table = map(str, key)
        if (uuid := uuids.get(TableName(catalog, namespace, table))) is not None:
            found[uuid] += reads_of_reports(own)
    for uuid, reads in reads_of_runs(runs, uuids.get).items():
        found[uuid] += reads
    return found


def _findings(engine: QueryEngine, inbox: SqlInbox, now: Micros) -> dict[str, list[FindingFact]]:
    found: dict[str, list[FindingFact]] = defaultdict(list)
    for fact in FindingRecords(inbox, engine).newest(Micros(now - WEEK)).values():
        if fact.state == "open" and fact.table_uuid:
            found[fact.table_uuid].append(fact)
    return found
