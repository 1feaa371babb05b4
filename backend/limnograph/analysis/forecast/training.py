"""Trains a model from tables' own pasts: trees with scikit-learn (extra `forecast`), else the logistic fallback."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from limnograph.analysis.forecast.features import CROSS_FEATURES
from limnograph.analysis.forecast.grid import DAY_H, Floats
from limnograph.analysis.forecast.load import FleetLoad, common_load
from limnograph.analysis.forecast.logistic import fit_logistic
from limnograph.analysis.forecast.model import QUANTILES, Model, quantile_table
from limnograph.analysis.forecast.past import PastQuestions, past_questions
from limnograph.analysis.forecast.series import HistoryGrid
from limnograph.analysis.forecast.trees import Trees, from_boosting
from limnograph.domain.errors import EnvironmentFault
from limnograph.domain.forecasts.cases import ForecastCase

HORIZONS = (24, 72, 168, 336, 720)
CUT_DAYS = (7, 14, 21, 30)
"""Days before the end of a history at which questions are asked."""
LEAST_QUESTIONS = 500
_LOWER = {"room": -1, "room_state": -1, "path_p": 1}


def train(
    cases: Sequence[ForecastCase], name: str, *, trees: bool = True, load: FleetLoad | None = None, seed: int = 1
) -> Model | None:
    """A model of these tables' own pasts; None if they hold too few questions. Cases of one fleet.

    trees  needs scikit-learn; without it raises EnvironmentFault
    """
    asked = questions_of(cases, load, seed)
    return fit(asked, name, trees=trees, seed=seed) if len(asked.crossed) >= LEAST_QUESTIONS else None


def questions_of(cases: Sequence[ForecastCase], load: FleetLoad | None = None, seed: int = 1) -> PastQuestions:
    """Questions of one fleet's own past."""
    common = common_load([each.runs for each in cases if each.runs]) if load is None else load
    series = [HistoryGrid(case, load=common) for case in cases]
    cuts = [[each.hours - days * DAY_H for days in CUT_DAYS] for each in series]
    return past_questions(series, cuts, HORIZONS, seed)


def fit(asked: PastQuestions, name: str, *, trees: bool = True, seed: int = 1, rounds: int = 150) -> Model:
    """A model of these questions."""
    table = quantile_table(asked)
    logistic = fit_logistic(asked.cross, asked.crossed)
    if not trees:
        return Model(name, logistic, None, (), table)
    boosting = _boosting()
    signs = [_LOWER.get(feature, 0) for feature in CROSS_FEATURES]
    rows, moves = _varied(asked.cross), _varied(asked.quantile)
    cross = boosting.HistGradientBoostingClassifier(
        max_iter=rounds,
        learning_rate=0.07,
        max_leaf_nodes=24,
        min_samples_leaf=50,
        max_bins=127,
        l2_regularization=2.0,
        max_features=0.4,
        monotonic_cst=signs,
        early_stopping=False,
        random_state=seed,
    ).fit(rows, asked.crossed)
    z = np.clip((asked.moved - asked.centre) / asked.width, -40, 40)
    quantiles = tuple(_fit_quantile(boosting, moves, z, each, seed=seed, rounds=rounds // 2) for each in QUANTILES)
    return Model(name, logistic, from_boosting(cross), quantiles, table)


def _fit_quantile(boosting: Any, rows: Floats, z: Floats, quantile: float, *, seed: int, rounds: int) -> Trees:
    model = boosting.HistGradientBoostingRegressor(
        loss="quantile",
        quantile=quantile,
        max_iter=rounds,
        learning_rate=0.07,
        max_leaf_nodes=16,
        min_samples_leaf=60,
        max_bins=127,
        max_features=0.4,
        early_stopping=False,
        random_state=seed,
    )
    return from_boosting(model.fit(rows, z))


def _varied(rows: Floats) -> Floats:
    """The rows with two values in each column, which scikit-learn needs to find thresholds: small fleets lack some."""
    found = rows.copy()
    for column in found.T:
        values = column[np.isfinite(column)]
        if not values.size or values.min() == values.max():
            column[:2] = (values[0] if values.size else 0.0) + np.arange(2)
    return found


def _boosting() -> Any:
    try:
        from sklearn import ensemble
    except ImportError as error:
        raise EnvironmentFault("training trees needs scikit-learn: pip install 'limnograph[forecast]'") from error
    return ensemble
