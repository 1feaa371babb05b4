"""Findings of readers: what engines reported, and where the catalogs point."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from limnograph.domain.finding_limits import FindingLimits
from limnograph.domain.watch import Sighted
from limnograph.ports.clock import Clock
from limnograph.ports.query_engine import QueryEngine
from limnograph.services.findings.evaluator import FindingsEvaluator
from limnograph.services.findings.pointer_findings import PointerFindings
from limnograph.services.findings.read_findings import ReadFindings
from limnograph.services.lake.store import HotStore
from limnograph.services.reads.log import ReadLog


class ReaderFindings(NamedTuple):
    """What observes readers."""

    reads: ReadFindings
    pointers: PointerFindings

    async def observe(self, evaluator: FindingsEvaluator) -> None:
        """Hand the episodes of both to the evaluator. Called by one task."""
        self.pointers.observe(evaluator)
        await self.reads.observe(evaluator)


class ReaderSources(NamedTuple):
    """What readers are observed in."""

    store: HotStore
    log: ReadLog
    engine: QueryEngine
    sighted: Callable[[], Sighted | None]


def reader_findings(sources: ReaderSources, clock: Clock, limits: FindingLimits) -> ReaderFindings:
    """Observers over the given sources."""
    return ReaderFindings(
        ReadFindings(sources.store, sources.log, sources.engine, clock, limits=limits),
        PointerFindings(sources.store, sources.sighted, clock, limits=limits),
    )
