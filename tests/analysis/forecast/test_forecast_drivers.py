"""Drivers of readers: what their runs followed, times what grows."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from forecast_cases import case, rising, runs, sawtooth
from limnograph.analysis.forecast import load_model, parse_model
from limnograph.analysis.forecast.drivers import NO_WEIGHTS, WEIGHTS, PartMove, driver_weights
from limnograph.analysis.forecast.following import responses
from limnograph.analysis.forecast.series import HistoryGrid
from limnograph.analysis.forecast.shares import cost_shares
from limnograph.domain.forecasts.cases import ForecastCase

GIB = 2.0**30
DAYS = 28


def noise(seed: int, scale: float = 0.05) -> np.ndarray:
    return np.exp(np.random.default_rng(seed).normal(0, scale, 24 * DAYS))


def follows_files() -> ForecastCase:
    """Small files rise and are compacted daily; each costs the reader 0.3 s."""
    files = np.array(sawtooth(DAYS)) + np.array(rising(DAYS, per_hour=0.3))
    seconds = (20 + 0.3 * np.concatenate([files[:1], files[:-1]])) * noise(1)
    return case(files.tolist(), [("reader_seconds", 200.0)], runs=runs(DAYS, seconds.tolist()))


def follows_bytes() -> ForecastCase:
    """The reader reads twice the bytes after four weeks, in twice the time. Small files go up and down."""
    read = GIB * np.linspace(1, 2, 24 * DAYS) * noise(2, 0.1)
    seconds = 30 * read / GIB * noise(3)
    past = msgspec.structs.replace(runs(DAYS, seconds.tolist()), read_bytes=read.tolist())
    return case(sawtooth(DAYS), [("reader_seconds", 70.0)], runs=past)


def first_driver(given: ForecastCase) -> str:
    return load_model().forecast([given])[0].answer.targets[0].drivers[0].metric


def test_runs_that_follow_small_files_have_them_as_their_driver() -> None:
    given = follows_files()
    found = responses(HistoryGrid(given), "reader_seconds", 24 * DAYS)
    assert max(found, key=lambda name: found[name]) == "small_files"
    assert found["small_files"] == pytest.approx(0.7, abs=0.25)
    assert first_driver(given) == "small_files"


def test_runs_that_read_more_have_bytes_as_their_driver() -> None:
    given = follows_bytes()
    found = responses(HistoryGrid(given), "reader_seconds", 24 * DAYS)
    assert found["total_bytes"] == pytest.approx(1.0, abs=0.25)
    assert found["small_files"] < 0.1
    assert first_driver(given) == "total_bytes"


def test_seconds_per_gib_do_not_have_bytes_as_their_driver() -> None:
    found = driver_weights(
        "reader_seconds_per_gib",
        {"total_bytes": PartMove(response=2.0, rise=1.0), "manifests": PartMove(response=0.1, rise=1.0)},
    )
    assert [each.metric for each in found] == ["manifests"]


def test_what_grows_most_is_named_where_the_reader_followed_nothing() -> None:
    rises = {"small_files": 0.1, "manifests": 0.3, "total_bytes": -2.0}
    found = driver_weights("reader_seconds", {name: PartMove(rise=rise) for name, rise in rises.items()})
    assert [each.metric for each in found] == ["manifests", "small_files"]
    assert sum(each.weight for each in found) == pytest.approx(1.0)


def test_few_runs_follow_what_is_usual() -> None:
    given = case(rising(2), runs=msgspec.structs.replace(runs(2), times=[], duration_seconds=[], read_bytes=[]))
    found = responses(HistoryGrid(given), "reader_seconds_per_gib", 48)
    assert found["total_bytes"] == 0.0
    assert found["small_files"] > 0.0


def test_what_small_files_cost_is_told_apart_from_a_constant() -> None:
    files = np.array(sawtooth(DAYS))
    seconds = (20 + 0.5 * np.concatenate([files[:1], files[:-1]])) * noise(4)
    given = case(files.tolist(), [("reader_seconds", 200.0)], runs=runs(DAYS, seconds.tolist()))
    found = cost_shares(HistoryGrid(given), 24 * DAYS)
    level = float(HistoryGrid(given).levels("small_files")[-1])
    assert found["small_files"] == pytest.approx(0.5 * level / (20 + 0.5 * level), abs=0.15)
    assert max(found, key=lambda name: found[name]) == "small_files"


def test_too_few_runs_tell_no_shares() -> None:
    given = case(rising(2), runs=msgspec.structs.replace(runs(2), times=[], duration_seconds=[], read_bytes=[]))
    assert cost_shares(HistoryGrid(given), 48) == {}


def test_weights_choose_among_the_parts_that_are_known() -> None:
    weights = np.zeros(WEIGHTS)
    weights[0] = 1.0
    moves = {
        "small_files": PartMove(response=0.1, rise=1.0, week=0.0),
        "manifests": PartMove(response=0.9, rise=1.0, week=0.0),
        "total_bytes": PartMove(response=2.0, rise=2.0, week=0.0),
    }
    found = driver_weights("reader_seconds_per_gib", moves, weights)
    assert [each.metric for each in found] == ["manifests", "small_files"]
    assert sum(each.weight for each in found) == pytest.approx(1.0)
    assert driver_weights("reader_seconds", moves, weights)[0].metric == "total_bytes"


def test_a_model_without_weights_of_drivers_can_be_stored_and_read() -> None:
    model = load_model().model
    assert model.drivers.shape == (WEIGHTS,)
    assert parse_model(model._replace(drivers=NO_WEIGHTS).to_bytes()).drivers.size == 0
    np.testing.assert_array_equal(parse_model(model.to_bytes()).drivers, model.drivers)
