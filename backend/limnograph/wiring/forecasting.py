"""Builds the forecast step from settings. Imports Spark only on use."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from limnograph.adapters.iceberg.catalogs.catalog import open_catalog
from limnograph.adapters.model_file import ModelFile
from limnograph.adapters.system_clock import SystemClock
from limnograph.analysis.forecast import load_model
from limnograph.domain.failpoints import Failpoints
from limnograph.ports.clock import Clock
from limnograph.ports.meta_store import MetaStore
from limnograph.ports.meta_upkeep import MetaUpkeep
from limnograph.ports.meter import Meter
from limnograph.services.housekeeping.backtest import ForecastBacktest
from limnograph.services.housekeeping.forecast_readers import ForecastReaders
from limnograph.services.housekeeping.forecast_steps import ForecastSteps
from limnograph.services.housekeeping.forecasting import ForecastStep
from limnograph.services.housekeeping.journal import Journal
from limnograph.services.housekeeping.model_training import ModelTraining
from limnograph.services.housekeeping.schedule import HOUR_SECONDS
from limnograph.services.rollups.step import Rollups
from limnograph.settings import Settings
from limnograph.settings.forecast import forecast_limits_of
from limnograph.wiring.finding_limits import objectives_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MODEL_FILE = "forecast-model.npz"
"""In the folder of the state."""


def standing_step(
    settings: Settings, session: SparkSession, progress: Callable[[str], None] = lambda _line: None
) -> ForecastStep:
    """The step over the configured meta tables, which are created if there are none."""
    store, upkeep = _meta(settings, session)
    return forecast_step(settings, session, upkeep, store, clock=SystemClock(), progress=progress)


def model_training(
    settings: Settings, session: SparkSession, progress: Callable[[str], None] = lambda _line: None
) -> ModelTraining:
    """The training on the tables of the configured meta tables."""
    _, upkeep = _meta(settings, session)
    return _training(settings, session, upkeep, SystemClock(), progress)


def forecast_steps(
    settings: Settings,
    session: SparkSession,
    upkeep: MetaUpkeep,
    store: MetaStore,
    *,
    journal: Journal,
    clock: Clock,
    failpoints: Failpoints,
    meter: Meter | None = None,
) -> ForecastSteps | None:
    """Steps of housekeeping; None if the settings leave forecasts out."""
    if not settings.forecast.enabled:
        return None
    training = _training(settings, session, upkeep, clock, lambda _line: None) if settings.forecast.train else None
    every_s = round(settings.forecast.every_hours * HOUR_SECONDS)
    step = forecast_step(settings, session, upkeep, store, clock=clock, failpoints=failpoints)
    return ForecastSteps(journal, step, training, every_s=every_s, meter=meter)


def _training(
    settings: Settings,
    session: SparkSession,
    upkeep: MetaUpkeep,
    clock: Clock,
    progress: Callable[[str], None],
) -> ModelTraining:
    from limnograph.adapters.spark.forecasting import SparkForecasting

    return ModelTraining(
        upkeep,
        SparkForecasting(session, settings.meta_catalog, settings.meta.namespace),
        own_models(settings),
        clock,
        shipped=load_model,
        readers=ForecastReaders(upkeep, objectives_of(settings)),
        progress=progress,
    )


def backtest(settings: Settings, progress: Callable[[str], None]) -> ForecastBacktest:
    """The backtest on the configured meta tables, without Spark."""
    from limnograph.adapters.meta.housekeeping_reads import UpkeepReads

    name, properties = settings.meta_catalog, settings.catalogs[settings.meta_catalog]
    reads = UpkeepReads(lambda: open_catalog(name, properties), settings.meta.namespace)
    return ForecastBacktest(
        reads,
        SystemClock(),
        own_models(settings).own() or load_model(),
        readers=ForecastReaders(reads, objectives_of(settings)),
        progress=progress,
    )


def own_models(settings: Settings) -> ModelFile:
    """Where the model is that was trained on this site's tables."""
    return ModelFile(settings.state_dir / MODEL_FILE)


def _meta(settings: Settings, session: SparkSession) -> tuple[MetaStore, MetaUpkeep]:
    from limnograph.adapters.spark.housekeeping import SparkUpkeep
    from limnograph.wiring.pipeline import meta_store

    name, properties = settings.meta_catalog, settings.catalogs[settings.meta_catalog]
    store = meta_store(settings, session)
    store.ensure()
    upkeep = SparkUpkeep(session, lambda: open_catalog(name, properties, write=True), settings.meta.namespace)
    return store, upkeep


def forecast_step(
    settings: Settings,
    session: SparkSession,
    upkeep: MetaUpkeep,
    store: MetaStore,
    *,
    clock: Clock,
    failpoints: Failpoints | None = None,
    progress: Callable[[str], None] = lambda _line: None,
) -> ForecastStep:
    """The step over the configured meta tables."""
    from limnograph.adapters.spark.forecasting import SparkForecasting

    models = own_models(settings)
    return ForecastStep(
        upkeep,
        store,
        Rollups(upkeep, clock, Failpoints(), settings.retention.hourly_days),
        SparkForecasting(session, settings.meta_catalog, settings.meta.namespace),
        clock,
        model=lambda: models.own() or load_model(),
        limits=forecast_limits_of(settings.forecast, settings.findings),
        readers=ForecastReaders(upkeep, objectives_of(settings)),
        failpoints=failpoints,
        progress=progress,
    )
