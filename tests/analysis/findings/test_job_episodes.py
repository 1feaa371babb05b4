"""Jobs that fall silent, fail or slow down, from their runs alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from limnograph.analysis.findings.episodes import Episode
from limnograph.analysis.findings.facts import Ints
from limnograph.analysis.findings.jobs import RunHistory, job_episodes, slow_runs
from limnograph.analysis.findings.slowdown import slow_since
from limnograph.domain.finding_limits import FindingLimits
from limnograph.domain.objectives import PromisedLimit
from limnograph.domain.time import Micros
from table_facts import DAY, HOUR, MINUTE, START

LIMITS = FindingLimits()


def runs(ends: list[int], answered: int, failed: list[bool] | None = None, heard: Ints | None = None) -> RunHistory:
    return RunHistory(
        "rollup",
        np.array(ends, np.int64) + START,
        np.full(len(ends), 50.0),
        np.array(failed or [False] * len(ends), np.bool_),
        Micros(START + answered),
        heard,
    )


def silent(found: RunHistory) -> list[Episode]:
    return [each for each in job_episodes(found, LIMITS) if each.code == "job_silent"]


EVERY_FIVE = [place * 5 * MINUTE for place in range(100)]
LAST = EVERY_FIVE[-1]


def test_a_job_is_silent_after_three_gaps_until_its_next_run() -> None:
    assert silent(runs(EVERY_FIVE, LAST + 14 * MINUTE)) == []
    (found,) = silent(runs(EVERY_FIVE, LAST + 16 * MINUTE))
    assert (found.subject, found.stretch.began) == ("rollup", START + LAST)
    assert found.stretch.opened == START + LAST + 15 * MINUTE
    assert found.evidence == {
        "last_run": (START + LAST) // 1000,
        "usual_gap_seconds": 300,
        "runs": 100,
        "threshold_seconds": 900,
    }
    (closed,) = silent(runs([*EVERY_FIVE, LAST + HOUR], LAST + 61 * MINUTE))
    assert (closed.stretch.closed, closed.stretch.closed_by) == (START + LAST + HOUR, "run")


def test_a_job_with_few_runs_has_no_rhythm() -> None:
    assert silent(runs(EVERY_FIVE[:4], 10 * DAY)) == []


def test_the_night_of_a_job_that_sleeps_at_night_is_usual() -> None:
    ends = [day * DAY + 8 * HOUR + place * 10 * MINUTE for day in range(6) for place in range(60)]
    assert silent(runs(ends, 5 * DAY + 25 * HOUR + 30 * MINUTE))[3:] == []
    assert [each.stretch.closed is None for each in silent(runs(ends, 6 * DAY + 18 * HOUR))][-1:] == [True]


def test_a_silent_job_is_retired_after_a_week() -> None:
    (found,) = silent(runs(EVERY_FIVE, LAST + 8 * DAY))
    assert found.stretch.closed_by == "retired"


def test_an_outage_of_the_source_is_no_silence() -> None:
    before = np.arange(0, LAST, MINUTE) + START
    after = np.arange(LAST + 5 * HOUR, LAST + 5 * HOUR + 10 * MINUTE, MINUTE) + START
    heard = np.concatenate([before, after]).astype(np.int64)
    assert silent(runs(EVERY_FIVE, LAST + 5 * HOUR + 10 * MINUTE, heard=heard)) == []
    later = np.arange(LAST + 5 * HOUR, LAST + 6 * HOUR, MINUTE) + START
    heard = np.concatenate([before, later]).astype(np.int64)
    assert len(silent(runs(EVERY_FIVE, LAST + 6 * HOUR, heard=heard))) == 1, "silent since the source is back"


def test_three_failures_in_a_row_are_a_finding_until_a_success() -> None:
    failed = [False] * 5 + [True] * 3
    found = job_episodes(runs(EVERY_FIVE[:8], EVERY_FIVE[8], failed), LIMITS)
    assert [(each.stretch.closed, each.evidence["failed"]) for each in found] == [(None, 3)]
    found = [
        e
        for e in job_episodes(runs(EVERY_FIVE[:9], EVERY_FIVE[9], [*failed, False]), LIMITS)
        if e.code == "job_failing"
    ]
    assert [each.stretch.closed_by for each in found] == ["run"]
    assert job_episodes(runs(EVERY_FIVE[:7], EVERY_FIVE[7], failed[:7]), LIMITS) == []


def test_a_job_misses_its_objective_for_its_window_until_it_keeps_it_for_one() -> None:
    promised = PromisedLimit(100 * 1_000_000, 10 * MINUTE)

    def missed(seconds: list[float], answered: int) -> list[tuple[int, int | None]]:
        ends = np.array([START + number * 5 * MINUTE for number in range(len(seconds))])
        took = np.array(seconds)
        history = RunHistory("rollup", ends, took, np.zeros(len(seconds), np.bool_), Micros(START + answered))
        found, _ = slow_runs(history, promised)
        return [
            ((each.stretch.opened - START) // MINUTE, each.stretch.closed and (each.stretch.closed - START) // MINUTE)
            for each in found
        ]

    assert missed([90, 120], 14 * MINUTE) == []
    assert missed([90, 120], 15 * MINUTE) == [(15, None)]
    assert missed([90, 120, 80, 120, 120, 120], 30 * MINUTE) == [(25, None)], "one fast run is not enough"
    assert missed([120, 120, 120, 80, 80, 80], 40 * MINUTE) == [(10, 25)]
    assert missed([120, np.nan, 120], 10 * MINUTE) == [(10, None)], "an unknown duration says nothing"


def test_a_step_up_is_found_with_its_first_run() -> None:
    steady = np.random.default_rng(1).lognormal(np.log(50), 0.05, 60)
    slow = np.concatenate([steady, 3 * steady[:10]])
    assert slow_since(slow) == 60
    assert slow_since(steady) is None
    assert slow_since(np.concatenate([slow, steady[:10]])) is None, "it is over"
    assert slow_since(slow[-12:]) is None, "too few runs before"


@pytest.mark.parametrize("runs_after", [5, 8, 30, 80])
def test_the_onset_is_found_however_long_it_lasts(runs_after: int) -> None:
    steady = np.random.default_rng(2).lognormal(np.log(50), 0.1, 100 + runs_after)
    steady[100:] *= 1.6
    onset = slow_since(steady)
    assert onset is not None
    assert abs(onset - 100) <= 2


@given(st.lists(st.floats(0.1, 1_000), max_size=40))
def test_the_look_never_fails(seconds: list[float]) -> None:
    found = slow_since(np.array(seconds))
    assert found is None or 8 <= found <= len(seconds) - 5
