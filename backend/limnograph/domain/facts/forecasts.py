"""What was forecast of a table, and what came of it: rows of the meta table `forecasts`. The pipeline computes them
and adds the outcome once the horizon has passed.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from limnograph.domain.facts.columns import BOOLEAN, DOUBLE, LONG, STRING, TIMESTAMPTZ, Col, ListOf
from limnograph.domain.time import Micros

TOTAL_BYTES = "total_bytes"
"""Metric without a threshold: quantiles only."""
FORECASTS_KEPT_DAYS = 90


class ForecastFact(msgspec.Struct, frozen=True, kw_only=True):
    """One metric of a table over one horizon; key `(table_uuid, metric, as_of, hours)`."""

    table_uuid: Annotated[str, Col(1, STRING, "identity of the table's history", True)]
    metric: Annotated[
        str, Col(2, STRING, "metric whose level was forecast ([forecast](at-risk.md)), or `total_bytes`", True)
    ]
    as_of: Annotated[Micros, Col(3, TIMESTAMPTZ, "facts from before this whole UTC hour were used", True)]
    hours: Annotated[int, Col(4, LONG, "horizon: 24, 168 or 720", True)]
    catalog: Annotated[str | None, Col(5, STRING, "catalog of the table")] = None
    namespace: Annotated[str | None, Col(6, STRING, "namespace levels joined with `.`")] = None
    table: Annotated[str | None, Col(7, STRING, "table name")] = None
    job_name: Annotated[str | None, Col(8, STRING, "job whose runs were forecast; null for metrics of files")] = None
    threshold: Annotated[float | None, Col(9, DOUBLE, "value that the level must not reach")] = None
    level: Annotated[float | None, Col(10, DOUBLE, "level at `as_of`; null: unknown")] = None
    p10: Annotated[float | None, Col(11, DOUBLE, "10th percentile of the level at `as_of` + `hours`")] = None
    p50: Annotated[float | None, Col(12, DOUBLE, "median of it")] = None
    p90: Annotated[float | None, Col(13, DOUBLE, "90th percentile of it")] = None
    p_cross: Annotated[
        float | None, Col(14, DOUBLE, "probability that the level reaches `threshold` within `hours`; null: red")
    ] = None
    p_cross_if_maintained: Annotated[
        float | None, Col(15, DOUBLE, "the same with maintenance at `as_of`; null: no estimate")
    ] = None
    crosses_at: Annotated[
        Micros | None, Col(16, TIMESTAMPTZ, "median time of the crossing; null: less likely than not")
    ] = None
    crosses_from: Annotated[Micros | None, Col(17, TIMESTAMPTZ, "start of its 80 % range")] = None
    crosses_to: Annotated[Micros | None, Col(18, TIMESTAMPTZ, "end of that range; null: after the last horizon")] = None
    driver: Annotated[str | None, Col(19, STRING, "what moves the level most")] = None
    growth_per_day: Annotated[float | None, Col(20, DOUBLE, "median daily change of the level between drops")] = None
    usual_drop_hours: Annotated[
        float | None, Col(21, DOUBLE, "usual time between two drops of the level, such as compactions, hours")
    ] = None
    last_drops: Annotated[
        list[Micros] | None, Col(22, ListOf(23, TIMESTAMPTZ), "the last of these drops, oldest first")
    ] = None
    abstained: Annotated[str | None, Col(24, STRING, "why the numbers are not shown as a forecast; null: they are")] = (
        None
    )
    alert: Annotated[bool | None, Col(25, BOOLEAN, "whether Limnograph warned; begins at .5, ends below .3")] = None
    warned_at: Annotated[Micros | None, Col(26, TIMESTAMPTZ, "`as_of` at which the warning began")] = None
    model: Annotated[str | None, Col(27, STRING, "model that made the forecast")] = None
    made_at: Annotated[Micros | None, Col(28, TIMESTAMPTZ, "when it was made")] = None
    crossed: Annotated[
        bool | None, Col(29, BOOLEAN, "whether the level reached `threshold` within `hours`; null: not known yet")
    ] = None
    crossed_at: Annotated[Micros | None, Col(30, TIMESTAMPTZ, "first hour in which it did")] = None
    level_at_horizon: Annotated[float | None, Col(31, DOUBLE, "level at `as_of` + `hours`")] = None
    maintained: Annotated[
        bool | None, Col(32, BOOLEAN, "whether maintenance ran after `as_of`, before the crossing or the horizon")
    ] = None
    judged_at: Annotated[Micros | None, Col(33, TIMESTAMPTZ, "when the outcome was filled in")] = None


FORECAST_KEY = ("table_uuid", "metric", "as_of", "hours")
OUTCOME_COLUMNS = ("crossed", "crossed_at", "level_at_horizon", "maintained", "judged_at")
"""Filled in once, when the horizon has passed."""
