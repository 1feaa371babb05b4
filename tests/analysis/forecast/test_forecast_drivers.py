"""Drivers of readers: what their runs followed, times what grows."""

from __future__ import annotations

import io

import msgspec
import numpy as np
import pytest

from forecast_cases import case, rising, runs, sawtooth
from limnograph.analysis.forecast import load_model, parse_model
from limnograph.analysis.forecast.choice import TREE_SIGNS, ReaderAsk, choose_drivers, tree_signs
from limnograph.analysis.forecast.drivers import NO_WEIGHTS, WEIGHTS, PartMove, driver_weights
from limnograph.analysis.forecast.following import STRUCTURE, responses
from limnograph.analysis.forecast.series import HistoryGrid
from limnograph.analysis.forecast.shares import cost_shares
from limnograph.analysis.forecast.trees import Trees, from_boosting
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
    assert found["small_files"].share == pytest.approx(0.5 * level / (20 + 0.5 * level), abs=0.15)
    assert max(found, key=lambda name: found[name].share) == "small_files"
    assert found["small_files"].decided > 0.8
    assert found["manifests"].decided < 0.3  # not known at any run: told apart from a constant by what is usual alone


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


def stump(sign: str) -> Trees:
    """One tree with two leaves: a part whose sign is above 0 is the driver."""
    return Trees(
        base=0.0,
        root=np.array([0], np.int32),
        feature=np.array([TREE_SIGNS.index(sign), 0, 0], np.int16),
        limit=np.zeros(3),
        left=np.array([1, 1, 2], np.int32),
        right=np.array([2, 1, 2], np.int32),
        missing_left=np.ones(3, bool),
        value=np.array([0.0, -2.0, 2.0], np.float32),
        depth=1,
    )


MOVES = {
    "small_files": PartMove(response=0.9, share=0.1, until_high=0.5, rise=1.0),
    "manifests": PartMove(response=0.1, share=0.6, until_high=0.5, rise=1.0),
    "total_bytes": PartMove(response=0.1, share=0.9, until_high=0.5, rise=1.0),
}


def test_trees_choose_before_weights_and_weights_before_growth() -> None:
    weights = np.zeros(WEIGHTS)
    weights[4] = 1.0  # of the share
    asked = [ReaderAsk("reader_seconds_per_gib", MOVES), ReaderAsk("small_files", {})]
    by_trees = choose_drivers(asked, weights, stump("beyond_response"))
    assert [own[0].metric for own in by_trees] == ["small_files", "small_files"]
    assert [own[0].metric for own in choose_drivers(asked, weights, None)] == ["manifests", "small_files"]
    assert [own[0].metric for own in choose_drivers(asked, NO_WEIGHTS, None)] == ["small_files", "small_files"]
    assert choose_drivers([], weights, stump("share")) == []


def test_a_part_is_compared_with_the_best_that_may_be_named() -> None:
    share = TREE_SIGNS.index("share_until_high")
    beyond = TREE_SIGNS.index("beyond_share_until_high")
    signs = tree_signs(ReaderAsk("reader_seconds_per_gib", MOVES))
    assert signs.shape == (len(STRUCTURE), len(TREE_SIGNS))
    files, size, manifests = (STRUCTURE.index(name) for name in ("small_files", "total_bytes", "manifests"))
    assert signs[manifests, beyond] == pytest.approx(signs[manifests, share] - signs[files, share])
    assert signs[files, beyond] == pytest.approx(signs[files, share] - signs[manifests, share])
    with_bytes = tree_signs(ReaderAsk("reader_seconds", MOVES))
    assert with_bytes[manifests, beyond] == pytest.approx(with_bytes[manifests, share] - with_bytes[size, share])


def test_a_model_keeps_the_trees_that_choose_its_drivers() -> None:
    model = load_model().model
    assert model.driver_trees is not None
    rows = np.random.default_rng(1).normal(size=(50, len(TREE_SIGNS)))
    stored = parse_model(model.to_bytes()).driver_trees
    assert stored is not None
    np.testing.assert_array_equal(stored.predict(rows), model.driver_trees.predict(rows))
    assert parse_model(model._replace(driver_trees=None).to_bytes()).driver_trees is None


def test_trees_of_other_signs_do_not_choose() -> None:
    arrays = dict(np.load(io.BytesIO(load_model().model.to_bytes())))
    arrays["choice.signs"] = np.array("part\nanother")
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    found = parse_model(file.getvalue())
    assert found.driver_trees is None
    assert found.drivers.shape == (WEIGHTS,)


def test_trees_of_a_choice_predict_as_the_library_that_trained_them() -> None:
    ensemble = pytest.importorskip("sklearn.ensemble")
    rng = np.random.default_rng(2)
    rows = rng.normal(size=(400, len(TREE_SIGNS)))
    rows[::5, ::4] = np.nan
    fitted = ensemble.HistGradientBoostingClassifier(max_iter=8, max_leaf_nodes=6).fit(
        rows, np.nan_to_num(rows[:, 1]) > 0, sample_weight=rng.uniform(0.1, 1, 400)
    )
    np.testing.assert_allclose(from_boosting(fitted).predict(rows), fitted.decision_function(rows), atol=1e-5)


def test_the_horizon_of_a_choice_is_the_first_at_which_the_reader_may_cross() -> None:
    given = follows_files()
    far = [msgspec.structs.replace(given.targets[0], threshold=each) for each in (1e-3, 1e9)]
    (near, never), *_ = load_model().reader_asks([given], [far])
    assert near.hours == min(given.horizons_hours)
    assert never.hours == max(given.horizons_hours)
    assert never.room > near.room
    a_week = never.moves["small_files"]
    assert a_week.until_high == a_week.high
    assert near.moves["small_files"].until_high != a_week.high
    assert near.runs > 100
