"""What a job used around its change: moved, flat or not known, and when it counts against a commit."""

from __future__ import annotations

import numpy as np
import pytest

from limnograph.domain.answers.explanations import (
    ChangeBounds,
    CompetingChange,
    Explanation,
    Hypothesis,
    LevelChange,
    LoadSeries,
)
from limnograph.services.explain.signals import around, told_against
from limnograph.services.jobs.series import QueryResult
from limnograph.services.jobs.signals import Signal

MINUTE = 60_000
COUNT, PLACE = 120, 60
TIMES = [float(n * MINUTE) for n in range(COUNT)]
ONSET = PLACE * MINUTE
NEAR = (0.0, float(COUNT * MINUTE))


def told(before: float, after: float, at: int = PLACE, noise: float = 0.04, seed: int = 1) -> QueryResult:
    rng = np.random.default_rng(seed)
    level = np.where(np.arange(COUNT) >= at, after, before)
    return QueryResult(LoadSeries(TIMES, list(level * np.exp(noise * rng.standard_normal(COUNT)))))


def seen(kind: Signal, signal: QueryResult) -> CompetingChange:
    return around(kind, signal, ONSET, NEAR)


def test_a_moved_signal_has_its_levels_and_its_instant() -> None:
    found = seen("executors", told(8, 4, at=PLACE - 4, noise=0.0))
    assert (found.series, found.moved, found.before, found.after, found.unit) == (1, 1, 8, 4, "executors")
    assert (found.at, found.ratio) == ((PLACE - 4) * MINUTE, 0.5)


@pytest.mark.parametrize("seed", range(30))
def test_an_unmoved_signal_is_flat_and_has_no_instant(seed: int) -> None:
    found = seen("cpu", told(0.31, 0.31, noise=0.15, seed=seed))
    assert (found.moved, found.at) == (0, None)
    assert found.before == pytest.approx(0.31, rel=0.15)


@pytest.mark.parametrize("seed", range(30))
def test_the_instant_is_accurate_to_a_few_values(seed: int) -> None:
    found = seen("cpu", told(0.31, 0.94, at=PLACE - 7, noise=0.1, seed=seed))
    assert found.at is not None
    assert abs(found.at - (PLACE - 7) * MINUTE) <= 2 * MINUTE


def test_spill_that_begins_at_zero_has_levels_and_no_ratio() -> None:
    found = seen("spill", told(0, 5e9))
    assert (found.moved, found.before, found.ratio) == (1, 0, None)
    assert found.after == pytest.approx(5e9, rel=0.05)


def test_a_signal_without_series_or_with_too_few_values_is_unknown() -> None:
    nothing, failed = seen("cpu", QueryResult(None)), seen("cpu", QueryResult(None, "timed out"))
    few = seen("cpu", QueryResult(LoadSeries(TIMES[:PLACE], [1.0] * PLACE)))
    for each, problem in ((nothing, None), (failed, "timed out"), (few, None)):
        assert (each.series, each.ratio, each.before, each.at, each.problem) == (0, None, None, None, problem)


def against(kind: Signal, signal: QueryResult, ratio: float = 3.0) -> list[str]:
    """Texts against a commit two minutes before a change."""
    change = LevelChange(ONSET, "step", ratio, 100.0, 1.0, ONSET, ONSET, 50.0, 50.0 * ratio, 60)
    suspects = [Hypothesis("commit", 0.9, 0, "7", evidence=[]), Hypothesis("none", 0.1, 0)]
    answer = Explanation("", [change], suspects, ["7"], "Most likely: it.", "strong")
    beside = ChangeBounds(
        runs_before=9,
        runs_after=9,
        low_seconds=None,
        high_seconds=None,
        unbounded_because=None,
        competing=[seen(kind, signal)],
    )
    found = told_against(answer, [beside], {"7": ONSET - 2 * MINUTE})
    assert [each.posterior for each in found.hypotheses] == [0.9, 0.1], "words weigh nothing"
    assert found.hypotheses[1].evidence is None
    return [each.text for each in found.hypotheses[0].evidence or () if each.speaks == "against"]


def test_executors_that_left_before_the_first_slow_run_speak_against_the_commit() -> None:
    assert against("executors", told(8, 4, at=PLACE - 4, noise=0.0)) == [
        "The number of executors went from 8 to 4 240 s before the job changed, 120 s before this commit"
    ]
    assert against("cpu", told(0.3, 0.9, at=PLACE - 1, noise=0.0)) == [
        "CPU went from 0.30 cores to 0.90 cores 60 s before the job changed"
    ]


def test_a_signal_that_moved_with_the_job_may_be_an_effect_and_is_no_evidence() -> None:
    assert against("cpu", told(0.3, 0.9, at=PLACE, noise=0.0)) == []
    assert against("cpu", told(0.3, 0.9, at=PLACE + 5, noise=0.0)) == []
    assert against("cpu", told(0.3, 0.3, noise=0.0)) == []


def test_a_change_that_slows_no_job_does_not_explain_a_slow_one() -> None:
    early = PLACE - 6
    assert against("executors", told(4, 8, at=early, noise=0.0)) == []
    assert against("spill", told(5e9, 0, at=early, noise=0.0)) == []
    assert len(against("executors", told(4, 8, at=early, noise=0.0), ratio=0.5)) == 1, "but it does a faster one"
