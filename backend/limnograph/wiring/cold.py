"""Builds the sources other than the hot index from settings: Trino with polars as fallback, and every Prometheus."""

from __future__ import annotations

from typing import TYPE_CHECKING

from limnograph.adapters.embedded.engine import EmbeddedEngine
from limnograph.adapters.prometheus.client import PrometheusClient
from limnograph.domain.errors import EnvironmentFault
from limnograph.ports.clock import Clock
from limnograph.services.sources.cold_reads import ColdEngine
from limnograph.settings import PrometheusSettings, Settings, TrinoSettings

if TYPE_CHECKING:
    from limnograph.adapters.trino.engine import TrinoEngine


def cold_engine(settings: Settings, embedded: EmbeddedEngine, clock: Clock) -> ColdEngine | None:
    """Trino with `embedded` as fallback; None without `[trino]`. Raises EnvironmentFault if its client is missing."""
    if settings.trino is None or not settings.trino.url:
        return None
    return ColdEngine(trino_engine(settings.trino, settings.meta.namespace, embedded), embedded, clock)


def trino_engine(trino: TrinoSettings, namespace: str, pins: EmbeddedEngine) -> TrinoEngine:
    """The engine for Trino; its client is an optional dependency (extra)."""
    try:
        from limnograph.adapters.trino.asking import Coordinator
        from limnograph.adapters.trino.engine import TrinoEngine
    except ModuleNotFoundError as error:
        raise EnvironmentFault("[trino] requires the Trino client: pip install 'limnograph[trino]'") from error
    at = Coordinator(
        url=trino.url,
        catalog=trino.catalog,
        schema=trino.schema or namespace,
        user=trino.user,
        password=trino.password,
        token=trino.token,
        ca_file=trino.ca_certificates,
        timeout_s=trino.timeout_seconds,
        concurrent=trino.concurrent,
    )
    return TrinoEngine(at, pins)


def metrics_sources(settings: Settings) -> list[PrometheusClient]:
    """Clients in the order of the settings; if several servers have a series, the first is used."""
    return [metrics_source(name, prometheus) for name, prometheus in settings.prometheus.items()]


def metrics_source(name: str, prometheus: PrometheusSettings) -> PrometheusClient:
    """The client of one server."""
    return PrometheusClient(
        name,
        prometheus.url,
        timeout_seconds=prometheus.timeout_seconds,
        max_series=prometheus.max_series,
        bearer_token=prometheus.bearer_token,
    )
