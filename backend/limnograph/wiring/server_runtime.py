"""Runs a server's services: starts and stops the background tasks."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Coroutine, Sequence
from contextlib import asynccontextmanager

from limnograph.domain.answers.tables import SourceStatus
from limnograph.services.server.live_lake import LiveLake
from limnograph.wiring import background_tasks
from limnograph.wiring.server import ServerServices


class ServerRuntime:
    """Starts and stops the background tasks. Used on the event loop only."""

    def __init__(self, services: ServerServices) -> None:
        self._services = services
        self._live_lake = LiveLake(services.store, self._source_states, services.live)

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Run the background tasks while the context is open, then close streams and sources."""
        services = self._services
        services.readiness.begin()
        tasks = [asyncio.create_task(work) for work in (*self._always(), *self._where_configured())]
        try:
            yield
        finally:
            services.live.close()
            for task in tasks:
                task.cancel()
            for task in tasks:
                with contextlib.suppress(asyncio.CancelledError):
                    await task
            for source in services.options.sources:
                await source.aclose()

    def _always(self) -> list[Coroutine[None, None, None]]:
        services = self._services
        options, alerts = services.options, services.alerts
        return [
            background_tasks.keep_refreshing(services.store, services.runs),
            background_tasks.read_first_alerts(alerts, services.readiness.alerts_read),
            background_tasks.keep_reading_inbox(
                options.inbox,
                services.runs,
                alerts,
                options.clock,
                self._count_commits,
                state=services.inbox_state,
            ),
            background_tasks.keep_reading_reports(services.read_log),
            background_tasks.keep_checking_alerts(services.staleness),
            background_tasks.keep_measuring_effects(services.measurer, services.store),
            background_tasks.keep_observing_jobs(services.job_findings, services.evaluator, services.store),
            background_tasks.keep_observing(services.observers, services.evaluator, services.store),
            background_tasks.keep_reading_notes(services.notes, services.team, services.backend.notes),
            background_tasks.keep_finding(services.evaluator, services.team, services.store, services.live),
            background_tasks.keep_measuring_findings(services.finding_effects, services.store),
            self._live_lake.run(),
            background_tasks.log_first_tables(services.store, services.watcher.cpu_s),
        ]

    def _where_configured(self) -> list[Coroutine[None, None, None]]:
        services = self._services
        options, watcher = services.options, services.watcher.process
        found: list[Coroutine[None, None, None]] = []
        if services.metrics:
            found.append(background_tasks.keep_probing_sources(services.metrics, options.clock))
        if watcher:
            found.append(watcher.run())
        if services.advisor:
            found.append(
                background_tasks.keep_advising(
                    services.advisor, (services.held, services.costs), services.evaluator, services.store
                )
            )
        if services.measured:
            found.append(background_tasks.keep_marking_plans(services.measured, services.store))
        if services.plans:
            found.append(background_tasks.keep_watching_plans(services.plans, services.live))
        found.append(background_tasks.keep_knowing_actions(services.actions, services.store))
        if options.cold:
            found.append(asyncio.to_thread(options.cold.warm))
        return found

    def _count_commits(self) -> None:
        """Count new commits even if `/metrics` is not scraped, and save the counters."""
        self._services.gauges.numbers()
        self._services.gauges.save()

    async def _source_states(self) -> Sequence[SourceStatus]:
        return (await self._services.backend.status.status()).sources
