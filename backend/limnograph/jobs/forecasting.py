"""`limnograph forecast` as a program: one pass, passes until a signal, or a training, in one Spark session."""

from __future__ import annotations

import logging
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from limnograph.domain.errors import LimnographError
from limnograph.jobs.logs import cause
from limnograph.services.housekeeping.forecasting import ForecastReport
from limnograph.services.housekeeping.model_training import ModelTraining, TrainingReport
from limnograph.settings import Settings
from limnograph.wiring import pipeline as wiring
from limnograph.wiring.forecasting import model_training, standing_step

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Progress = Callable[[str], None]
_log = logging.getLogger("limnograph.forecast")


def forecast_once(settings: Settings, progress: Progress, *, verbose: bool = False) -> ForecastReport:
    """One pass. Raises EnvironmentFault, SettingsError, SourceError, Conflict."""
    with _session(settings, verbose=verbose) as session:
        return standing_step(settings, session, progress).run()


def forecast_always(
    settings: Settings,
    every_s: float,
    progress: Progress,
    report: Callable[[ForecastReport], None],
    *,
    verbose: bool = False,
) -> None:
    """Passes until SIGTERM or SIGINT, with `report` called after each, and after a pass the training of the model if it
    is due. A pass that fails is logged and retried at the next one; a training that fails stops no pass.
    """
    stop = threading.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, lambda *_: stop.set())
    with _session(settings, verbose=verbose) as session:
        step = standing_step(settings, session, progress)
        training = model_training(settings, session, progress) if settings.forecast.train else None
        progress(f"forecasts every {every_s / 3_600:g} h")
        while not stop.is_set():
            try:
                report(step.run())
            except LimnographError as error:
                progress(f"this pass failed, the next one retries: {error}")
            if training is not None and not stop.is_set():
                train_if_due(training, progress)
            stop.wait(every_s)


def train_if_due(training: ModelTraining, progress: Progress) -> None:
    """Train the model if a week has passed since the last training. Never raises."""
    try:
        if training.due() and (done := training.run()).outcome != "too_few_tables":
            progress(done.sentence)
    except Exception as error:  # noqa: BLE001 - forecasts go on with the model in use
        _log.exception("training failed")
        progress(f"the training of the model failed, forecasts go on with the one in use: {cause(error)}")


def train_once(settings: Settings, progress: Progress, *, verbose: bool = False) -> TrainingReport:
    """Train the model on the tables of the meta tables. Raises EnvironmentFault, SettingsError, SourceError."""
    with _session(settings, verbose=verbose) as session:
        return model_training(settings, session, progress).run()


@contextmanager
def _session(settings: Settings, *, verbose: bool) -> Iterator[SparkSession]:
    session = wiring.spark_session(settings, "limnograph-forecast", verbose=verbose)
    try:
        yield session
    finally:
        session.stop()
