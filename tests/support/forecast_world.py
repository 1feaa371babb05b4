"""Roll-ups of tables that grow, and the forecast step over them in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import polars as pl
import pyarrow as pa

from limnograph.adapters.meta.schema import arrow_schema
from limnograph.adapters.spark.forecasting import result_of, split
from limnograph.analysis.forecast import Forecaster, load_model
from limnograph.analysis.forecast.past import PastQuestions
from limnograph.analysis.forecast_rows.own_model import ask_pasts, gathered
from limnograph.analysis.forecast_rows.request import ForecastRequest, ForecastRows, PastRequest
from limnograph.analysis.forecast_rows.table_rows import COLUMNS, NAMES, ROW_SCHEMA
from limnograph.analysis.forecast_rows.work import work
from limnograph.domain.facts.meta_tables import DAILY, FORECASTS, HOURLY
from limnograph.domain.forecasts.limits import DEFAULT_THRESHOLDS, ForecastLimits
from limnograph.domain.objectives import Objectives
from limnograph.ports.meta_upkeep import Where
from limnograph.services.housekeeping.forecast_readers import ForecastReaders
from limnograph.services.housekeeping.forecasting import ForecastStep
from limnograph.services.rollups.fold import DAY, HOUR
from upkeep_world import World

LIMITS = ForecastLimits({**DEFAULT_THRESHOLDS, "small_files": 3_000.0})
Compacts = Callable[[int], bool]
"""Whether a compaction runs in the hour that is so many hours ago."""


def hours_of(
    uuid: str, now: int, days: int, added: int, compacts: Compacts = lambda _ago: False, begin: int = 0
) -> list[dict[str, Any]]:
    """Hourly roll-ups of a table that adds `added` small files an hour, over the last `days` days."""
    rows, small = [], begin
    for ago in range(days * 24, 0, -1):
        replaced = small if compacts(ago) else 0
        small += added - replaced
        rows.append(
            dict(zip(NAMES, ("lake", "sales", uuid, "iceberg"), strict=True))
            | dict.fromkeys((source for source in COLUMNS.values()), 0)
            | {
                "table_uuid": uuid,
                "hour": now // HOUR * HOUR - ago * HOUR,
                "commits": 4,
                "replaces": int(replaced > 0),
                "removed_data_files_by_replace": replaced,
                "added_data_files": added,
                "small_files_last": small,
                "total_data_files_last": 100 + small,
                "total_bytes_last": (days * 24 - ago) * 2**20,
                "total_records_last": 1_000,
                "rolled_at": now // HOUR * HOUR - ago * HOUR + HOUR,
                "source_sequence": 1,
            }
        )
    return rows


def days_of(hours: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The daily roll-up of each day: its last hour."""
    found = {}
    for row in hours:
        day = row["hour"] // DAY * DAY
        found[row["table_uuid"], day] = {key: value for key, value in row.items() if key != "hour"} | {"day": day}
    return list(found.values())


def roll(world: World, rows: list[dict[str, Any]]) -> None:
    """Append roll-ups."""
    for table, part in ((HOURLY, rows), (DAILY, days_of(rows))):
        told = pa.Table.from_pylist(part, schema=arrow_schema(table))
        world.store.append(table, told, world.store.head(table), "roll")


class LocalForecasting:
    """The runner in this process: the same work over the same rows. `batch`: rows of one batch. `seen`: requests."""

    def __init__(self, world: World, batch: int = 100) -> None:
        self.world, self.batch, self.seen = world, batch, list[ForecastRequest]()

    def run(self, request: ForecastRequest, model: Forecaster) -> ForecastRows:
        self.seen.append(request)
        rows = self._rows(request.as_of, request.tables).sort("table_uuid", "at").to_arrow().cast(ROW_SCHEMA)
        told = [
            result_of([*each.forecasts, *each.outcomes], each.failed)
            for each in work(rows.to_batches(self.batch), request, model)
        ]
        return split(pa.concat_tables([result_of([], {}), *told]))

    def questions(self, request: PastRequest) -> PastQuestions:
        rows = self._rows(request.as_of, request.tables).sort("table_uuid", "at").to_arrow().cast(ROW_SCHEMA)
        return gathered(ask_pasts(rows.to_batches(self.batch), request))

    def _rows(self, as_of: int, tables: frozenset[str]) -> pl.DataFrame:
        cut = (as_of - 28 * DAY) // DAY * DAY
        parts = []
        for table, span, start, end in ((HOURLY, 1, cut, as_of), (DAILY, 24, cut - 92 * DAY, cut)):
            unit = table.key[1]
            where = Where(tables=tables, start=start, end=end)
            columns = ("table_uuid", unit, *NAMES, *COLUMNS.values())
            rows = self.world.upkeep.rows(table, self.world.upkeep.standing(table).position, columns, where)
            parts.append(
                rows.select(
                    "table_uuid",
                    pl.col(unit).alias("at"),
                    pl.lit(span, pl.Int64).alias("span_hours"),
                    *NAMES,
                    *(pl.col(source).cast(pl.Float64).alias(name) for name, source in COLUMNS.items()),
                )
            )
        return pl.concat(parts)


def step(world: World, runner: Any = None, objectives: Objectives = Objectives(), **options: Any) -> ForecastStep:  # noqa: B008
    """The step as a process that has just started would have it."""
    return ForecastStep(
        world.upkeep,
        world.store,
        world.rollups(),
        runner or LocalForecasting(world),
        world.clock,
        limits=LIMITS,
        readers=ForecastReaders(world.upkeep, objectives),
        **{"model": load_model} | options,
    )


def forecasts(world: World, metric: str = "small_files", hours: int = 168) -> dict[str, dict[str, Any]]:
    """Recorded forecasts of a metric over a horizon, the newest by table."""
    rows = sorted(world.read(FORECASTS), key=lambda row: row["as_of"])
    return {row["table_uuid"]: row for row in rows if (row["metric"], row["hours"]) == (metric, hours)}
