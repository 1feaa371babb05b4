"""Trains the forecast model on a site's own tables. It takes the place of the model in use only if its probabilities
are better on the newest week.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Literal, Protocol

import msgspec
import polars as pl

from limnograph.analysis.forecast import Forecaster, Model
from limnograph.analysis.forecast.past import PastQuestions
from limnograph.analysis.forecast_rows.own_model import tried_model
from limnograph.analysis.forecast_rows.request import PastRequest
from limnograph.domain.errors import EnvironmentFault
from limnograph.domain.facts.meta_tables import DAILY, FORECASTS
from limnograph.domain.metrics import pipeline as metrics
from limnograph.domain.time import MICROS_PER_SECOND, Micros, truncated
from limnograph.ports.clock import Clock
from limnograph.ports.meta_upkeep import MetaUpkeep, Where
from limnograph.ports.meter import Meter
from limnograph.services.housekeeping import schedule
from limnograph.services.housekeeping.forecast_readers import ForecastReaders, KnownReaders
from limnograph.services.housekeeping.forecasting import SHOWN
from limnograph.services.rollups.fold import DAY, HOUR
from limnograph.services.rollups.marks import number

LEAST_TABLES = 1_000
"""A model of fewer tables is hardly better than none."""
MOST_TABLES = 1_500
"""Tables that are asked: more of them change the model by less than its noise."""
EVERY_S = 7 * schedule.DAY_SECONDS
BEGAN = "limnograph.training-began-at"
"""Property of `forecasts`: when the last training began, microseconds. It is set before the training, so that one that
takes its process along is not begun again at once.
"""
TrainingOutcome = Literal["replaced", "kept", "too_few_tables", "too_little_history"]


class PastReader(Protocol):
    """Reads the roll-ups of the requested tables and asks about their past."""

    def questions(self, request: PastRequest) -> PastQuestions:
        """Raises SourceError."""
        ...


class TrainedModels(Protocol):
    """Where the model of a site is kept."""

    def own(self) -> Forecaster | None:
        """The model of the site; None: none was trained. Raises EnvironmentFault if it cannot be read."""
        ...

    def keep(self, model: Model) -> None:
        """Replace it. Raises EnvironmentFault."""
        ...


class TrainingReport(msgspec.Struct, frozen=True):
    """The result. `model`: that forecasts are made with from now on; `brier_new`, `brier_old`: mean squared errors of
    both models' probabilities on the newest week; None: there was no trial.
    """

    outcome: TrainingOutcome
    model: str
    tables: int
    questions: int = 0
    brier_new: float | None = None
    brier_old: float | None = None

    @property
    def sentence(self) -> str:
        """Which model is in use from now on, and why."""
        scores = f"{self.brier_new} for the new model and {self.brier_old} for the one before"
        because = {
            "replaced": f"it is better: Brier score of the newest week {scores}",
            "kept": f"the new model is not better: Brier score of the newest week {scores}",
            "too_few_tables": f"a training needs more than the {self.tables} tables that had commits lately",
            "too_little_history": f"the past of {self.tables} tables has too few outcomes ({self.questions})",
        }[self.outcome]
        return f"forecasts are made with {self.model}; {because}"


class ModelTraining:
    """Training of one store. Used by one thread."""

    def __init__(
        self,
        upkeep: MetaUpkeep,
        reader: PastReader,
        models: TrainedModels,
        clock: Clock,
        *,
        shipped: Callable[[], Forecaster],
        readers: ForecastReaders | None = None,
        least_tables: int = LEAST_TABLES,
        progress: Callable[[str], None] = lambda _line: None,
    ) -> None:
        self._upkeep, self._reader, self._models, self._clock = upkeep, reader, models, clock
        self._shipped, self._readers, self._least, self._progress = shipped, readers, least_tables, progress

    def due(self) -> bool:
        """Whether the last training began a week ago, by whichever program. Raises SourceError."""
        began = Micros(number(self._upkeep.standing(FORECASTS).properties.get(BEGAN))) or None
        return schedule.passed(began, self._clock.now(), EVERY_S)

    def run(self) -> TrainingReport:
        """Train, and replace the model if the new one is better. Raises SourceError, EnvironmentFault."""
        now = self._clock.now()
        as_of = truncated(now, HOUR)
        old, tables = self._in_use(), self._tables(as_of)
        if len(tables) < self._least:
            return TrainingReport("too_few_tables", old.name, len(tables))
        self._upkeep.set_properties(FORECASTS, {BEGAN: str(now)})
        chosen = frozenset(tables[:MOST_TABLES])
        known = self._readers.known(as_of) if self._readers else KnownReaders()
        request = PastRequest(
            as_of=as_of,
            tables=chosen,
            readers={uuid: known.readers[uuid] for uuid in chosen & known.readers.keys()},
            load=known.load,
        )
        asked = self._reader.questions(request)
        day = datetime.fromtimestamp(as_of // MICROS_PER_SECOND, UTC).date().isoformat()
        trial = tried_model(asked, as_of // HOUR, old.model, f"own-{day}-{len(chosen)}-tables")
        if trial is None:
            return TrainingReport("too_little_history", old.name, len(tables), len(asked.crossed))
        if trial.is_better:
            # A past says when a reader crossed, not which part moved it: that is learnt from generated tables alone.
            self._models.keep(trial.model.with_choice_of(self._shipped().model))
        return TrainingReport(
            outcome="replaced" if trial.is_better else "kept",
            model=trial.model.name if trial.is_better else old.name,
            tables=len(tables),
            questions=trial.questions,
            brier_new=round(trial.brier_new, 5),
            brier_old=round(trial.brier_old, 5),
        )

    def _in_use(self) -> Forecaster:
        """The model to be better than. If it cannot be read, the one that ships with the product."""
        try:
            return self._models.own() or self._shipped()
        except EnvironmentFault as error:
            self._progress(str(error))
            return self._shipped()

    def _tables(self, as_of: Micros) -> list[str]:
        """Tables with commits lately; in the order of their uuids, which is random."""
        where = Where(start=Micros(truncated(as_of, DAY) - SHOWN), end=as_of)
        position = self._upkeep.standing(DAILY).position
        rows = self._upkeep.rows(DAILY, position, ("table_uuid",), where)
        return sorted(rows.select(pl.col("table_uuid").unique()).to_series().to_list())


def tell_training(meter: Meter, done: TrainingReport) -> None:
    """Report a training."""
    meter.add(metrics.FORECAST_TRAININGS, 1, done.outcome)
    meter.put(metrics.FORECAST_BRIER, done.brier_new, "new")
    meter.put(metrics.FORECAST_BRIER, done.brier_old, "in_use")
