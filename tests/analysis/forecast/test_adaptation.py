"""Calibration by a fleet's own past, and the common load of its readers."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from forecast_cases import AS_OF, HOUR_MS, case, rising, runs
from limnograph.analysis.forecast import FleetPasts, common_load, load_model
from limnograph.analysis.forecast.adaptation import adapt, own_questions
from limnograph.analysis.forecast.series import HistoryGrid
from limnograph.domain.time import Millis


def noisy(number: int) -> list[float]:
    rng = np.random.default_rng(number)
    return (np.array(rising(30)) * np.exp(rng.normal(0, 0.3, 24 * 30).cumsum() * 0.05)).tolist()


def test_intervals_become_wider_where_they_missed() -> None:
    asked = own_questions([HistoryGrid(case(noisy(number))) for number in range(40)])
    model = load_model().model
    calm = adapt(model, asked)
    wild = adapt(model, asked._replace(moved=asked.moved * 6))
    step = min(calm.sides)
    assert wild.sides[step][1] > calm.sides[step][1]


def test_few_questions_change_nothing() -> None:
    asked = own_questions([HistoryGrid(case(noisy(1)))])
    found = adapt(load_model().model, asked)
    assert (dict(found.odds), dict(found.sides)) == ({}, {})


def test_outcomes_after_the_cut_off_of_another_fleet_do_not_count() -> None:
    pasts = FleetPasts()
    pasts.add([case(noisy(number), id=str(number)) for number in range(60)])
    model = load_model().model
    assert pasts.adaptation(model, Millis(AS_OF)).sides
    assert not pasts.adaptation(model, Millis(AS_OF - 40 * 24 * HOUR_MS)).sides


def test_the_common_load_is_what_all_readers_share() -> None:
    seconds = [100.0] * (24 * 10 - 6) + [200.0] * 6
    shared = common_load([runs(10, seconds), runs(10, [each * 3 for each in seconds]), runs(10, seconds)])
    assert shared.at(np.array([AS_OF - 2 * HOUR_MS]))[0] == pytest.approx(np.log(2), abs=0.1)
    assert common_load([runs(10, seconds)]).at(np.array([AS_OF])).tolist() == [0.0]


def test_runs_at_or_after_the_cut_off_are_not_part_of_the_load() -> None:
    past = [runs(10) for _ in range(3)]
    later = [
        msgspec.structs.replace(
            each,
            times=[*each.times, AS_OF + 5],
            duration_seconds=[*each.duration_seconds, 1e6],
            read_bytes=[*each.read_bytes, 1.0],
        )
        for each in past
    ]
    known = common_load(past, AS_OF)
    np.testing.assert_array_equal(common_load(later, AS_OF).logs, known.logs)
