"""`limnograph forecast` as a program: one pass, passes until a signal, or a training, in one Spark session."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from limnograph.domain.errors import LimnographError
from limnograph.services.housekeeping.forecasting import ForecastReport, ForecastStep
from limnograph.services.housekeeping.model_training import TrainingReport
from limnograph.settings import Settings
from limnograph.wiring import pipeline as wiring
from limnograph.wiring.forecasting import model_training, standing_step

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Progress = Callable[[str], None]


def forecast_once(settings: Settings, progress: Progress, *, verbose: bool = False) -> ForecastReport:
    """One pass. Raises EnvironmentFault, SettingsError, SourceError, Conflict."""
    with _step(settings, progress, verbose=verbose) as step:
        return step.run()


def forecast_always(
    settings: Settings,
    every_s: float,
    progress: Progress,
    report: Callable[[ForecastReport], None],
    *,
    verbose: bool = False,
) -> None:
    """Passes until SIGTERM or SIGINT, with `report` called after each. A pass that fails is logged and retried at the
    next one.
    """
    stop = threading.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, lambda *_: stop.set())
    with _step(settings, progress, verbose=verbose) as step:
        progress(f"forecasts every {every_s / 3_600:g} h")
        while not stop.is_set():
            try:
                report(step.run())
            except LimnographError as error:
                progress(f"this pass failed, the next one retries: {error}")
            stop.wait(every_s)


def train_once(settings: Settings, progress: Progress, *, verbose: bool = False) -> TrainingReport:
    """Train the model on the tables of the meta tables. Raises EnvironmentFault, SettingsError, SourceError."""
    with _session(settings, verbose=verbose) as session:
        return model_training(settings, session, progress).run()


@contextmanager
def _step(settings: Settings, progress: Progress, *, verbose: bool) -> Iterator[ForecastStep]:
    with _session(settings, verbose=verbose) as session:
        yield standing_step(settings, session, progress)


@contextmanager
def _session(settings: Settings, *, verbose: bool) -> Iterator[SparkSession]:
    session = wiring.spark_session(settings, "limnograph-forecast", verbose=verbose)
    try:
        yield session
    finally:
        session.stop()
