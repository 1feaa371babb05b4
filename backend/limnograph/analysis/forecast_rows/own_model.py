"""A model of a site's own tables: questions from their pasts, and a trial against the model in use. Pure.

The trial is on the newest week. What the new model learnt was known before that week began, so neither model has seen
its outcomes.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from limnograph.analysis.forecast.model import Model, better_than, brier
from limnograph.analysis.forecast.past import PastQuestions, joined
from limnograph.analysis.forecast.training import LEAST_QUESTIONS, fit, questions_of
from limnograph.analysis.forecast_rows.request import PastRequest
from limnograph.analysis.forecast_rows.table_rows import TableRows, tables_of
from limnograph.domain.errors import EnvironmentFault
from limnograph.domain.forecasts.cases import ForecastCase

NEWEST_HOURS = 7 * 24
AT_ONCE = 100
"""Tables whose questions are asked together."""


class ModelTrial(NamedTuple):
    """A trained model, and the Brier scores of both on the newest week. `questions`: that it learnt from."""

    model: Model
    questions: int
    brier_new: float
    brier_old: float
    is_better: bool


def ask_pasts(batches: Iterable[pa.RecordBatch], request: PastRequest) -> Iterator[bytes]:
    """Questions of tables, chunk by chunk, for `gathered`. `batches`: as for `work`."""
    tables = tables_of(batches)
    while chunk := list(islice(tables, AT_ONCE)):
        asked = questions_of([_case(table, request) for table in chunk], request.load)
        if len(asked.crossed):
            file = io.BytesIO()
            np.savez_compressed(file, allow_pickle=False, **asked._asdict())
            yield file.getvalue()


def gathered(parts: Iterable[bytes]) -> PastQuestions:
    """All questions in one."""
    found = []
    for part in parts:
        with np.load(io.BytesIO(part), allow_pickle=False) as stored:
            found.append(PastQuestions(**{name: stored[name] for name in PastQuestions._fields}))
    return joined(found)


def tried_model(asked: PastQuestions, hour: int, old: Model, name: str) -> ModelTrial | None:
    """A new model beside the old one; None: there are too few outcomes. `hour`: of the cut-off, since the epoch."""
    week = hour - NEWEST_HOURS
    learnt = _chosen(asked, asked.cross_ends <= week, asked.quantile_ends <= week)
    newest = _chosen(
        asked, asked.cross_ends - asked.cross_hours >= week, asked.quantile_ends - asked.quantile_hours >= week
    )
    if len(learnt.crossed) < LEAST_QUESTIONS or np.unique(learnt.crossed).size < 2 or not len(newest.crossed):
        return None
    new = _fitted(learnt, name)
    scores = brier(new, newest), brier(old, newest)
    return ModelTrial(new, len(learnt.crossed), *scores, better_than(old, new, newest))


def _case(table: TableRows, request: PastRequest) -> ForecastCase:
    reader = request.readers.get(table.uuid)
    return table.case(request.as_of, reader.runs if reader else None)


def _fitted(asked: PastQuestions, name: str) -> Model:
    try:
        return fit(asked, name)
    except EnvironmentFault:  # without scikit-learn
        return fit(asked, name, trees=False)


def _chosen(asked: PastQuestions, crossings: npt.NDArray[np.bool_], quantiles: npt.NDArray[np.bool_]) -> PastQuestions:
    return PastQuestions(
        *(
            np.asarray(values)[crossings if name.startswith("cross") else quantiles]
            for name, values in zip(PastQuestions._fields, asked, strict=True)
        )
    )
