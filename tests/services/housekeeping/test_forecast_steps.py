"""Forecasts and the training of their model as steps of the pipeline: when, in which order, and what failures do."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from forecast_world import LocalForecasting, hours_of, roll, step
from limnograph.adapters.model_file import ModelFile
from limnograph.adapters.prometheus.exporter import Exporter
from limnograph.analysis.forecast import load_model
from limnograph.analysis.forecast.past import PastQuestions
from limnograph.analysis.forecast_rows.request import PastRequest
from limnograph.domain.errors import SourceUnavailable
from limnograph.domain.facts.meta_tables import FORECASTS, MAINTENANCE
from limnograph.domain.metrics.pipeline import PIPELINE_METRICS
from limnograph.jobs.forecasting import train_if_due
from limnograph.services.housekeeping.forecast_steps import ForecastSteps
from limnograph.services.housekeeping.journal import Journal
from limnograph.services.housekeeping.model_training import ModelTraining
from limnograph.services.rollups.fold import DAY
from upkeep_world import NOW, World

TABLES = 2


class Reader:
    """Asks about the past of the tables in this process. `before`: acts, or raises, first. `asked`: how often."""

    def __init__(self, world: World, before: Callable[[], None] = lambda: None) -> None:
        self.local, self.before, self.asked = LocalForecasting(world), before, 0

    def questions(self, request: PastRequest) -> PastQuestions:
        self.asked += 1
        self.before()
        return self.local.questions(request)


class Site:
    """A site of two young tables, and its pipeline's housekeeping; every `restart` is another process."""

    def __init__(self, tmp_path: Any, before: Callable[[], None] = lambda: None, least: int = TABLES) -> None:
        self.world, self.file, self.least = World(), ModelFile(tmp_path / "model.npz"), least
        self.reader, self.meter = Reader(self.world, before), Exporter(PIPELINE_METRICS)
        roll(self.world, [row for name in ("a", "b") for row in hours_of(name, NOW, 9, 5)])
        self.restart()

    def restart(self) -> None:
        self.house = self.world.housekeeping(forecasts=self.steps)

    def steps(self, journal: Journal) -> ForecastSteps:
        return ForecastSteps(journal, step(self.world), self.training(), meter=self.meter)

    def training(self) -> ModelTraining:
        world = self.world
        return ModelTraining(
            world.upkeep, self.reader, self.file, world.clock, shipped=load_model, least_tables=self.least
        )

    def run(self) -> list[str]:
        """Steps that ran, of those about forecasts."""
        return [each.kind for each in self.world.settle(self.house) if each.kind in {"forecast", "train"}]

    def rows(self, kind: str) -> list[dict[str, Any]]:
        return [row for row in self.world.read(MAINTENANCE) if row["kind"] == kind]


def refused() -> None:
    raise SourceUnavailable("spark", "no executors")


def test_the_pipeline_trains_once_a_week_after_its_forecasts_and_says_which_model_is_in_use(tmp_path: Any) -> None:
    site = Site(tmp_path)
    assert site.run() == ["forecast", "train"]
    (row,) = site.rows("train")
    detail = json.loads(row["detail"])
    assert (row["status"], detail["outcome"], detail["tables"]) == ("ok", "too_little_history", 2)
    assert detail["model"] == load_model().name == json.loads(site.rows("forecast")[0]["detail"])["model"]
    told = site.meter.registry.get_sample_value
    assert told("limnograph_forecast_trainings_total", {"outcome": "too_little_history"}) == 1
    assert told("limnograph_forecast_pass_own_model") == 0
    assert told("limnograph_forecast_training_brier", {"model": "new"}) is None  # there was no trial
    for day in range(1, 8):
        site.restart()
        site.world.clock.micros += DAY
        assert ("train" in site.run()) is (day == 7)
    assert site.reader.asked == 2


def test_a_training_that_fails_is_recorded_and_stops_no_forecast(tmp_path: Any) -> None:
    site = Site(tmp_path, before=refused)
    assert site.run() == ["forecast", "train"]
    (row,) = site.rows("train")
    assert (row["status"], row["problem"]) == ("failed", "SourceUnavailable: spark: no executors")
    site.world.clock.micros += DAY
    roll(site.world, hours_of("a", site.world.clock.micros, 1, 5, begin=90))
    assert site.run() == ["forecast"]
    assert len({row["as_of"] for row in site.world.read(FORECASTS)}) == 2


def test_a_training_that_takes_its_process_along_is_not_begun_again_at_once(tmp_path: Any) -> None:
    def killed() -> None:
        raise KeyboardInterrupt

    site = Site(tmp_path, before=killed)
    with pytest.raises(KeyboardInterrupt):
        site.run()
    site.restart()
    assert site.run() == []
    assert site.rows("train") == []


def test_whether_there_are_enough_tables_is_looked_at_daily_and_leaves_no_row(tmp_path: Any) -> None:
    site = Site(tmp_path, least=3)
    assert site.run() == ["forecast", "train"]
    assert site.run() == []
    roll(site.world, hours_of("c", NOW, 9, 5))
    site.world.clock.micros += DAY
    site.reader.before = refused
    assert site.run()[-1] == "train"
    assert [row["status"] for row in site.rows("train")] == ["failed"]  # now there are enough


def test_the_program_of_its_own_trains_after_a_pass_and_goes_on_if_that_fails(tmp_path: Any) -> None:
    site, said = Site(tmp_path), list[str]()
    train_if_due(site.training(), said.append)
    train_if_due(site.training(), said.append)  # a week has not passed
    (sentence,) = said
    assert sentence.startswith(f"forecasts are made with {load_model().name}; the past of 2 tables has too few")
    site.world.clock.micros += 7 * DAY
    site.reader.before = refused
    train_if_due(site.training(), said.append)
    assert said[1:] == [
        "the training of the model failed, forecasts go on with the one in use: SourceUnavailable: spark: no executors"
    ]
