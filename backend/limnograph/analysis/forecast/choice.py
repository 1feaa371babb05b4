"""The choice of a reader's driver by boosted trees: the odds of each part, from its signs and from how far they are
from those of the best other part.

A sign says little alone: what counts is whether another part has more of it. Trees answer for all readers at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from limnograph.analysis.forecast.drivers import NO_PART, PartMoves, candidates, choice_signs, driver_weights
from limnograph.analysis.forecast.following import STRUCTURE
from limnograph.analysis.forecast.grid import Floats
from limnograph.analysis.forecast.trees import Trees
from limnograph.domain.forecasts.answers import DriverWeight

COMPARED = (
    "response_rise",
    "share_high",
    "share_middle",
    "response",
    "share",
    "high",
    "middle",
    "week",
    "day",
    "usual_high",
    "share_until_middle",
    "share_until_high",
    "response_until_middle",
    "response_until_high",
    "usual_until_high",
    "decided",
    "share_decided",
    "spread",
)
"""Signs of a part that are compared with those of the other parts. The first are those of the logit."""
TREE_SIGNS = (
    "part",
    *COMPARED,
    "grew_1d",
    "grew_7d",
    "grew_28d",
    *(f"beyond_{name}" for name in COMPARED),
    "room",
    "hours",
    "runs",
    "noise",
    "unexplained",
    "in_seconds",
    "reader_7d",
    "parts",
)
_FAR = 8.0
_NO_SIGN = -20.0
_LOGIT_SIGNS = 10
_LEAST = 1e-3


class ReaderAsk(NamedTuple):
    """What is asked about a reader; NaN where not known.

    room  log of the threshold over the level
    hours  first horizon whose upper end reaches the threshold; else the longest
    week  log growth of the reader's level last week
    runs, noise, unexplained  of the regression on its runs: their number, what is left of a log second, and the share
        that this is of all that they vary
    """

    metric: str
    moves: PartMoves
    room: float = float("nan")
    hours: float = float("nan")
    week: float = float("nan")
    runs: float = float("nan")
    noise: float = float("nan")
    unexplained: float = float("nan")


def choose_drivers(asked: Sequence[ReaderAsk], weights: Floats, trees: Trees | None) -> list[list[DriverWeight]]:
    """Drivers of each target, strongest first: by trees, else by the logit's `weights`, else by response and growth."""
    logs = tree_odds(asked, trees) if trees is not None else None
    return [
        driver_weights(each.metric, each.moves, weights, None if logs is None else logs[place])
        for place, each in enumerate(asked)
    ]


def tree_odds(asked: Sequence[ReaderAsk], trees: Trees) -> Floats:
    """Log odds that each part of `STRUCTURE` is the driver: `[reader, part]`."""
    if not asked:
        return np.zeros((0, len(STRUCTURE)))
    rows = np.concatenate([tree_signs(each) for each in asked])
    return trees.predict(rows).reshape(len(asked), len(STRUCTURE))


def tree_signs(asked: ReaderAsk) -> Floats:
    """`[part of STRUCTURE, TREE_SIGNS]`; those of a part that may not be named mean nothing."""
    named = np.isin(STRUCTURE, candidates(asked.metric, asked.moves))
    parts = [asked.moves.get(name, NO_PART) for name in STRUCTURE]
    response, share, usual = np.array([(each.response, each.share, each.usual) for each in parts]).T
    until_middle, until_high = np.array([(each.until_middle, each.until_high) for each in parts]).T
    rise_middle, rise_high = np.array([(each.rise_middle, each.rise_high) for each in parts]).T
    compared = np.column_stack(
        [
            choice_signs(asked.metric, asked.moves)[:, :_LOGIT_SIGNS],
            *(_log(each) for each in (share * until_middle, share * until_high)),
            *(_log(each) for each in (response * rise_middle, response * rise_high, usual * until_high)),
            np.array([(each.decided, each.share_decided, each.spread) for each in parts]),
        ]
    )
    grew = np.array([(each.day, each.week, each.month) for each in parts])
    in_seconds, count = float(asked.metric == "reader_seconds"), float(named.sum())
    shared = [
        asked.room,
        float(np.log(asked.hours)),
        float(np.log(asked.runs)),
        float(np.log(asked.noise + 1e-3)),
        float(np.log(asked.unexplained)),
        in_seconds,
        asked.week,
        count,
    ]
    return np.column_stack(
        [
            np.arange(len(STRUCTURE)),
            compared,
            grew,
            _beyond_best(compared, named),
            np.tile(shared, (len(STRUCTURE), 1)),
        ]
    )


def _beyond_best(signs: Floats, named: npt.NDArray[np.bool_]) -> Floats:
    """How far each sign of a part is above the largest of the other parts that may be named."""
    open_ones = np.where(named[:, None], signs, _NO_SIGN)
    ordered = np.sort(open_ones, axis=0)
    other = np.where(open_ones >= ordered[-1], ordered[-2], ordered[-1])
    found: Floats = np.clip(open_ones - other, -_FAR, _FAR)
    return found


def _log(values: Floats) -> Floats:
    return np.asarray(np.log(np.maximum(np.nan_to_num(values), 0.0) + _LEAST))
