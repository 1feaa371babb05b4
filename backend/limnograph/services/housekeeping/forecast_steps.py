"""The steps of housekeeping around forecasts: the pass itself, and the training of the model that makes them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import msgspec

from limnograph.domain.facts.meta_tables import FORECASTS
from limnograph.domain.time import Micros
from limnograph.ports.meter import Meter, NullMeter
from limnograph.services.housekeeping import schedule
from limnograph.services.housekeeping.forecasting import ForecastStep, tell_forecast
from limnograph.services.housekeeping.journal import Journal, StepKey
from limnograph.services.housekeeping.model_training import ModelTraining, tell_training
from limnograph.services.housekeeping.step import HousekeepingStep, StepOutcome

_FORECAST = StepKey("forecast", FORECASTS.name)
_TRAIN = StepKey("train", FORECASTS.name)


class ForecastSteps:
    """Decides when they are due. Two steps, so that a training that fails or dies never stops forecasts."""

    def __init__(
        self,
        journal: Journal,
        forecasting: ForecastStep,
        training: ModelTraining | None = None,
        *,
        every_s: int = schedule.DAY_SECONDS,
        meter: Meter | None = None,
    ) -> None:
        self._journal, self._forecasting, self._training = journal, forecasting, training
        self._every_s, self._meter = every_s, meter or NullMeter()

    def forecast(self, now: Micros) -> Iterator[HousekeepingStep]:
        """The pass of forecasts, if it is due."""
        if schedule.passed(self._journal.last(_FORECAST), now, self._every_s) and self._forecasting.behind():
            yield HousekeepingStep(_FORECAST, FORECASTS, self._run_forecast)

    def train(self, now: Micros) -> Iterator[HousekeepingStep]:
        """The training, if it is due; whether there are enough tables is checked daily."""
        if self._training is None or not schedule.passed(self._journal.last(_TRAIN), now, schedule.DAY_SECONDS):
            return
        if self._training.due():
            yield HousekeepingStep(_TRAIN, FORECASTS, partial(self._run_training, self._training))

    def _run_forecast(self) -> StepOutcome:
        done = self._forecasting.run()
        tell_forecast(self._meter, done)
        detail = {"tables": done.tables, "judged": done.judged, "failed": done.failed, "model": done.model}
        return StepOutcome(did=bool(done.rows or done.judged or done.failed), rows=done.rows, detail=detail)

    def _run_training(self, training: ModelTraining) -> StepOutcome:
        done = training.run()
        tell_training(self._meter, done)
        did = done.outcome != "too_few_tables"
        return StepOutcome(did=did, detail=msgspec.to_builtins(done), note=done.sentence)
