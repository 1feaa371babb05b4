"""The server put together: adapters -> services -> the routes' backend, and what runs beside them."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from types import MappingProxyType

from limnograph.adapters.watch.process import WatchProcess
from limnograph.domain.answers.alerts import AlertStreamEvent
from limnograph.domain.answers.commits import CommitDetail, CommitsPage
from limnograph.domain.answers.tables import SourceStatus
from limnograph.domain.ids import TableName
from limnograph.domain.queries import CommitsQuery
from limnograph.domain.watch import ProbeRound, Sighted, WatchState
from limnograph.ports.active_alerts import ActiveAlerts
from limnograph.ports.clock import Clock
from limnograph.ports.counters import CounterStore
from limnograph.ports.hot_source import Fresh
from limnograph.ports.inbox import Inbox
from limnograph.ports.metrics_source import MetricsSource
from limnograph.ports.query_engine import QueryEngine
from limnograph.services.alerts.episode import Episode
from limnograph.services.alerts.pages import AlertPages
from limnograph.services.alerts.registry import AlertRegistry
from limnograph.services.alerts.staleness import AlertStaleness
from limnograph.services.alerts.views import view
from limnograph.services.events.intake import EventIntake
from limnograph.services.events.naming import KnownTable, TableResolver
from limnograph.services.events.reported_commits import ReportedCommits
from limnograph.services.explain.labels import Labels
from limnograph.services.explain.page import ExplainPages
from limnograph.services.fleet.gauges import TableGauges
from limnograph.services.fleet.page import FleetService
from limnograph.services.jobs.discovery import ConfiguredJob, Jobs
from limnograph.services.jobs.runs import RunRegistry
from limnograph.services.lake.lake import Facts
from limnograph.services.lake.store import HotStore
from limnograph.services.pipeline.pass_marks import InboxState
from limnograph.services.server.backend import Backend
from limnograph.services.server.live import Caps, Live
from limnograph.services.server.live_lake import LiveLake
from limnograph.services.server.status import StatusService
from limnograph.services.server.versions import LakeVersions
from limnograph.services.sources.cold_reads import WITHIN_S, ColdEngine, ColdReads
from limnograph.services.sources.metrics import Metrics
from limnograph.services.sources.query_counts import CountedSource
from limnograph.services.table.commit import CommitDetails
from limnograph.services.table.commit_list import CommitLists
from limnograph.services.table.objectives import FreshnessObjectives
from limnograph.services.table.overview import TableService
from limnograph.services.table.partitions.page import PartitionPages
from limnograph.services.table.refs.page import RefPages
from limnograph.services.table.schema.page import SchemaPages
from limnograph.services.timeline.tier_reader import TierReader
from limnograph.services.timeline.timeline import TimelineService
from limnograph.services.watcher.viewed import ViewedTables
from limnograph.wiring import beside


class Commits:
    """CommitPages of `services/server/backend.py`: the lists and the page of one. Immutable after construction."""

    def __init__(self, lists: CommitLists, details: CommitDetails) -> None:
        self._lists, self._details = lists, details

    async def page(self, query: CommitsQuery) -> CommitsPage:
        """A page of commits."""
        return await self._lists.page(query)

    async def detail(self, name: TableName, snapshot_id: int) -> CommitDetail:
        """One commit."""
        return await self._details.detail(name, snapshot_id)


class ServerServices:
    """Services over given adapters; `build` gives the real ones, tests give those in memory. Changed on the event loop
    only, while the server starts and stops.
    """

    def __init__(
        self,
        engine: QueryEngine,
        inbox: Inbox,
        source: MetricsSource | Sequence[MetricsSource] | None,
        clock: Clock,
        *,
        cold: ColdEngine | None = None,
        cold_within_s: float = WITHIN_S,
        hourly_days: int = 400,
        fresh: Fresh | None = None,
        hot_bytes: int | None = None,
        counters: CounterStore | None = None,
        caps: Caps = Caps(),  # noqa: B008
        configured: tuple[ConfiguredJob, ...] = (),
        watch_command: tuple[str, ...] = (),
        meta: str = "limnograph",
        catalogs: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
        active: ActiveAlerts | None = None,
        alertmanager: str | None = None,
        graphs: Mapping[str, str] = MappingProxyType({}),
        objectives: FreshnessObjectives = FreshnessObjectives(),  # noqa: B008  # immutable
    ) -> None:
        reads = ColdReads(cold_within_s)
        self.store = HotStore(engine, clock, cold=cold, fresh=fresh, most_bytes=hot_bytes, reads=reads)
        self._inbox, self._clock, self._catalogs = inbox, clock, tuple(catalogs)
        self.inbox_state = InboxState(inbox)
        self.runs = RunRegistry(inbox, engine, clock, reads=reads)
        given = [] if source is None else source if isinstance(source, Sequence) else [source]
        self._sources: Sequence[MetricsSource] = given
        self._metrics = Metrics(self._sources, clock) if self._sources else None
        self._cold, self._beginning = cold, False
        old = cold or engine
        self.watcher = WatchProcess(watch_command, self._probed) if watch_command else None
        self.alerts = AlertRegistry(inbox, engine, clock, reads=reads, tell=self._tell_alert)
        self._doubts = AlertStaleness(self.alerts, clock, self._metrics, active)
        self.jobs = jobs = Jobs(configured, self.runs, self._metrics, graphs)
        naming = TableResolver(catalogs, self._known, lambda: self.store.reading)
        fleet = FleetService(
            self.store, jobs, clock, alerts=self.alerts, sighted=self._sighted, catalogs=tuple(catalogs)
        )
        self.gauges = TableGauges(self.store, counters)
        self.reported = ReportedCommits()
        status = StatusService(
            self.store,
            fleet,
            self._metrics,
            clock,
            watch=self._watch_state,
            inbox_error=lambda: self.runs.error,
            cold=cold,
            also_waiting=self._waiting_for,
            hourly_days=hourly_days,
            alertmanager=self._doubts,
            last_pass=lambda: self.inbox_state.last_pass,
        )
        lists = CommitLists(self.store)
        self.backend = Backend(
            clock=clock,
            fleet=fleet,
            tables=TableService(self.store, jobs, clock),
            timelines=TimelineService(
                self.store,
                jobs,
                clock,
                meta,
                tiers=TierReader(old, hourly_days),
                viewed=ViewedTables(self._wake, clock),
                alerts=self.alerts,
                metrics=self._metrics,
                fresh_within_s=objectives,
            ),
            commits=Commits(lists, CommitDetails(self.store, old, jobs, clock)),
            partitions=PartitionPages(self.store, old, clock),
            schemas=SchemaPages(self.store, old, clock),
            refs=RefPages(self.store, old, clock),
            explanations=ExplainPages(self.store, jobs, clock, Labels(inbox, old, clock), meta),
            runs=self.runs,
            versions=LakeVersions(self.store, self.runs, self._metrics, self.alerts),
            alerts=AlertPages(
                self.alerts,
                lambda: [known.name for known in self._known()],
                lists.page,
                clock,
                metrics=self._metrics,
                active=active,
                alertmanager=alertmanager,
            ),
            events=EventIntake(self.runs, naming, clock, self._wake, self.reported),
            status=status,
            live=Live(caps),
            resolved=self.store.resolved,
        )
        self._live = LiveLake(self.store, self._source_states, self.backend.live)

    def _waiting_for(self) -> str | None:
        if self._beginning:
            return "the first read of the alerts has not finished"
        return self.watcher.first_look() if self.watcher else None

    def _begun(self) -> None:
        self._beginning = False

    def _tell_alert(self, episode: Episode) -> None:
        self.backend.live.publish("alert", AlertStreamEvent(alert=view(episode)))

    def _count(self) -> None:
        """Update and store counters even if `/metrics` is not scraped."""
        self.gauges.numbers()
        self.gauges.save()

    def own_metrics(self) -> dict[str, float | None]:
        """Numbers of SERVER_METRICS."""
        reading, live = self.store.reading, self.backend.live
        return {
            "limnograph_streams": live.readers,
            "limnograph_stream_events_total": live.told,
            "limnograph_streams_refused_total": live.refused,
            "limnograph_streams_dropped_total": live.dropped,
            "limnograph_hot_bytes": self.store.nbytes,
            "limnograph_hot_rows": self.store.rows,
            "limnograph_hot_tables": len(reading.lake.listed),
            "limnograph_hot_tables_shortened": len(reading.lake.edges),
            "limnograph_meta_up": float(reading.error is None),
            **self.inbox_state.numbers(reading.lake.observed_at),
        }

    def catalogs(self) -> dict[str, tuple[int | None, bool]]:
        """Of each catalog: when it last answered the watcher, and whether it did in the newest round."""
        return self.store.catalogs(self._catalogs)

    def asked_sources(self) -> list[CountedSource]:
        """Sources with the number of queries so far."""
        found = [CountedSource("meta", "meta", self.store.reads.counts)]
        if self._cold:
            found.append(CountedSource("trino", self._cold.name, self._cold.counts, self._cold.breaker))
        measured = self._metrics.sources if self._metrics else []
        return found + [CountedSource("prometheus", one.name, one.counts, one.breaker) for one in measured]

    async def _source_states(self) -> Sequence[SourceStatus]:
        return (await self.backend.status.status()).sources

    def _known(self) -> list[KnownTable]:
        """Tables that are known now, for names that others give them."""
        tables = self.store.reading.lake.listed
        return [KnownTable(table.name, table.seen.location) for table in tables if table.name is not None]

    def _wake(self, tables: Collection[TableName] = ()) -> None:
        if self.watcher:
            self.watcher.wake(tables)

    def _watch_state(self) -> WatchState:
        return self.watcher.state() if self.watcher else WatchState("absent", None, "switched off")

    def _sighted(self) -> Sighted | None:
        """What the watcher has seen; before its first message nothing of anything."""
        if self.watcher is None:
            return None
        return self.watcher.sighted or Sighted(0, 0, (), whole=False, troubles=())

    async def _probed(self, probed: ProbeRound) -> None:
        await asyncio.to_thread(self.store.apply, Facts(probed.snapshots, probed.changes))
        if probed.last:
            self.store.probed(probed.at, probed.read, probed.failed)

    @asynccontextmanager
    async def around(self) -> AsyncGenerator[None]:
        """What runs beside the routes: refresh of the hot store, the watcher."""
        self._beginning = True
        tasks = [
            asyncio.create_task(beside.refresh(self.store, self.runs)),
            asyncio.create_task(beside.first_alerts(self.alerts, self._begun)),
            asyncio.create_task(
                beside.keep_inbox(self._inbox, self.runs, self.alerts, self._clock, self._count, state=self.inbox_state)
            ),
            asyncio.create_task(beside.keep_doubting(self._doubts)),
            asyncio.create_task(self._live.run()),
            asyncio.create_task(
                beside.tell_first_tables(self.store, lambda: self.watcher.cpu_s if self.watcher else 0.0)
            ),
        ]
        if self._metrics:
            tasks.append(asyncio.create_task(beside.keep_asking(self._metrics, self._clock)))
        if self.watcher:
            tasks.append(asyncio.create_task(self.watcher.run()))
        if self._cold:
            tasks.append(asyncio.create_task(asyncio.to_thread(self._cold.warm)))
        try:
            yield
        finally:
            self.backend.live.close()
            for task in tasks:
                task.cancel()
            for task in tasks:
                with contextlib.suppress(asyncio.CancelledError):
                    await task
            for source in self._sources:
                await source.aclose()
