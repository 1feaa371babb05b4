"""Forecasts as pages show them. Wire structs, as `domain/answers/tables.py`."""

from __future__ import annotations

from typing import Literal

from limnograph.domain.answers.view import View
from limnograph.domain.forecasts.answers import AbstainReason, ForecastDriver
from limnograph.domain.forecasts.cases import ForecastMetric
from limnograph.domain.time import Millis

RiskState = Literal["at_risk", "red", "cannot_say", "not_at_risk"]
"""`at_risk`: will probably cross; `red`: has crossed; `cannot_say`: there is no forecast, see `abstained`."""


class RiskRow(View, frozen=True, kw_only=True):
    """One metric of one table at the newest forecast. `level`: of the metric at `as_of`. `p10`, `p50`, `p90`: of the
    level `hours` later. `p_cross`: probability of reaching `threshold` within `hours`; `crosses_from`, `crosses_to`:
    80 % range of that instant, null where a crossing is less likely than not. `growth_per_day`: median daily change of
    the level between drops. `usual_drop_hours`, `last_drop_hours`: usual time between two drops of the level, such as
    compactions, and time since the last one. `readers`: jobs that read the table. `job_name`: of reader metrics.
    `finding_id`: the open finding `at_risk`. Null: unknown.
    """

    catalog: str
    namespace: str
    table: str
    table_uuid: str
    owner: str | None
    metric: ForecastMetric
    job_name: str | None
    state: RiskState
    as_of: Millis
    hours: int
    threshold: float
    level: float | None
    p10: float | None
    p50: float | None
    p90: float | None
    p_cross: float | None
    p_cross_if_maintained: float | None
    crosses_from: Millis | None
    crosses_to: Millis | None
    driver: ForecastDriver | None
    growth_per_day: float | None
    usual_drop_hours: float | None
    last_drop_hours: float | None
    abstained: AbstainReason | None
    readers: int | None
    finding_id: str | None


class RiskCounts(View, frozen=True, kw_only=True):
    """Number of metrics by state, regardless of the filter `state`."""

    at_risk: int
    red: int
    cannot_say: int
    not_at_risk: int


class TrackRecord(View, frozen=True, kw_only=True):
    """Outcomes of warnings since `since`. `acted_upon`: maintenance ran after the warning, so it has no outcome.
    `pending`: the horizon has not passed. `median_notice_hours`: from the warning to the crossing. `not_foreseen`:
    crossings without a warning. Counts are of metrics of tables, an uninterrupted warning counts once.
    """

    since: Millis | None
    warnings: int
    came_true: int
    did_not: int
    acted_upon: int
    pending: int
    median_notice_hours: float | None
    not_foreseen: int


class BytesForecast(View, frozen=True, kw_only=True):
    """Bytes now and `hours` later, with an 80 % interval, and what a month of storing them costs at the configured
    price; costs are null without a price. `tables` of `tables_known` have a forecast.
    """

    hours: int
    bytes_now: int | None
    bytes_p10: int | None
    bytes_p50: int | None
    bytes_p90: int | None
    cost_now: float | None
    cost_p10: float | None
    cost_p50: float | None
    cost_p90: float | None
    currency: str | None
    tables: int
    tables_known: int


class ForecastsPage(View, frozen=True, kw_only=True):
    """Rows by probability times readers, highest first. `budget`: how many tables the list names. `as_of`: of the
    newest forecast; null: there is none yet. `notes`: what could not be read.
    """

    rows: list[RiskRow]
    counts: RiskCounts
    budget: int
    track_record: TrackRecord
    bytes: BytesForecast
    as_of: Millis | None
    model: str | None
    notes: list[str]
    next_cursor: str | None


class FanPoint(View, frozen=True, kw_only=True):
    """An 80 % interval of the level and its median at `at`."""

    at: Millis
    p10: float
    p50: float
    p90: float


class ForecastFan(View, frozen=True, kw_only=True):
    """Forecast of a metric on a lane: points from `as_of` on, the threshold, and the last drops of the level."""

    metric: ForecastMetric
    job_name: str | None
    lane: str | None
    threshold: float
    points: list[FanPoint]
    last_drops: list[Millis]
    abstained: AbstainReason | None


class TableForecastPage(View, frozen=True, kw_only=True):
    """The newest forecast of one table. `as_of` is null if there is none yet."""

    as_of: Millis | None
    rows: list[RiskRow]
    fans: list[ForecastFan]
    track_record: TrackRecord
    bytes: BytesForecast
    model: str | None
    notes: list[str]
