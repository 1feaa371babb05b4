"""What is observed besides commits and runs: reported reads and commits, columns, and pointers of catalogs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import NamedTuple

from limnograph.domain.finding_limits import FindingLimits
from limnograph.domain.objectives import Objectives
from limnograph.domain.watch import Sighted
from limnograph.ports.clock import Clock
from limnograph.ports.query_engine import QueryEngine
from limnograph.services.findings.column_findings import ColumnFindings
from limnograph.services.findings.evaluator import FindingsEvaluator
from limnograph.services.findings.pointer_findings import PointerFindings
from limnograph.services.findings.read_findings import ReadFindings
from limnograph.services.findings.report_findings import ReportFindings
from limnograph.services.findings.storage.catalog_findings import CatalogFindings
from limnograph.services.findings.storage.cold_findings import ColdFindings
from limnograph.services.findings.storage.engine_findings import EngineFindings
from limnograph.services.findings.storage.reader_risks import ReaderPattern, ReaderRisks, RiskSources
from limnograph.services.findings.storage.stream_findings import StreamFindings
from limnograph.services.forecasts.findings import ForecastFindings
from limnograph.services.forecasts.records import ForecastRecords
from limnograph.services.jobs.discovery import Jobs
from limnograph.services.lake.store import HotStore
from limnograph.services.reads.attempts import AttemptSource
from limnograph.services.reads.log import ReadLog
from limnograph.services.reads.recent import RecentReads


class Observers(NamedTuple):
    """What findings follow from besides commits and runs, and the numbers of recent reads."""

    reads: ReadFindings
    commits: ReportFindings
    columns: ColumnFindings
    pointers: PointerFindings
    recent: RecentReads
    risks: ReaderRisks
    engines: EngineFindings
    cold: ColdFindings
    streams: StreamFindings
    catalogs: CatalogFindings
    forecasts: ForecastFindings

    async def observe(self, evaluator: FindingsEvaluator) -> None:
        """Compute recent numbers, and hand all episodes to the evaluator. Called by one task."""
        await asyncio.to_thread(self.recent.refresh)
        self.pointers.observe(evaluator)
        await asyncio.to_thread(self.commits.observe, evaluator)
        await self.reads.observe(evaluator)
        await asyncio.to_thread(self.columns.observe, evaluator)
        for each in (self.risks, self.engines, self.cold, self.catalogs, self.forecasts):
            await asyncio.to_thread(each.observe, evaluator)
        await self.streams.observe(evaluator)


class ObserverSources(NamedTuple):
    """What is observed. `private`: patterns of columns that are shown with counts only. `readers`: declared ones."""

    store: HotStore
    log: ReadLog
    jobs: Jobs
    engine: QueryEngine
    cold: QueryEngine
    sighted: Callable[[], Sighted | None]
    forecasts: ForecastRecords
    private: tuple[str, ...] = ()
    objectives: Objectives = Objectives()
    readers: tuple[ReaderPattern, ...] = ()


def observers_of(sources: ObserverSources, clock: Clock, limits: FindingLimits) -> Observers:
    """Observers over the given sources."""
    store, log, jobs, engine, cold, sighted, forecasts, private, objectives, readers = sources
    reads = ReadFindings(store, log, engine, clock, limits=limits, objectives=objectives)
    return Observers(
        reads,
        ReportFindings(store, log, AttemptSource(log, cold, clock), clock, limits=limits),
        ColumnFindings(engine, clock, limits, private),
        PointerFindings(store, sighted, clock, limits=limits),
        RecentReads(store, log, clock),
        ReaderRisks(RiskSources(store, log, reads, jobs.runs, cold, readers), clock, limits=limits),
        EngineFindings(store, cold, clock, limits=limits),
        ColdFindings(store, cold, clock, limits=limits),
        StreamFindings(store, jobs, clock, limits=limits, objectives=objectives),
        CatalogFindings(store, sighted, clock, limits=limits),
        ForecastFindings(forecasts, clock, limits=limits),
    )
