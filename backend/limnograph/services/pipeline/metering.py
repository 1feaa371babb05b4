"""Reports passes, drains and steps of the pipeline to a meter. No decisions and no effects of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Protocol

from limnograph.domain.errors import SourceError
from limnograph.domain.facts.meta_tables import SNAPSHOTS, MetaTable
from limnograph.domain.ids import TableName
from limnograph.domain.metadata.due import DueTable
from limnograph.domain.metrics import pipeline as metrics
from limnograph.domain.time import MICROS_PER_SECOND, Micros
from limnograph.ports.catalog import TablePointer
from limnograph.ports.clock import Clock
from limnograph.ports.extraction import ExtractedRows, Extraction
from limnograph.ports.inbox import Inbox
from limnograph.ports.lake import LakeListing, ObservedLake
from limnograph.ports.meta_upkeep import MetaTableState
from limnograph.ports.meter import Meter
from limnograph.ports.tables import Tables
from limnograph.services.pipeline.backoff import BackOff
from limnograph.services.pipeline.drain import TARGETS, DrainReport
from limnograph.services.pipeline.report import PassReport
from limnograph.services.rollups.marks import raw_floor


class _Passes(Protocol):
    def run(self) -> PassReport: ...


class _Drain(Protocol):
    def run(self) -> DrainReport: ...


class PassMeter:
    """What one pass sees and does, by catalog. `catalogs`: the configured ones; `backoff`: the passes' own."""

    def __init__(self, meter: Meter, clock: Clock, backoff: BackOff, catalogs: Collection[str]) -> None:
        self._meter, self._clock, self._backoff = meter, clock, backoff
        self._catalogs = set(catalogs)
        self._due: set[TableName] = set()

    def listed(self, listing: LakeListing) -> None:
        """Report observed tables and responding catalogs. A catalog that did not respond has no number of tables."""
        seen = Counter(pointer.name.catalog for pointer in listing.pointers)
        self._catalogs |= seen.keys()
        for catalog in self._catalogs:
            answered = catalog in listing.answered
            self._meter.put(metrics.CATALOG_UP, int(answered), catalog)
            self._meter.put(metrics.TABLES_SEEN, seen[catalog] if answered else None, catalog)

    def due(self, tables: Iterable[DueTable]) -> None:
        """Report tables with new snapshots."""
        self._due.update(table.name for table in tables)

    def failed(self) -> None:
        """Report that the pass failed."""
        self._due.clear()
        self._meter.add(metrics.PASSES, 1, "failed")

    def finished(self, report: PassReport) -> None:
        """Report that the pass completed."""
        now = self._clock.now()
        self._meter.add(metrics.PASSES, 1, "ok")
        self._meter.put(metrics.PASS_ENDED, now / MICROS_PER_SECOND)
        self._meter.put(metrics.PASS_SECONDS, report.seconds)
        self._meter.put(metrics.PASS_SNAPSHOTS, report.snapshots_appended)
        self._meter.put(metrics.PASS_TABLES, report.tables_changed)
        self._meter.put(metrics.UNREADABLE, report.unreadable)
        self._meter.add(metrics.GAPS, report.gaps)
        self._by_catalog(metrics.TABLES_DUE, self._due)
        self._by_catalog(metrics.TABLES_FAILING, self._backoff.failing)
        self._by_catalog(metrics.TABLES_WAITING, self._backoff.waiting(now))
        self._due.clear()

    def _by_catalog(self, metric: metrics.Metric, names: Iterable[TableName]) -> None:
        counts = Counter(name.catalog for name in names)
        for catalog in self._catalogs | counts.keys():
            self._meter.put(metric, counts[catalog], catalog)


class MeteredLake:
    """Port Lake with metrics."""

    def __init__(self, lake: ObservedLake, told: PassMeter) -> None:
        self._lake, self._told = lake, told

    @property
    def tables(self) -> Tables:
        return self._lake.tables

    def listing(self) -> LakeListing:
        found = self._lake.listing()
        self._told.listed(found)
        return found

    def newest(self, pointer: TablePointer) -> TablePointer | None:
        return self._lake.newest(pointer)


class MeteredExtraction:
    """Port Extraction with metrics."""

    def __init__(self, extraction: Extraction, told: PassMeter) -> None:
        self._extraction, self._told = extraction, told

    def run(self, due: Sequence[DueTable]) -> ExtractedRows:
        self._told.due(due)
        return self._extraction.run(due)


class MeteredPasses:
    """Passes with metrics."""

    def __init__(self, passes: _Passes, told: PassMeter) -> None:
        self._passes, self._told = passes, told

    def run(self) -> PassReport:
        """Run one pass; raises what it raises."""
        try:
            report = self._passes.run()
        except Exception:
            self._told.failed()
            raise
        self._told.finished(report)
        return report


class MeteredDrain:
    """Drains of an inbox with metrics, including the number of remaining items."""

    def __init__(self, drain: _Drain, inbox: Inbox, meter: Meter) -> None:
        self._drain, self._inbox, self._meter = drain, inbox, meter

    def run(self) -> DrainReport:
        """Run one drain; raises what it raises."""
        try:
            report = self._drain.run()
        finally:
            self._tell_backlog()
        self._meter.add(metrics.INBOX_ASIDE, report.set_aside)
        return report

    def _tell_backlog(self) -> None:
        """An unavailable inbox has no numbers; the reason is in the drain's own error."""
        try:
            items, oldest = self._inbox.backlog(TARGETS)
        except SourceError:
            self._meter.put(metrics.INBOX_WAITING, None)
            self._meter.put(metrics.INBOX_OLDEST, None)
            return
        self._meter.put(metrics.INBOX_WAITING, items)
        self._meter.put(metrics.INBOX_OLDEST, None if oldest is None else oldest / MICROS_PER_SECOND)


def tell_sizes(meter: Meter, standing: Mapping[MetaTable, MetaTableState]) -> None:
    """Report the state of the meta tables as housekeeping found it."""
    for table, found in standing.items():
        there = found.position is not None
        meter.put(metrics.META_FILES, found.files if there else None, table.name)
        meter.put(metrics.META_BYTES, found.bytes if there else None, table.name)
        meter.put(metrics.META_SNAPSHOTS, len(found.committed) if there else None, table.name)
        meter.put(metrics.META_MANIFESTS, found.manifests if there else None, table.name)
        meter.put(metrics.META_METADATA, found.metadata_bytes, table.name)
    floor = raw_floor(standing[SNAPSHOTS].properties) if SNAPSHOTS in standing else None
    meter.put(metrics.FLOOR, None if floor is None else floor / MICROS_PER_SECOND)


def tell_step(meter: Meter, kind: str, seconds: float, now: Micros, *, ok: bool) -> None:
    """Report one step of housekeeping."""
    meter.add(metrics.STEPS, 1, kind, "ok" if ok else "failed")
    meter.add(metrics.STEP_SECONDS, seconds, kind)
    if ok:
        meter.put(metrics.STEP_LAST, now / MICROS_PER_SECOND, kind)
