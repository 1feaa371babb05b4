"""What a forecaster returns for one case: the answer of the contract, and the numbers that pages show beside it."""

from __future__ import annotations

from typing import NamedTuple

from limnograph.domain.forecasts.answers import TableForecast
from limnograph.domain.time import Millis


class TargetSignals(NamedTuple):
    """Numbers of one target. `level`: at the cut-off. `crosses_from`, `crosses_to`: 80 % range of the crossing, None
    where a crossing is less likely than not. `growth_per_day`: median daily change of the level between drops.
    `usual_drop_hours`, `last_drop_hours`: usual time between drops, and time since the last one. `last_drops`: up to
    five instants, latest last.
    """

    level: float | None
    crosses_from: Millis | None
    crosses_to: Millis | None
    growth_per_day: float | None
    usual_drop_hours: float | None
    last_drop_hours: float | None
    last_drops: list[Millis]


class BytesQuantiles(NamedTuple):
    """Quantiles of `total_bytes` at `hours` after the cut-off."""

    hours: int
    p10: float
    p50: float
    p90: float


class Forecasted(NamedTuple):
    """`signals` are aligned with the case's targets. `bytes`: one entry per horizon, none if bytes are not known."""

    answer: TableForecast
    signals: list[TargetSignals]
    bytes: list[BytesQuantiles]
