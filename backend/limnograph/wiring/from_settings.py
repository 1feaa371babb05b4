"""Builds the server's services from settings, over the real adapters."""

from __future__ import annotations

import sys
from pathlib import Path

from limnograph.adapters.alertmanager import Alertmanager
from limnograph.adapters.counters.file import CounterFile
from limnograph.adapters.inbox.plan_states import SqlPlanStates
from limnograph.adapters.inbox.store import SqlInbox
from limnograph.adapters.system_clock import SystemClock
from limnograph.services.jobs.discovery import ConfiguredJob
from limnograph.services.server.live import Caps
from limnograph.services.table.objectives import FreshnessObjectives
from limnograph.settings import PrometheusSettings, Settings
from limnograph.settings.prices import prices_of
from limnograph.wiring.cold import cold_engine, metrics_sources
from limnograph.wiring.finding_limits import limits_of, objectives_of, readers_of
from limnograph.wiring.on_request.advice import AdvisedTables, with_advice
from limnograph.wiring.on_request.storage import with_storage
from limnograph.wiring.server import ServerServices, build_services
from limnograph.wiring.server_options import ServerOptions
from limnograph.wiring.watching import embedded_engine

MB = 1_000_000


def build(settings: Settings, config: Path, *, watch: bool) -> ServerServices:
    """The services over the real adapters. Opens no connection yet."""
    command = (sys.executable, "-m", "limnograph.jobs.watcher", "--config", str(config)) if watch else ()
    engine, clock, inbox = embedded_engine(settings), SystemClock(), SqlInbox(settings.inbox_url)
    options = ServerOptions(
        engine,
        inbox,
        clock,
        metrics_sources(settings),
        cold=cold_engine(settings, engine, clock),
        hourly_days=settings.retention.hourly_days,
        fresh=engine,
        hot_bytes=settings.server.hot_mb * MB,
        caps=Caps(settings.server.streams, settings.server.streams_per_caller),
        counters=CounterFile(settings.state_dir / "counters.json"),
        configured=tuple(
            ConfiguredJob(
                name=job.name,
                reads=job.reads,
                writes=job.writes,
                select=job.select,
                promql=job.promql,
                median=job.median,
                load=job.load,
                cpu=job.cpu,
                spill=job.spill,
                executors=job.executors,
                memory=job.memory,
                prometheus=job.prometheus,
            )
            for job in settings.jobs
        ),
        watch_command=command,
        meta=f"{settings.meta_catalog}.{settings.meta.namespace}",
        catalogs=settings.catalogs,
        trino_catalogs=_trino_catalogs(settings),
        active=Alertmanager(settings.alertmanager.url) if settings.alertmanager else None,
        alertmanager=settings.alertmanager.public_url or settings.alertmanager.url if settings.alertmanager else None,
        owners=tuple((each.tables, each.owner) for each in settings.owners),
        limits=limits_of(settings.findings),
        objectives=FreshnessObjectives(
            [
                (each.tables, each.freshness_seconds)
                for each in settings.objectives
                if each.freshness_seconds is not None
            ]
        ),
        promised=objectives_of(settings),
        readers=readers_of(settings),
        private_columns=settings.observe.columns.private,
        prices=prices_of(settings.prices),
        forecast_budget=settings.forecast.budget,
        graphs={name: found for name, server in settings.prometheus.items() if (found := _public(server))},
    )
    services = with_storage(build_services(options), settings)
    return with_advice(services, AdvisedTables(settings), prices_of(settings.prices), SqlPlanStates(inbox.database))


def _public(server: PrometheusSettings) -> str:
    """Public address of a Prometheus, for links; never one that contains a password."""
    return server.public_url or ("" if "@" in server.url else server.url)


def _trino_catalogs(settings: Settings) -> dict[str, str]:
    """Names of catalogs by Trino's names: those in the settings, and the catalog of the meta tables."""
    trino = settings.trino
    if trino is None:
        return {}
    return {**({trino.catalog: settings.meta_catalog} if trino.catalog else {}), **trino.catalogs}
