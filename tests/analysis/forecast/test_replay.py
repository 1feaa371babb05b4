"""Forecasts of the past: nothing later is known at a cut-off, outcomes are what happened, scores are right by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from limnograph.analysis.forecast import load_model
from limnograph.analysis.forecast_rows.replay import (
    NOW,
    SEASON,
    TREND,
    FullHistory,
    PlainForecast,
    ReplayedForecast,
    plain_forecasts,
    replay,
    week_slope,
)
from limnograph.analysis.forecast_rows.replay_scores import average_precision, horizon_scores, wait_errors
from limnograph.analysis.forecast_rows.table_rows import COLUMNS, DAY, HOUR, NAMES, TableRows

START = 20_000 * DAY
UNTIL = START + 30 * DAY
ORIGIN = START + 20 * DAY


def rows(states: list[float]) -> TableRows:
    """A table with a commit an hour, and these small files after each."""
    columns: dict[str, list[Any]] = {name: [0.0] * len(states) for name in COLUMNS}
    columns |= {name: ["x"] * len(states) for name in NAMES}
    columns |= {
        "at": [START + hour * HOUR for hour in range(len(states))],
        "span_hours": [1] * len(states),
        "small_files": states,
        "commits": [1.0] * len(states),
        "added_data_files": [4.0] * len(states),
    }
    return TableRows("u", columns)


def rising(after: float) -> TableRows:
    """Four small files more an hour until the cut-off, `after` more an hour from then on."""
    return rows([100.0 + 4 * hour if hour < 480 else 100.0 + 4 * 480 + after * (hour - 480) for hour in range(720)])


def replayed(table: TableRows) -> dict[int, ReplayedForecast]:
    found = list(replay([FullHistory(table, UNTIL)], ORIGIN, load_model(), np.random.default_rng(5)))
    return {each.hours: each for each in found if each.metric == "small_files"}


def test_what_comes_after_a_cut_off_changes_no_forecast_and_decides_its_outcome() -> None:
    calm, steep = replayed(rising(0.0)), replayed(rising(400.0))
    assert calm.keys() == steep.keys() == {24, 168}
    for hours, one in calm.items():
        other = steep[hours]
        said = ("threshold", "p", "low", "middle", "high", "abstained", "plain", "wait_hours", "trend_wait_hours")
        assert all(getattr(one, name) == getattr(other, name) for name in said)
    week = steep[168]
    assert (calm[168].crossed, week.crossed) == (False, True)
    levels = FullHistory(rising(400.0), UNTIL).levels_after("small_files", ORIGIN)
    assert levels[week.waited_hours - 1] >= week.threshold > levels[week.waited_hours - 2]
    assert week.level == levels[167]
    assert week.threshold > levels[0] - 400  # above the level of the cut-off


def test_a_table_that_was_idle_or_unknown_then_is_not_forecast() -> None:
    idle = rows([100.0 + hour for hour in range(240)])  # the last commit ten days before the cut-off
    assert replayed(idle) == {}
    assert list(replay([FullHistory(idle, UNTIL)], START, load_model(), np.random.default_rng(5))) == []


def test_an_outcome_that_is_not_known_yet_is_no_forecast() -> None:
    table = FullHistory(rising(4.0), UNTIL)
    found = list(replay([table], UNTIL - 2 * DAY, load_model(), np.random.default_rng(5)))
    assert {each.hours for each in found} == {24}


def test_methods_without_a_model_say_what_their_names_say() -> None:
    levels = np.array([10.0 + hour for hour in range(24 * 9)])
    found = plain_forecasts(levels, 24, week_slope(levels))
    now = levels[-1]
    assert found[NOW] == PlainForecast(now, now)
    assert found[TREND] == (pytest.approx(now + 24), pytest.approx(now + 24))
    assert found[SEASON] == PlainForecast(levels[-168 + 23], levels[-168 + 23])
    short = np.array([np.nan, 5.0])
    unknown = plain_forecasts(short, 168, week_slope(short))
    assert unknown == dict.fromkeys((NOW, TREND, SEASON), PlainForecast(5.0, 5.0))


def test_hours_of_unknown_levels_count_in_a_trend() -> None:
    levels = np.arange(200.0)
    levels[100:150] = np.nan
    assert week_slope(levels) == pytest.approx(1.0)


def forecast(table: str, p: float, *, crossed: bool, **changes: Any) -> ReplayedForecast:
    plain = {name: PlainForecast(50.0, 50.0 + 100 * p) for name in (NOW, TREND, SEASON)}
    given: dict[str, Any] = {
        "origin": 0,
        "hours": 24,
        "threshold": 100.0,
        "low": 40.0,
        "middle": 50.0,
        "high": 60.0,
        "abstained": False,
        "level": 50.0,
        "waited_hours": 10 if crossed else None,
        "wait_hours": None,
        "trend_wait_hours": None,
    }
    return ReplayedForecast(table=table, metric="m", p=p, plain=plain, crossed=crossed, **(given | changes))


def test_scores_are_those_of_a_calculation_by_hand() -> None:
    found = [
        forecast("a", 0.9, crossed=True, wait_hours=15.0, trend_wait_hours=40.0),
        forecast("b", 0.8, crossed=False, level=70.0),
        forecast("c", 0.1, crossed=True),
        forecast("d", 0.1, crossed=False),
    ]
    (score,) = horizon_scores(found)
    assert (score.hours, score.forecasts, score.targets, score.crossed, score.coverage) == (24, 4, 4, 0.5, 0.75)
    assert score.brier == pytest.approx((0.01 + 0.64 + 0.81 + 0.01) / 4)
    assert score.calibration_error == pytest.approx((0.1 + 0.8 + 0.8) / 4)
    model = score.methods[0]
    assert model.precision_recall == pytest.approx(0.5 + 0.5 * 2 / 4)
    assert model.level_error == 0
    assert wait_errors(found) == (1, 0.5, 3.0)
    assert horizon_scores([]) == []
    (none,) = horizon_scores([forecast("a", 0.2, crossed=False)])
    assert none.methods[0].precision_recall is None


def test_ties_count_together() -> None:
    assert average_precision(np.array([1.0, 0.0]), np.array([0.3, 0.3])) == 0.5
