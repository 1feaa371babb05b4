"""Training: questions without leaks, trees that predict as scikit-learn's, models that survive their file."""

from __future__ import annotations

import numpy as np
import pytest

from forecast_cases import case, rising, runs, sawtooth
from limnograph.analysis.forecast import Model, better_than, parse_model
from limnograph.analysis.forecast.features import CROSS_FEATURES, Futures, cross_features
from limnograph.analysis.forecast.model import NO_TUNING, step_of
from limnograph.analysis.forecast.past import PastQuestions, past_questions
from limnograph.analysis.forecast.series import HistoryGrid
from limnograph.analysis.forecast.training import fit, train
from limnograph.analysis.forecast.trees import from_boosting
from limnograph.analysis.forecast.tuning import Tuning
from limnograph.analysis.forecast.views import LevelView, view_block
from limnograph.domain.errors import InvalidInput
from limnograph.domain.forecasts.cases import ForecastCase


def tables(count: int, days: int = 30) -> list[ForecastCase]:
    rng = np.random.default_rng(5)
    found = []
    for number in range(count):
        shape = rising if number % 2 else sawtooth
        states = np.array(shape(days, per_hour=float(rng.uniform(0.5, 9)))) * rng.uniform(0.9, 1.1, 24 * days)
        found.append(case(states.tolist(), runs=runs(days), id=f"t{number}"))
    return found


@pytest.fixture(scope="module")
def asked() -> PastQuestions:
    series = [HistoryGrid(each) for each in tables(40)]
    return past_questions(series, [[24 * 16]] * len(series), (24, 168), seed=3)


@pytest.fixture(scope="module")
def model(asked: PastQuestions) -> Model:
    return fit(asked, "small", rounds=10)


def test_trees_predict_as_the_library_that_trained_them(asked: PastQuestions) -> None:
    ensemble = pytest.importorskip("sklearn.ensemble")
    varied = np.array([np.unique(column[np.isfinite(column)]).size > 1 for column in asked.cross.T])
    fitted = ensemble.HistGradientBoostingClassifier(max_iter=12, max_leaf_nodes=9).fit(
        asked.cross[:, varied], asked.crossed
    )
    rows = asked.cross[:, varied].copy()
    rows[::7, ::3] = np.nan
    ours = from_boosting(fitted).predict(rows)
    np.testing.assert_allclose(ours, fitted.decision_function(rows), atol=1e-5)


def test_a_stored_model_answers_as_the_trained_one(model: Model, asked: PastQuestions) -> None:
    stored = parse_model(model.to_bytes())
    np.testing.assert_array_equal(stored.crossing(asked.cross), model.crossing(asked.cross))
    np.testing.assert_array_equal(stored.moves(asked.quantile, 168), model.moves(asked.quantile, 168))


def test_a_tuning_is_stored_and_widens_and_shifts_one_step(model: Model) -> None:
    sides = NO_TUNING.sides.copy()
    sides[0, 2] = 2.0, 3.0
    odds = NO_TUNING.odds.copy()
    odds[0] = 0.5, -1.0
    stored = parse_model(model._replace(tuning=Tuning(odds, sides, 0.3)).to_bytes()).tuning
    assert stored.alert == 0.3
    moves = np.array([[-1.0], [0.0], [1.0]])
    assert stored.scaled(moves, np.array([2]), step_of(24)).ravel().tolist() == [-2.0, 0.0, 3.0]
    assert stored.scaled(moves, np.array([1]), step_of(24)).ravel().tolist() == [-1.0, 0.0, 1.0]
    assert stored.shifted(np.array([2.0]), step_of(30)).tolist() == [0.0]
    assert stored.shifted(np.array([2.0]), step_of(168)).tolist() == [2.0]
    assert parse_model(model.to_bytes()).tuning.alert == 0.5


@pytest.mark.parametrize("content", [b"", b"x" * 99, b"\x80\x04N."])
def test_what_is_not_a_model_is_refused(content: bytes) -> None:
    with pytest.raises(InvalidInput, match="model"):
        parse_model(content)


def test_without_trees_the_logistic_regression_answers(asked: PastQuestions) -> None:
    plain = parse_model(fit(asked, "plain", trees=False).to_bytes())
    assert plain.cross is None
    p = 1 / (1 + np.exp(-plain.crossing(asked.cross)))
    assert ((p - asked.crossed) ** 2).mean() < asked.crossed.var()
    assert (np.diff(plain.moves(asked.quantile, 24), axis=0) >= 0).all()


def test_a_new_model_must_be_better_on_the_newest_week(model: Model, asked: PastQuestions) -> None:
    flipped = asked._replace(crossed=1 - asked.crossed)
    worse = fit(flipped, "worse", trees=False)
    assert better_than(worse, model, asked)
    assert not better_than(model, worse, asked)
    assert not better_than(model, model, asked)


def test_too_little_past_trains_nothing() -> None:
    assert train(tables(2), "few", trees=False) is None


def test_features_do_not_see_what_followed() -> None:
    """The same question asked of a series that ends at its cut-off's outcome, and of one with another future."""
    days, cut = 20, 24 * 10
    calm = rising(days)
    wild = calm[:cut] + [each * 50 for each in calm[cut:]]
    rows = []
    for states in (calm, wild):
        series = HistoryGrid(case(states))
        rows.append(past_questions([series], [[cut]], (24,), seed=1))
    np.testing.assert_array_equal(rows[0].quantile, rows[1].quantile)
    np.testing.assert_array_equal(rows[0].cross, rows[1].cross)  # thresholds too
    assert (rows[0].moved != rows[1].moved).any()


def test_maintenance_widens_the_room_below_the_threshold() -> None:
    series = HistoryGrid(case(rising(20)))
    views = [LevelView(series, series.hours, "small_files", reset) for reset in (None, 50.0)]
    block = view_block(views)
    rows = cross_features(block, Futures.drawn(block, 7), np.full(2, 3_000.0), 168)
    room, used = (rows[:, CROSS_FEATURES.index(name)] for name in ("room", "used_7d"))
    assert room[1] == pytest.approx(np.log(3_000 / 50))
    assert used[1] < used[0] / 2


def test_outcomes_end_before_the_series_does() -> None:
    series = HistoryGrid(case(rising(20)))
    asked = past_questions([series], [[24 * 15]], (24, 168), seed=1)
    assert set(asked.cross_hours.tolist()) == {24}
    assert (asked.cross_ends <= series.end).all()


def test_thresholds_are_drawn_again_at_each_cut_off(asked: PastQuestions) -> None:
    room = asked.cross[:, CROSS_FEATURES.index("room")]
    assert (room > 0).all()
    assert np.unique(np.round(room, 6)).size > 50
