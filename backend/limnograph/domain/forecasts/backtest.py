"""What a backtest found: forecasts as they would have been made at earlier cut-offs, beside what happened."""

from __future__ import annotations

import msgspec

from limnograph.domain.time import Millis


class MethodScore(msgspec.Struct, frozen=True, kw_only=True):
    """`precision_recall`: area under precision over recall of crossings, with its error; null: nothing crossed.
    `level_error`: median of the absolute log ratio of the level that was forecast to the one that came.
    """

    method: str
    precision_recall: float | None
    standard_error: float | None
    level_error: float | None


class HorizonScore(msgspec.Struct, frozen=True, kw_only=True):
    """One horizon. `forecasts`: of `targets` (a metric of a table), of which the share `crossed` came true. `brier`,
    `calibration_error`: of the probabilities, smaller is better; `coverage`: share of levels inside the 80 % interval.
    """

    hours: int
    forecasts: int
    targets: int
    crossed: float
    brier: float
    calibration_error: float
    coverage: float | None
    methods: list[MethodScore]


class BacktestReport(msgspec.Struct, frozen=True, kw_only=True):
    """`origins`: cut-offs at which forecasts were made. `tables`: that had forecasts, of `tables_known`. `wait_error`:
    median error of the crossing time over the wait, of `waits` crossings that were given one; `trend_wait_error`: the
    same of the trend. `abstained`: share of the forecasts.
    """

    model: str
    since: Millis
    until: Millis
    origins: int
    tables: int
    tables_known: int
    horizons: list[HorizonScore]
    abstained: float | None
    waits: int
    wait_error: float | None
    trend_wait_error: float | None
