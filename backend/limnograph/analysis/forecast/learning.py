"""Learns the calibration of a model from the pasts of many fleets, and gives each fleet only what was known by then."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from limnograph.analysis.forecast.adaptation import Adaptation, adapt, own_questions
from limnograph.analysis.forecast.grid import HOUR_MS
from limnograph.analysis.forecast.load import common_load
from limnograph.analysis.forecast.model import Model
from limnograph.analysis.forecast.past import PastQuestions, joined
from limnograph.analysis.forecast.series import HistoryGrid
from limnograph.domain.forecasts.cases import ForecastCase
from limnograph.domain.time import Millis

MOST_TABLES = 1_500
"""Tables whose past is used: more change the corrections by less than their noise."""


class FleetPasts:
    """Questions and outcomes of fleets' pasts. Used by one thread."""

    def __init__(self) -> None:
        self._parts: list[PastQuestions] = []
        self._tables = 0
        self._fitted: dict[int, Adaptation] = {}

    def add(self, cases: Sequence[ForecastCase]) -> None:
        """Remember the past of one fleet, until enough tables are known."""
        wanted = list(cases[: max(MOST_TABLES - self._tables, 0)])
        if not wanted:
            return
        self._tables += len(wanted)
        load = common_load([case.runs for case in wanted if case.runs])
        asked = own_questions([HistoryGrid(case, load=load) for case in wanted])
        if len(asked.crossed):
            self._parts.append(asked)
            self._fitted.clear()

    def adaptation(self, model: Model, as_of: Millis) -> Adaptation:
        """Corrections of `model` by outcomes that were known at `as_of`."""
        hour = as_of // HOUR_MS
        if hour not in self._fitted:
            self._fitted[hour] = adapt(model, joined([_until(part, hour) for part in self._parts]))
        return self._fitted[hour]


def _until(asked: PastQuestions, hour: int) -> PastQuestions:
    crossings, quantiles = asked.cross_ends <= hour, asked.quantile_ends <= hour
    if crossings.all() and quantiles.all():
        return asked
    return PastQuestions(
        *(
            np.asarray(values)[crossings if name.startswith("cross") else quantiles]
            for name, values in zip(PastQuestions._fields, asked, strict=True)
        )
    )
