"""Forecasts on real Spark and Iceberg are those of one process, are written once, and get their outcomes. Those of a
real table, through the pipeline, `limnograph forecast --once` and a server's pages, before and after its compaction.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

import risky_lake
import serving_kit
from forecast_world import LocalForecasting, forecasts, hours_of, roll, step
from lakes import FixedClock, Lake
from limnograph.adapters.spark.forecasting import SparkForecasting
from limnograph.adapters.spark.housekeeping import SparkUpkeep
from limnograph.adapters.spark.store import SparkMetaStore
from limnograph.analysis.forecast_rows.request import PastRequest
from limnograph.domain.facts.meta_tables import FORECASTS
from limnograph.domain.failpoints import Failpoints
from limnograph.domain.time import Micros
from limnograph.services.housekeeping.forecasting import ForecastReport
from limnograph.services.rollups.fold import DAY, HOUR
from limnograph.wiring import pipeline
from limnograph.wiring.forecasting import forecast_step, model_training, standing_step
from limnograph.wiring.server import ServerServices
from limnograph.wiring.watching import embedded_engine
from quick_jvm import quick_options
from upkeep_world import NOW, World

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MINUTE = 60_000_000
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
    request = PastRequest(NOW // HOUR * HOUR, frozenset({"growing", "compacted"}), {})
    ours, theirs = (each.questions(request) for each in (real.runner, LocalForecasting(memory)))
    assert sorted(ours.cross_ends) == sorted(theirs.cross_ends)  # thresholds are drawn by each worker
    assert sorted(ours.moved) == sorted(theirs.moved)
    assert len(ours.crossed) > 20
    assert plain(memory.read(FORECASTS)) == plain(real.read(FORECASTS))
    assert forecasts(real, hours=24)["compacted"]["judged_at"] >= NOW + DAY
    assert forecasts(real, hours=720)["growing"]["p50"] is not None


class RiskyWorld:
    """A table of the shared lake that nothing compacted until eight days ago, and forecasts of it."""

    def __init__(self, session: SparkSession, lake: Lake) -> None:
        mark = uuid4().hex[:8]
        self.session, self.lake, self.name = session, lake, f"ops_{mark}.access_logs"
        self.settings = lake.settings(
            meta={"namespace": f"meta_{mark}"},
            observe={"include": [f"{lake.name}.{self.name}"]},
            forecast={"small_files": risky_lake.THRESHOLD},
        )
        self.now = time.time_ns() // 1000
        self.warned = Micros((self.now - 8 * DAY) // HOUR * HOUR + 10 * MINUTE)
        self.stages = risky_lake.build(lake, self.name, self.warned // 1000, self.now // 1000)
        self.passes = pipeline.passes(self.settings, session, failpoints=Failpoints())

    def see(self, stage: str) -> None:
        """A pass of the pipeline that sees a stage of the table."""
        self.lake.move(self.name, stage)
        self.passes.run()

    def forecast(self, at: int) -> ForecastReport:
        """A pass of forecasts at that time."""
        store = pipeline.meta_store(self.settings, self.session)
        upkeep = SparkUpkeep(self.session, lambda: self.lake.catalog, self.settings.meta.namespace)
        return forecast_step(self.settings, self.session, upkeep, store, clock=FixedClock(at)).run()

    def risk(self) -> dict[str, Any]:
        """The newest forecast of the table's small files over seven days."""
        found = self.lake.load(f"{self.settings.meta.namespace}.forecasts").scan().to_arrow().to_pylist()
        rows = [row for row in found if (row["metric"], row["hours"]) == ("small_files", 168)]
        return max(rows, key=lambda row: row["as_of"])

    def forecast_by_command(self, folder: Path) -> dict[str, Any]:
        """The report of `limnograph forecast --once`."""
        lines = "".join(f'{key} = "{value}"\n' for key, value in self.lake.properties.items())
        config = folder / "limnograph.toml"
        config.write_text(
            f'[catalogs.{self.lake.name}]\n{lines}[meta]\nnamespace = "{self.settings.meta.namespace}"\n'
            f'[observe]\ninclude = ["{self.lake.name}.{self.name}"]\n'
            f"[forecast]\nsmall_files = {risky_lake.THRESHOLD}\n"
            f'[spark]\nmaster = "local[1]"\n[spark.conf]\n"spark.driver.extraJavaOptions" = "{quick_options()}"\n'
        )
        command = [sys.executable, "-m", "limnograph", "forecast", "--once", "--config", str(config)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stderr[-2000:]
        return json.loads(done.stdout.splitlines()[-1])


def observed(server: ServerServices, clock: serving_kit.FixedClock, at: int) -> list[tuple[str | None, str]]:
    """Findings `at_risk` and their states, after a look at that time."""
    clock.micros = at
    server.store.probed(Micros(at), ("shared",), ())
    server.store.refresh()
    asyncio.run(server.observers.observe(server.evaluator))
    return [(fact.subject, fact.state) for fact in server.evaluator.evaluate() if fact.code == "at_risk"]


async def pages(server: ServerServices, *paths: str) -> list[Any]:
    await server.measurer.measure_due()
    async with serving_kit.client(server) as http:
        return [(await http.get(f"/api/v1/{path}")).json() for path in paths]


def test_after_its_compaction_the_risk_falls_and_the_warning_was_no_false_alarm(
    spark: SparkSession, shared_lake: Lake, tmp_path: Path
) -> None:
    world = RiskyWorld(spark, shared_lake)
    clock = serving_kit.FixedClock(world.warned)
    world.see(world.stages.grown)
    world.forecast(world.warned)
    server = serving_kit.parts(embedded_engine(world.settings), clock=clock)
    warned = world.risk()
    assert warned["alert"]
    assert warned["p_cross"] >= 0.5 > 0.3 > warned["p_cross_if_maintained"]
    assert observed(server, clock, world.warned + MINUTE) == [("small_files", "open")]

    merged = world.warned + DAY + 2 * HOUR
    world.see(world.stages.day_later)
    assert observed(server, clock, merged - MINUTE) == []  # until there is another forecast
    world.forecast(merged)
    after = world.risk()
    assert (after["as_of"] > warned["as_of"], after["alert"]) == (True, False)
    assert after["p_cross"] < 0.3
    assert observed(server, clock, merged + MINUTE) == [("small_files", "closed")]
    listed, ledger = asyncio.run(pages(server, "forecasts", "effects"))
    assert listed["counts"]["at_risk"] == 0
    assert listed["track_record"]["pending"] == 1
    operation = next(row for row in ledger["rows"] if row["operation_id"] == str(world.stages.by_hand))
    assert (operation["action"], operation["verdict"]) == ("rewrite_data_files", "no_data_yet")
    assert operation["because"] == "no job is known to read this table"

    world.see(world.stages.week_later)
    done = world.forecast_by_command(tmp_path)
    assert (done["tables"], done["failed"]) == (1, 0)
    assert done["rows"] > 0 < done["judged"]
    again = standing_step(world.settings, spark).run()
    assert again.model == done["model"]
    assert again.rows == 0 or again.as_of > done["as_of"] * 1_000  # unless an hour has ended meanwhile
    training = model_training(world.settings, spark).run()
    assert (training.outcome, training.tables, training.model) == ("too_few_tables", 1, again.model)
    observed(server, clock, time.time_ns() // 1000)
    (listed,) = asyncio.run(pages(server, "forecasts"))
    outcome = {name: listed["track_record"][name] for name in ("warnings", "acted_upon", "did_not", "came_true")}
    assert outcome == {"warnings": 1, "acted_upon": 1, "did_not": 0, "came_true": 0}
