"""Server status: sources, latest pass, watermark, set-up hints. Never fails: a failed source is a status."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from limnograph import __version__
from limnograph.domain.answers.tables import HotIndex, SourceStatus, Status
from limnograph.domain.thresholds import Thresholds
from limnograph.domain.time import MICROS_PER_SECOND, Micros, to_millis
from limnograph.domain.watch import CatalogSeen, Sighted, WatchState
from limnograph.domain.wording import seconds
from limnograph.ports.clock import Clock
from limnograph.services.alerts.staleness import AlertStaleness
from limnograph.services.events.event_rate import PER_SECOND, EventRate
from limnograph.services.fleet.hints import about_patterns
from limnograph.services.fleet.page import FleetService
from limnograph.services.lake.store import HotStore
from limnograph.services.sources.cold_reads import ColdEngine
from limnograph.services.sources.metrics import CoalescedSource, Metrics

_STALE_S = 600.0


class StatusService:
    """Status of the server and readiness, from the services' last observations. Immutable after construction."""

    def __init__(
        self,
        store: HotStore,
        fleet: FleetService,
        metrics: Metrics | None,
        clock: Clock,
        *,
        watch: Callable[[], WatchState],
        sighted: Callable[[], Sighted | None] = lambda: None,
        inbox_error: Callable[[], str | None],
        cold: ColdEngine | None = None,
        also_waiting: Callable[[], str | None] = lambda: None,
        hourly_days: int = 400,
        alertmanager: AlertStaleness | None = None,
        last_pass: Callable[[], int | None] = lambda: None,
        jobs: Callable[[], int] = lambda: 0,
        firing: Callable[[], int] = lambda: 0,
        open_findings: Callable[[], int | None] = lambda: None,
        limits: Thresholds = Thresholds(),  # noqa: B008
        trino_events: EventRate | None = None,
    ) -> None:
        self._trino_events = trino_events
        self._last_pass, self._limits, self._jobs = last_pass, limits, jobs
        self._firing, self._open_findings = firing, open_findings
        self._hourly_days, self._alertmanager = hourly_days, alertmanager
        self._cold, self._also_waiting = cold, also_waiting
        self._store, self._fleet, self._metrics, self._clock = store, fleet, metrics, clock
        self._watch, self._sighted, self._inbox_error = watch, sighted, inbox_error

    def waiting_for(self) -> str | None:
        """What readiness waits for; None once the first reads of meta tables and catalogs were attempted. A failing
        source does not block the pages.
        """
        if not self._store.attempted:
            return "the first read of the meta tables has not finished"
        return self._also_waiting()

    async def status(self) -> Status:
        """The last observed status; queries no source."""
        now_us, reading, watermark = self._clock.now(), self._store.reading, self._store.watermark
        tables = reading.lake.listed
        damaged = len(reading.lake.damaged) + sum(table.unreadable for table in tables)
        exists = reading.head.snapshots is not None
        return Status(
            version=__version__,
            now=to_millis(now_us),
            watermark=to_millis(watermark),
            lag_s=None if watermark is None else max(0.0, (now_us - watermark) / MICROS_PER_SECOND),
            run_id=reading.head.run_id,
            tables=len(tables) + len(reading.lake.damaged),
            unreadable=damaged,
            snapshots=sum(table.rows.height for table in tables) if exists or tables else None,
            jobs=self._jobs(),
            firing=self._firing(),
            open_findings=self._open_findings(),
            hourly_days=self._hourly_days,
            hot=HotIndex(bytes=self._store.nbytes, rows=self._store.rows, tables_shortened=len(reading.lake.edges)),
            sources=self._sources(now_us),
            hints=[*self._fleet.hints(reading), *filter(None, [about_patterns(self._sighted())])],
        )

    def _sources(self, now_us: int) -> list[SourceStatus]:
        reading, watch = self._store.reading, self._watch()
        meta_age = None if reading.read_at is None else (now_us - reading.read_at) / MICROS_PER_SECOND
        meta_status: Literal["ok", "stale", "error"] = "ok"
        if reading.error:
            meta_status = "stale" if reading.lake.histories else "error"
        found = [
            SourceStatus(
                id="meta",
                kind="meta",
                status=meta_status,
                age_s=meta_age,
                detail=str(reading.error) if reading.error else None,
                latency_s=self._store.refresh_s,
            ),
            self._pipeline(now_us),
            SourceStatus(
                id="watcher",
                kind="watcher",
                status=watch.status,
                age_s=None if watch.at is None else max(0.0, (now_us - watch.at) / MICROS_PER_SECOND),
                detail=watch.detail,
            ),
            *self._catalogs(now_us),
            *self._prometheus(),
            *self._trino(now_us),
            *self._active(now_us),
            *self._dropped(),
        ]
        inbox_error = self._inbox_error()
        status: Literal["ok", "error"] = "error" if inbox_error else "ok"
        return [*found, SourceStatus(id="inbox", kind="inbox", status=status, age_s=None, detail=inbox_error)]

    def _pipeline(self, now_us: int) -> SourceStatus:
        """By the mark of its newest successful pass. A pass that finds nothing new writes no row, so an old row alone
        is no fault.
        """
        written, passed = self._store.reading.head.written_at, self._last_pass()
        if written is None and passed is None:
            return SourceStatus(
                id="pipeline", kind="pipeline", status="absent", age_s=None, detail="no pass has run yet"
            )
        age = (now_us - max(at for at in (written, passed) if at is not None)) / MICROS_PER_SECOND
        if passed is None or age <= self._limits.pass_age_s:
            return SourceStatus(id="pipeline", kind="pipeline", status="ok", age_s=age, detail=None)
        detail = f"no pass has succeeded for {seconds(age)}; see the pipeline's log"
        return SourceStatus(id="pipeline", kind="pipeline", status="stale", age_s=age, detail=detail)

    def _catalogs(self, now_us: int) -> list[SourceStatus]:
        """One status for each catalog that the watcher reads."""
        sighted = self._sighted()
        seen = sighted.catalogs if sighted else ()
        answered = self._store.catalogs([each.name for each in seen])
        return [_catalog(each, answered.get(each.name, (None, False))[0], now_us) for each in seen]

    def _prometheus(self) -> list[SourceStatus]:
        """One status for each configured server."""
        if self._metrics is None:
            return [
                SourceStatus(id="prometheus", kind="prometheus", status="absent", age_s=None, detail="not configured")
            ]
        return [_measured(source) for source in self._metrics.sources]

    def _trino(self, now_us: int) -> list[SourceStatus]:
        """The engine for old rows, if it differs from the one that reads new rows."""
        if self._cold is None:
            return []
        error, last = self._cold.error, self._cold.last_success
        detail = f"{error}; older rows are read without Trino, more slowly" if error else None
        return [
            SourceStatus(
                id=self._cold.name,
                kind="trino",
                status="error" if error else "ok",
                age_s=None if last is None else (now_us - last) / MICROS_PER_SECOND,
                detail=detail,
                breaker=self._cold.breaker.state,
                latency_s=self._cold.counts.last_s,
            )
        ]

    def _dropped(self) -> list[SourceStatus]:
        """Events of Trino, if any were dropped since the server's start."""
        count, recent = self._trino_events.dropped() if self._trino_events else (0, False)
        if not count:
            return []
        detail = f"{count} events dropped: more than {PER_SECOND:.0f} a second"
        return [
            SourceStatus(
                id="trino events", kind="trino", status="error" if recent else "stale", age_s=None, detail=detail
            )
        ]

    def _active(self, now_us: int) -> list[SourceStatus]:
        """Alertmanager, if configured: queried only while an alert is open."""
        checks = self._alertmanager
        if checks is None or not checks.asks:
            return []
        last, error = checks.last_success, checks.error
        return [
            SourceStatus(
                id="alertmanager",
                kind="alertmanager",
                status="error" if error else "ok",
                age_s=None if last is None else (now_us - last) / MICROS_PER_SECOND,
                detail=str(error) if error else None if last else "queried only while an alert is open",
                latency_s=checks.latency_s,
            )
        ]


def _catalog(seen: CatalogSeen, answered_at: Micros | None, now_us: int) -> SourceStatus:
    status: Literal["ok", "stale", "error"] = "stale" if seen.trouble else "ok"
    return SourceStatus(
        id=f"catalog:{seen.name}",
        kind="catalog",
        status=status if seen.answers else "error",
        age_s=None if answered_at is None else max(0.0, (now_us - answered_at) / MICROS_PER_SECOND),
        detail=seen.trouble or f"{seen.tables:,} table{'' if seen.tables == 1 else 's'}",
        latency_s=seen.seconds,
    )


def _measured(source: CoalescedSource) -> SourceStatus:
    error, age = source.last_error, source.age_s()
    status: Literal["ok", "stale", "error"] = "stale" if age is not None and age > _STALE_S else "ok"
    return SourceStatus(
        id=source.name,
        kind="prometheus",
        status="error" if error else status,
        age_s=age,
        detail=str(error) if error else None,
        breaker=source.breaker.state,
        latency_s=source.counts.last_s,
    )
