"""What moves a target. Of a reader: the part of the structure that explains most of a crossing.

Boosted trees choose (`choice.py`), by how much the reader follows each part, how much each costs, and how much each
grows. A model without these trees chooses by a conditional logit over the parts. Both are trained on generated tables,
where the driver is known, and stored with the model. Without either, the score of a part is how much the reader follows
it, times its growth.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, get_args

import numpy as np

from limnograph.analysis.forecast.following import STRUCTURE
from limnograph.analysis.forecast.grid import DAY_H, Floats
from limnograph.analysis.forecast.series import GIB, READERS, HistoryGrid
from limnograph.domain.forecasts.answers import DriverWeight, ForecastDriver

NO_WEIGHTS: Floats = np.zeros(0)
_USUAL_SECONDS = {"small_files": 0.02, "manifests": 0.02, "total_delete_files": 0.05}
"""What opening one usually takes."""
_USUAL_GIB_SECONDS = 2.0
"""What reading one usually takes."""
_LEAST_WEIGHT = 0.01
_PARTS = len(STRUCTURE)
_SIGNS = 10
_SPREAD_H = 28 * DAY_H
WEIGHTS = _SIGNS + 2 * _PARTS
"""Number of weights: of the signs, and one for each part of the structure and metric of readers."""


class PartMove(NamedTuple):
    """A part of the structure, as seen by one reader; NaN where not known.

    response  log of the reader per log of the part (`following.py`)
    share  share of the reader's seconds (`shares.py`)
    middle, high  relative growth until a week ahead: median and upper end of the interval
    rise  log of the upper end over the level of now
    week, day  log growth of the last week and day
    seconds  what it would take of the reader's seconds at usual costs
    month  log growth of the last four weeks
    until_middle, until_high  relative growth until the horizon at which the reader may cross (`choice.ReaderAsk`)
    rise_middle, rise_high  the same as logs
    decided, share_decided  how far runs decide its response and its share, 0 to 1: the rest is what is usual
    usual  like `seconds`, of bytes too
    spread  standard deviation of the log of its hourly states in four weeks
    """

    response: float = float("nan")
    share: float = float("nan")
    middle: float = float("nan")
    high: float = float("nan")
    rise: float = float("nan")
    week: float = float("nan")
    day: float = float("nan")
    seconds: float = float("nan")
    month: float = float("nan")
    until_middle: float = float("nan")
    until_high: float = float("nan")
    rise_middle: float = float("nan")
    rise_high: float = float("nan")
    decided: float = float("nan")
    share_decided: float = float("nan")
    usual: float = float("nan")
    spread: float = float("nan")


PartMoves = Mapping[str, PartMove]
NO_PART = PartMove()
_IN_SIGNS = PartMove._fields.index("seconds") + 1


def driver_weights(
    metric: str, moves: PartMoves, weights: Floats = NO_WEIGHTS, odds: Floats | None = None
) -> list[DriverWeight]:
    """Drivers of a target, strongest first. A structural metric moves itself.

    moves  of the parts that are known
    weights  of the logit
    odds  of each part of `STRUCTURE`, as logs, of trees; they count before the weights do
    """
    if metric not in READERS:
        return [DriverWeight(metric=_driver(metric), weight=1.0)]
    names = candidates(metric, moves)
    if names and (odds is not None or weights.size):
        logs = choice_signs(metric, moves) @ weights if odds is None else odds
        own = logs[[STRUCTURE.index(name) for name in names]]
        return _ranked(names, np.exp(own - own.max()))
    grown = {each: _positive(moves[each].rise) + _positive(moves[each].week) for each in names}
    followed = {each: _positive(moves[each].response) for each in names}
    for scores in ({each: followed[each] * grown[each] for each in names}, grown, followed):
        if sum(scores.values()) > 0:
            return _ranked(names, np.array([scores[each] for each in names]))
    return [DriverWeight(metric="small_files", weight=1.0)]


def candidates(metric: str, moves: PartMoves) -> list[str]:
    """Parts that may move a reader: more bytes are no reason for more seconds per GiB."""
    return [each for each in STRUCTURE if each in moves and (each != "total_bytes" or metric == "reader_seconds")]


def choice_signs(metric: str, moves: PartMoves) -> Floats:
    """`[part of STRUCTURE, WEIGHTS]`: signs for each part; those of a part that is not in `moves` mean nothing."""
    values = np.array([moves.get(name, NO_PART)[:_IN_SIGNS] for name in STRUCTURE])
    response, share, middle, high, rise, week, day, seconds = np.maximum(np.nan_to_num(values), 0.0).T
    known = np.isfinite(values[:, -1])
    signs = [
        np.log(response * (rise + week) + 1e-3),
        np.log(share * high + 1e-3),
        np.log(share * middle + 1e-3),
        *(np.log(each + 0.01) for each in (response, share, high, middle, week, day)),
        np.where(known, np.log(seconds * high + 1e-3), 0.0),
    ]
    parts = np.zeros((_PARTS, 2 * _PARTS))
    offset = 0 if metric == "reader_seconds" else _PARTS
    parts[np.arange(_PARTS), offset + np.arange(_PARTS)] = 1.0
    return np.concatenate([np.stack(signs, axis=1), parts], axis=1)


def usual_share(part: str, level: float, seconds: float) -> float:
    """Share of a reader's seconds that `level` files of a part take at usual costs; NaN for parts without one."""
    return _USUAL_SECONDS.get(part, float("nan")) * level / seconds if seconds > 0 else float("nan")


def usual_share_of_all(part: str, level: float, seconds: float) -> float:
    """`usual_share`, of bytes too: as if each run read the whole table."""
    if part != "total_bytes":
        return usual_share(part, level, seconds)
    return _USUAL_GIB_SECONDS * level / GIB / seconds if seconds > 0 else float("nan")


def state_spread(series: HistoryGrid, part: str) -> float:
    """How much a part varies from hour to hour in four weeks, as a standard deviation of logs; NaN where not known."""
    states = series.states(part)[-_SPREAD_H:]
    known = states[np.isfinite(states)]
    if not known.size:
        return float("nan")
    return float(np.std(np.log(np.maximum(known, 0.0) + 0.05 * known.max() + 1e-6)))


def _ranked(names: list[str], scores: Floats) -> list[DriverWeight]:
    shares = scores / scores.sum()
    kept = [place for place in np.argsort(-shares, kind="stable").tolist() if shares[place] >= _LEAST_WEIGHT]
    total = float(shares[kept].sum())
    return [DriverWeight(metric=_driver(names[place]), weight=float(shares[place]) / total) for place in kept]


def _positive(value: float) -> float:
    return value if value > 0 else 0.0


def _driver(metric: str) -> ForecastDriver:
    found: ForecastDriver = next(each for each in get_args(ForecastDriver) if each == metric)
    return found
