"""Builds the pipeline's own metrics: metered passes and drains, and the exporter."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from limnograph.adapters.inbox.store import SqlInbox
from limnograph.adapters.prometheus.exporter import Exporter
from limnograph.adapters.system_clock import SystemClock
from limnograph.domain.metrics.pipeline import PIPELINE_METRICS
from limnograph.ports.meter import Meter, NullMeter
from limnograph.services.pipeline.backoff import BackOff
from limnograph.services.pipeline.metering import MeteredDrain, MeteredPasses, PassMeter
from limnograph.settings import Settings
from limnograph.wiring import pipeline
from limnograph.wiring.observe import SettingsLake

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@contextmanager
def exported(settings: Settings, progress: Callable[[str], None]) -> Iterator[Meter]:
    """A meter, exposed at the configured address. Raises EnvironmentFault if that address is unavailable."""
    address = settings.pipeline.metrics_address
    if address is None:
        yield NullMeter()
        return
    exporter = Exporter(PIPELINE_METRICS)
    host, _ = address
    port = exporter.listen(*address)
    progress(f"metrics on http://{f'[{host}]' if ':' in host else host}:{port}/metrics")
    try:
        yield exporter
    finally:
        exporter.close()


def metered_passes(
    settings: Settings,
    session: SparkSession,
    meter: Meter,
    *,
    progress: Callable[[str], None],
    backoff: BackOff,
    stop: Callable[[], bool] = lambda: False,
    lake: SettingsLake | None = None,
) -> MeteredPasses:
    """The passes of `wiring/pipeline.py`, metered."""
    told = PassMeter(meter, SystemClock(), backoff, settings.catalogs)
    made = pipeline.passes(
        settings, session, progress=progress, backoff=backoff, meter=meter, told=told, stop=stop, lake=lake
    )
    return MeteredPasses(made, told)


def metered_drain(
    settings: Settings, session: SparkSession, meter: Meter, *, progress: Callable[[str], None]
) -> MeteredDrain:
    """The drain of `wiring/pipeline.py`, metered."""
    made = pipeline.drain(settings, session, progress=progress, meter=meter)
    return MeteredDrain(made, SqlInbox(settings.inbox_url), meter)
