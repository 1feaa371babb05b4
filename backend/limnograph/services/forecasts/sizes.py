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
    whole = [quantiles for fact in facts if (quantiles := _quantiles(fact)) is not None]
    now, low, middle, high = _summed(whole) if whole else (None, None, None, None)
    return BytesForecast(
        hours=max((fact.hours for fact in facts), default=HORIZON_HOURS),
        bytes_now=now,
        bytes_p10=low,
        bytes_p50=middle,
        bytes_p90=high,
        cost_now=_cost(now, prices),
        cost_p10=_cost(low, prices),
        cost_p50=_cost(middle, prices),
        cost_p90=_cost(high, prices),
        currency=None if prices.is_default else prices.currency,
        tables=len(whole),
        tables_known=tables_known,
    )


def _quantiles(fact: ForecastFact) -> tuple[float, float, float, float] | None:
    """Bytes now and the quantiles; None if one of them is not known."""
    if fact.level is None or fact.p10 is None or fact.p50 is None or fact.p90 is None:
        return None
    return fact.level, fact.p10, fact.p50, fact.p90


def _summed(whole: Sequence[tuple[float, float, float, float]]) -> tuple[int, int, int, int]:
    now, middle = (math.fsum(each[place] for each in whole) for place in (0, 2))
    below = math.sqrt(math.fsum((p50 - p10) ** 2 for _, p10, p50, _ in whole))
    above = math.sqrt(math.fsum((p90 - p50) ** 2 for *_, p50, p90 in whole))
    return round(now), max(round(middle - below), 0), round(middle), round(middle + above)


def _cost(size: int | None, prices: Prices) -> float | None:
    return None if size is None or prices.is_default else size / GIB * prices.storage_gb_month
