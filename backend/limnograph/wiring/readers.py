"""Who reads tables: numbers and findings from what engines reported, and where the catalogs point."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import NamedTuple

from limnograph.domain.finding_limits import FindingLimits
from limnograph.domain.watch import Sighted
from limnograph.ports.clock import Clock
from limnograph.ports.query_engine import QueryEngine
from limnograph.services.findings.evaluator import FindingsEvaluator
from limnograph.services.findings.pointer_findings import PointerFindings
from limnograph.services.findings.read_findings import ReadFindings
from limnograph.services.findings.report_findings import ReportFindings
from limnograph.services.lake.store import HotStore
from limnograph.services.reads.attempts import AttemptSource
from limnograph.services.reads.log import ReadLog
from limnograph.services.reads.recent import RecentReads


class ReaderServices(NamedTuple):
    """What observes readers, and the numbers of recent reads."""

    reads: ReadFindings
    commits: ReportFindings
    pointers: PointerFindings
    recent: RecentReads

    async def observe(self, evaluator: FindingsEvaluator) -> None:
        """Compute recent numbers, and hand the episodes of pointers, commits and reads to the evaluator. Called by one
        task.
        """
        await asyncio.to_thread(self.recent.refresh)
        self.pointers.observe(evaluator)
        await asyncio.to_thread(self.commits.observe, evaluator)
        await self.reads.observe(evaluator)


class ReaderSources(NamedTuple):
    """What readers are observed in."""

    store: HotStore
    log: ReadLog
    engine: QueryEngine
    cold: QueryEngine
    sighted: Callable[[], Sighted | None]


def reader_services(sources: ReaderSources, clock: Clock, limits: FindingLimits) -> ReaderServices:
    """Observers over the given sources."""
    return ReaderServices(
        ReadFindings(sources.store, sources.log, sources.engine, clock, limits=limits),
        ReportFindings(
            sources.store, sources.log, AttemptSource(sources.log, sources.cold, clock), clock, limits=limits
        ),
        PointerFindings(sources.store, sources.sighted, clock, limits=limits),
        RecentReads(sources.store, sources.log, clock),
    )
