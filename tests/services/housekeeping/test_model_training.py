"""Training on a site's own tables: what it takes, that the better model is used, and that the others stay away."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from forecast_world import LocalForecasting, forecasts, hours_of, roll, step
from limnograph.adapters.model_file import ModelFile
from limnograph.analysis.forecast import Forecaster, Model, load_model
from limnograph.domain.errors import EnvironmentFault
from limnograph.services.housekeeping.model_training import ModelTraining, TrainingReport
from upkeep_world import NOW, World

TABLES = 40
DAYS = 45


@pytest.fixture(scope="module")
def world() -> World:
    """Tables that grow, of which every second one is compacted after some days."""
    world, rng = World(), np.random.default_rng(7)
    for number in range(TABLES):
        every = int(rng.integers(24, 24 * 9)) if number % 2 else 10_000
        rows = hours_of(f"t{number}", NOW, DAYS, int(rng.integers(1, 40)), lambda ago, every=every: ago % every == 0)
        roll(world, rows[:: int(rng.integers(1, 5))])
    return world


class BackwardsModel(Model):
    """Says the opposite of the model that ships with the product."""

    def crossing(self, rows: Any) -> Any:
        return -super().crossing(rows)


def backwards() -> Forecaster:
    return Forecaster(BackwardsModel(*load_model().model)._replace(name="backwards"))


def trained(world: World, file: ModelFile, said: list[str], **options: Any) -> TrainingReport:
    given = {"shipped": backwards, "least_tables": TABLES} | options
    return ModelTraining(world.upkeep, LocalForecasting(world), file, world.clock, progress=said.append, **given).run()


def test_a_better_model_is_kept_in_a_file_and_makes_the_forecasts(world: World, tmp_path: Any) -> None:
    path, said = tmp_path / "state" / "model.npz", list[str]()
    path.parent.mkdir()
    path.write_bytes(b"damaged")
    file = ModelFile(path)
    done = trained(world, file, said)
    assert (done.outcome, done.tables) == ("replaced", TABLES)
    assert "model.npz is not a model file" in "".join(said)
    assert done.model == f"own-2024-10-04-{TABLES}-tables"
    assert done.questions >= 500
    assert done.brier_new < done.brier_old
    better = f"it is better: Brier score of the newest week {done.brier_new} for the new model and {done.brier_old}"
    assert done.sentence == f"forecasts are made with {done.model}; {better} for the one before"
    own = file.own()
    assert own is not None
    assert own.name == done.model
    assert own.model.driver_trees is not None  # as shipped: a past does not say what moved a reader
    np.testing.assert_array_equal(own.model.drivers, load_model().model.drivers)
    assert path.stat().st_mode & 0o077 == 0
    again = trained(world, file, said)
    assert (again.outcome, again.model, len(said)) == ("kept", own.name, 1)  # as good is not better
    assert "the new model is not better" in again.sentence
    report = step(world, model=lambda: own).run()
    assert report.model == own.name
    assert {row["model"] for row in forecasts(world).values()} == {own.name}


def test_few_tables_and_short_histories_train_nothing(world: World, tmp_path: Any) -> None:
    file = ModelFile(tmp_path / "model.npz")
    assert trained(world, file, [], least_tables=TABLES + 1).outcome == "too_few_tables"
    young = World()
    roll(young, [row for number in range(3) for row in hours_of(f"t{number}", NOW, 9, 5)])
    done = trained(young, file, [], least_tables=3)
    assert (done.outcome, done.model, done.brier_new) == ("too_little_history", "backwards", None)
    assert file.own() is None


@pytest.mark.parametrize("content", [b"", b"no model", load_model().model.to_bytes()[:2_000], b"\x80\x04N."])
def test_a_file_that_is_no_model_is_refused_with_a_remedy(tmp_path: Any, content: bytes) -> None:
    path = tmp_path / "model.npz"
    path.write_bytes(content)
    with pytest.raises(EnvironmentFault, match=r"model\.npz is .*; train another with `limnograph forecast --train`"):
        ModelFile(path).own()
