"""Forecasts on real Spark and Iceberg are those of one process, are written once, and get their outcomes."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from forecast_world import forecasts, hours_of, roll, step
from lakes import FixedClock, Lake
from limnograph.adapters.spark.forecasting import SparkForecasting
from limnograph.adapters.spark.housekeeping import SparkUpkeep
from limnograph.adapters.spark.store import SparkMetaStore
from limnograph.domain.facts.meta_tables import FORECASTS
from limnograph.services.rollups.fold import DAY
from upkeep_world import NOW, World

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


class SparkWorld(World):
    """The same world over a real store."""

    def __init__(self, session: SparkSession, lake: Lake) -> None:
        namespace = f"meta_{uuid4().hex[:8]}"
        self.clock: Any = FixedClock(NOW)
        self.store: Any = SparkMetaStore(session, lambda: lake.catalog, namespace)
        self.store.ensure()
        self.upkeep: Any = SparkUpkeep(session, lambda: lake.catalog, namespace)
        self.runner = SparkForecasting(session, lake.name, namespace)


def plain(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows in a fixed order; a list of instants is read as datetimes from files."""
    for row in rows:
        row["last_drops"] = [
            round(each.timestamp() * 1e6) if isinstance(each, dt.datetime) else each for each in row["last_drops"] or ()
        ]
    return sorted(rows, key=lambda row: (row["table_uuid"], row["metric"], row["as_of"], row["hours"]))


def test_spark_forecasts_and_judges_as_one_process_does(spark: SparkSession, shared_lake: Lake) -> None:
    memory, real = World(), SparkWorld(spark, shared_lake)
    history = hours_of("growing", NOW, 46, 2) + hours_of("compacted", NOW, 46, 50, lambda ago: ago % 24 == 0)
    a_day = hours_of("growing", NOW + DAY, 1, 2, begin=2_208)
    told = []
    for world in (memory, real):
        runner = getattr(world, "runner", None)
        roll(world, history)
        first = step(world, runner).run()
        assert (first.tables, first.failed) == (2, 0)
        assert step(world, runner).run().rows == 0
        world.clock.micros += DAY
        roll(world, a_day)
        told.append(step(world, runner).run())
    assert told[0] == told[1]
    assert plain(memory.read(FORECASTS)) == plain(real.read(FORECASTS))
    assert forecasts(real, hours=24)["compacted"]["judged_at"] >= NOW + DAY
    assert forecasts(real, hours=720)["growing"]["p50"] is not None
