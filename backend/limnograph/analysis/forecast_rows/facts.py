"""Answers of the forecaster as rows of `forecasts`, with the hysteresis of warnings. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from limnograph.analysis.forecast import Forecasted, TargetSignals
from limnograph.analysis.forecast_rows.request import ForecastRequest
from limnograph.analysis.forecast_rows.table_rows import NAMES, TableRows
from limnograph.domain.facts.forecasts import TOTAL_BYTES, ForecastFact
from limnograph.domain.forecasts.answers import TargetForecast
from limnograph.domain.forecasts.cases import ForecastCase
from limnograph.domain.forecasts.limits import WARN_BELOW, WARN_FROM, WARNED_HOURS
from limnograph.domain.time import Micros, Millis, to_micros


def facts_of(
    table: TableRows, case: ForecastCase, found: Forecasted, request: ForecastRequest, model: str
) -> Iterator[ForecastFact]:
    """Rows of one table: one per metric and horizon."""
    head: dict[str, Any] = {
        "table_uuid": table.uuid,
        "as_of": request.as_of,
        "model": model,
        "made_at": request.made_at,
        **{name: table.last(name) for name in NAMES if name != "format"},
    }
    thresholds = {target.metric: target.threshold for target in case.targets}
    for answer, signals in zip(found.answer.targets, found.signals, strict=True):
        threshold = thresholds[answer.metric]
        warned_at = _warned_at(answer, _is_red(signals, threshold), request, table.uuid, warns=found.answer.alert)
        job = case.runs.job if case.runs and answer.metric.startswith("reader") else None
        for each in answer.horizons:
            yield ForecastFact(
                **head,
                metric=answer.metric,
                hours=each.hours,
                job_name=job,
                threshold=threshold,
                level=signals.level,
                p10=each.p10,
                p50=each.p50,
                p90=each.p90,
                p_cross=None if _is_red(signals, threshold) else each.p_cross,
                p_cross_if_maintained=None if _is_red(signals, threshold) else each.p_cross_if_maintained,
                crosses_at=_instant(answer.crosses_at),
                crosses_from=_instant(signals.crosses_from),
                crosses_to=_instant(signals.crosses_to),
                driver=answer.drivers[0].metric if answer.drivers else None,
                growth_per_day=signals.growth_per_day,
                usual_drop_hours=signals.usual_drop_hours,
                last_drops=[to_micros(at) for at in signals.last_drops],
                abstained=answer.abstained,
                alert=warned_at is not None,
                warned_at=warned_at,
            )
    sizes = [value for value in table.columns["total_bytes"] if value is not None]
    for size in found.bytes:
        yield ForecastFact(
            **head,
            metric=TOTAL_BYTES,
            hours=size.hours,
            level=sizes[-1] if sizes else None,
            p10=size.p10,
            p50=size.p50,
            p90=size.p90,
        )


def _warned_at(
    answer: TargetForecast, is_red: bool, request: ForecastRequest, uuid: str, *, warns: bool
) -> Micros | None:
    """When the warning that is in force began; None: there is none. One begins only if the forecaster warns of the
    table, and goes on until the probability has fallen well below that, so that it does not flap with a compaction.
    """
    p = next((each.p_cross for each in answer.horizons if each.hours == WARNED_HOURS), None)
    if p is None or is_red or answer.abstained is not None:
        return None
    known = request.warned.get((uuid, answer.metric))
    if known is not None and p >= WARN_BELOW:
        return known
    return request.as_of if warns and p >= WARN_FROM else None


def _is_red(signals: TargetSignals, threshold: float) -> bool:
    return signals.level is not None and signals.level >= threshold


def _instant(at: Millis | None) -> Micros | None:
    return None if at is None else to_micros(at)
