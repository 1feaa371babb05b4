"""Forecasts as rows and fans of pages."""

from __future__ import annotations

from typing import cast

from limnograph.domain.facts.forecasts import ForecastFact
from limnograph.domain.forecasts.answers import AbstainReason, ForecastDriver
from limnograph.domain.forecasts.cases import ForecastMetric
from limnograph.domain.forecasts.pages import FanPoint, ForecastFan, RiskRow
from limnograph.domain.ids import TableName
from limnograph.domain.time import MICROS_PER_SECOND, Micros, to_millis
from limnograph.services.forecasts.board import MetricForecast

HOUR = 3_600 * MICROS_PER_SECOND
LANES = {
    "total_delete_files": "delete_files",
    "manifests": "manifests",
    "skew_max_over_median": "skew",
    "reader_seconds": "job_duration",
}
"""Lanes with the same unit, by metric."""


def row_of(
    forecast: MetricForecast, name: TableName, owner: str | None, readers: int | None, finding_id: str | None
) -> RiskRow:
    """The row of a metric. A range of the crossing is given only where a crossing is more likely than not."""
    fact = forecast.shown
    is_likely = fact.p_cross is not None and fact.p_cross >= 0.5 and fact.abstained is None
    last = fact.last_drops[-1] if fact.last_drops else None
    return RiskRow(
        **name.plain._asdict(),
        table_uuid=fact.table_uuid,
        owner=owner,
        metric=cast(ForecastMetric, fact.metric),
        job_name=fact.job_name,
        state=forecast.state,
        as_of=to_millis(fact.as_of),
        hours=fact.hours,
        threshold=fact.threshold or 0.0,
        level=fact.level,
        p10=fact.p10,
        p50=fact.p50,
        p90=fact.p90,
        p_cross=fact.p_cross,
        p_cross_if_maintained=fact.p_cross_if_maintained,
        crosses_from=to_millis(fact.crosses_from) if is_likely else None,
        crosses_to=to_millis(fact.crosses_to) if is_likely else None,
        driver=cast("ForecastDriver | None", fact.driver),
        growth_per_day=fact.growth_per_day,
        usual_drop_hours=fact.usual_drop_hours,
        last_drop_hours=None if last is None else round((fact.as_of - last) / HOUR, 1),
        abstained=cast("AbstainReason | None", fact.abstained),
        readers=readers,
        finding_id=finding_id,
    )


def fan_of(forecast: MetricForecast) -> ForecastFan:
    """The fan of a metric: it begins at the level that was observed last."""
    fact = forecast.shown
    points = [] if fact.level is None else [_point(fact.as_of, fact.level, fact.level, fact.level)]
    for each in forecast.horizons:
        points += _points(each)
    return ForecastFan(
        metric=cast(ForecastMetric, fact.metric),
        job_name=fact.job_name,
        lane=LANES.get(fact.metric),
        threshold=fact.threshold or 0.0,
        points=points if len(points) > 1 else [],
        last_drops=[to_millis(at) for at in fact.last_drops or ()],
        abstained=cast("AbstainReason | None", fact.abstained),
    )


def _points(fact: ForecastFact) -> list[FanPoint]:
    if fact.p10 is None or fact.p50 is None or fact.p90 is None:
        return []
    return [_point(Micros(fact.as_of + fact.hours * HOUR), fact.p10, fact.p50, fact.p90)]


def _point(at: Micros, p10: float, p50: float, p90: float) -> FanPoint:
    return FanPoint(at=to_millis(at), p10=p10, p50=p50, p90=p90)
