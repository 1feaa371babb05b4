"""A trained model as plain arrays: trees or a logistic regression, and quantiles by horizon as a fallback."""

from __future__ import annotations

import io
from pathlib import Path
from typing import NamedTuple

import numpy as np

from limnograph.analysis.forecast.choice import TREE_SIGNS
from limnograph.analysis.forecast.drivers import NO_WEIGHTS, WEIGHTS
from limnograph.analysis.forecast.features import CROSS_FEATURES, QUANTILE_FEATURES
from limnograph.analysis.forecast.grid import Floats
from limnograph.analysis.forecast.logistic import Logistic
from limnograph.analysis.forecast.past import PastQuestions
from limnograph.analysis.forecast.trees import Trees
from limnograph.analysis.forecast.tuning import Tuning, no_tuning, stored_tuning
from limnograph.analysis.forecast.views import METRICS
from limnograph.domain.errors import InvalidInput

QUANTILES = (0.1, 0.5, 0.9)
STEPS = (24, 72, 168, 336, 720)
FORMAT = 1
NO_TUNING = no_tuning(len(STEPS), len(METRICS))


class Model(NamedTuple):
    """`cross`: None: `logistic` answers; `quantiles`: three, or empty: `table[step, quantile]` answers, in units of the
    bootstrap's width around its median. `tuning`: what is known of its calibration. `driver_trees`: choose a reader's
    driver; None: weights `drivers` of a logit do, empty if there are none.
    """

    name: str
    logistic: Logistic
    cross: Trees | None
    quantiles: tuple[Trees, ...]
    table: Floats
    tuning: Tuning = NO_TUNING
    drivers: Floats = NO_WEIGHTS
    driver_trees: Trees | None = None

    def crossing(self, rows: Floats) -> Floats:
        """Log odds of a crossing, by rows of `CROSS_FEATURES`."""
        return (self.cross or self.logistic).predict(rows)

    def moves(self, rows: Floats, hours: int) -> Floats:
        """Quantiles of the move in units of the bootstrap, `[3, row]`, by rows of `QUANTILE_FEATURES`."""
        if self.quantiles:
            found = np.stack([each.predict(rows) for each in self.quantiles])
        else:
            found = np.repeat(self.table[step_of(hours)][:, None], len(rows), axis=1)
        return np.sort(found, axis=0)

    def with_choice_of(self, other: Model) -> Model:
        """The same forecasts, with a reader's driver chosen as `other` does."""
        return self._replace(drivers=other.drivers, driver_trees=other.driver_trees)

    def to_bytes(self) -> bytes:
        """The file of the model: arrays only, nothing that executes."""
        arrays = {
            "format": np.array(FORMAT),
            "name": np.array(self.name),
            "features": np.array("\n".join([*CROSS_FEATURES, "", *QUANTILE_FEATURES])),
            "table": self.table,
            "drivers": self.drivers,
            **self.tuning.arrays(),
            **self.logistic.arrays("logistic"),
            **(self.cross.arrays("cross") if self.cross else {}),
        }
        if self.driver_trees:
            arrays |= {"choice.signs": np.array("\n".join(TREE_SIGNS)), **self.driver_trees.arrays("choice")}
        for quantile, each in zip(QUANTILES, self.quantiles, strict=False):
            arrays |= each.arrays(f"q{quantile}")
        file = io.BytesIO()
        np.savez_compressed(file, allow_pickle=False, **arrays)
        return file.getvalue()


def parse_model(content: bytes) -> Model:
    """The model of a file. Raises InvalidInput if it is not one, or of features that this version does not compute."""
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as stored:
            arrays = dict(stored)
    except (ValueError, OSError, EOFError) as error:
        raise InvalidInput("model", "is not a model file") from error
    if "features" not in arrays or int(arrays.get("format", 0)) != FORMAT:
        raise InvalidInput("model", "is not a model file of this version")
    if str(arrays["features"]) != "\n".join([*CROSS_FEATURES, "", *QUANTILE_FEATURES]):
        raise InvalidInput("model", "was trained on other features; train it again")
    logistic = Logistic.stored(arrays, "logistic")
    if logistic is None:
        raise InvalidInput("model", "has no logistic regression")
    quantiles = tuple(each for q in QUANTILES if (each := Trees.stored(arrays, f"q{q}")))
    tuning = stored_tuning(arrays, len(STEPS), len(METRICS))
    drivers = arrays.get("drivers", NO_WEIGHTS)
    return Model(
        str(arrays["name"]),
        logistic,
        Trees.stored(arrays, "cross"),
        quantiles,
        arrays["table"],
        tuning,
        drivers if drivers.shape == (WEIGHTS,) else NO_WEIGHTS,
        # Trees of other signs are of another version: the logit answers.
        Trees.stored(arrays, "choice") if str(arrays.get("choice.signs")) == "\n".join(TREE_SIGNS) else None,
    )


def read_arrays(path: Path) -> Model:
    """The model of a file at `path`."""
    return parse_model(path.read_bytes())


def quantile_table(asked: PastQuestions) -> Floats:
    """Quantiles of the moves of each step of horizons."""
    z = (asked.moved - asked.centre) / asked.width
    step = np.array([step_of(hours) for hours in np.unique(asked.quantile_hours)])
    found = np.tile(np.array([-0.6, 0.0, 0.6]), (len(STEPS), 1))
    for hours, place in zip(np.unique(asked.quantile_hours), step, strict=True):
        found[place] = np.quantile(z[asked.quantile_hours == hours], QUANTILES)
    return found


def brier(model: Model, asked: PastQuestions) -> float:
    """Mean squared error of probabilities."""
    p = 1 / (1 + np.exp(-model.crossing(asked.cross)))
    return float(((p - asked.crossed) ** 2).mean())


def better_than(old: Model, new: Model, newest_week: PastQuestions) -> bool:
    """Whether `new` has the smaller Brier score on questions that neither was trained on; no questions: no."""
    return len(newest_week.crossed) > 0 and brier(new, newest_week) < brier(old, newest_week)


def step_of(hours: int) -> int:
    """Index of the nearest step of a horizon."""
    return int(np.argmin([abs(np.log(hours / each)) for each in STEPS]))
