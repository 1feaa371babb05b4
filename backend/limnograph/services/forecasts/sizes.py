"""Bytes and cost of tables in the future. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence

from limnograph.domain.advice.prices import Prices
from limnograph.domain.facts.forecasts import ForecastFact
from limnograph.domain.forecasts.pages import BytesForecast

HORIZON_HOURS = 720
GIB = 2**30


def bytes_of(facts: Sequence[ForecastFact], tables_known: int, prices: Prices) -> BytesForecast:
    """The sum over tables. Medians add up; distances to the bounds add up by their squares, as if tables grew
    independently. Without configured prices there is no cost.
    """
    whole = [each for each in facts if None not in (each.level, each.p10, each.p50, each.p90)]
    if not whole:
        return _priced((None, None, None, None), HORIZON_HOURS, 0, tables_known, prices)
    now, middle = (math.fsum(getattr(each, name) for each in whole) for name in ("level", "p50"))
    below = math.sqrt(math.fsum((each.p50 - each.p10) ** 2 for each in whole))  # type: ignore[operator]
    above = math.sqrt(math.fsum((each.p90 - each.p50) ** 2 for each in whole))
    sums = (now, max(middle - below, 0.0), middle, middle + above)
    return _priced(sums, max(each.hours for each in whole), len(whole), tables_known, prices)


def _priced(
    sums: tuple[float | None, float | None, float | None, float | None],
    hours: int,
    tables: int,
    tables_known: int,
    prices: Prices,
) -> BytesForecast:
    whole = [None if each is None else round(each) for each in sums]
    cost = [None if each is None or prices.is_default else each / GIB * prices.storage_gb_month for each in whole]
    names = ("now", "p10", "p50", "p90")
    return BytesForecast(
        hours=hours,
        **{f"bytes_{name}": value for name, value in zip(names, whole, strict=True)},  # type: ignore[arg-type]
        **{f"cost_{name}": value for name, value in zip(names, cost, strict=True)},  # type: ignore[arg-type]
        currency=None if prices.is_default else prices.currency,
        tables=tables,
        tables_known=tables_known,
    )
