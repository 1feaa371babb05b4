"""Bounds of a change's size, and what else moved around it."""

from __future__ import annotations

import numpy as np

from limnograph.domain.answers.explanations import ChangeBounds, LevelChange, LoadSeries, RunSeries
from limnograph.services.explain.around import around

COUNT, PLACE, MINUTE = 120, 60, 60_000
TIMES = [float(n * 5 * MINUTE) for n in range(COUNT)]


def series(ratio: float, noise: float = 0.05, seed: int = 1, level: float = 100.0) -> list[float | None]:
    rng = np.random.default_rng(seed)
    step = np.where(np.arange(COUNT) >= PLACE, ratio, 1.0)
    return list(level * step * np.exp(noise * rng.standard_normal(COUNT)))


def change(ratio: float, place: int = PLACE) -> LevelChange:
    at = int(TIMES[place])
    return LevelChange(at, "step", ratio, 100 * (ratio - 1), 1.0, at, at, 100.0, 100 * ratio, 60)


def told(values: list[float | None], ratio: float = 1.5, **given: list[float | None]) -> ChangeBounds:
    controls = [RunSeries(name, list(TIMES), each) for name, each in given.items() if name != "load"]
    load = LoadSeries(list(TIMES), given["load"]) if "load" in given else None
    return around([change(ratio)], RunSeries("churn", list(TIMES), values), controls, load)[0]


def test_the_bounds_hold_the_true_size_in_about_95_of_100_cases() -> None:
    held = 0
    for seed in range(100):
        values = series(1.5, seed=seed)
        logs = np.log(np.array(values, float))
        seen = float(np.exp(np.median(logs[PLACE:]) - np.median(logs[:PLACE])))
        found = told(values, seen)
        assert found.low_seconds is not None
        assert found.high_seconds is not None
        held += found.low_seconds <= 50 <= found.high_seconds
    assert 85 <= held <= 100


def test_noisy_runs_widen_the_bounds() -> None:
    def width(values: list[float | None]) -> float:
        found = told(values)
        return (found.high_seconds or 0) - (found.low_seconds or 0)

    calm = width(series(1.5))
    assert width(series(1.5, noise=0.2)) > 2 * calm


def test_a_history_with_shifts_has_no_bounds_unless_other_jobs_are_known() -> None:
    drifting = list(np.array(series(1.5), float) * np.exp(0.05 * np.sin(np.arange(COUNT) / 5)))
    alone, beside = told(drifting), told(drifting, a=series(1.0, seed=5), b=series(1.0, seed=6))
    assert (alone.low_seconds, alone.high_seconds) == (None, None)
    assert "there are no controls" in (alone.unbounded_because or "")
    assert (beside.low_seconds or 0) < 50 < (beside.high_seconds or 0)


def test_too_few_runs_have_no_bounds_and_the_reason() -> None:
    values = series(1.5)
    values[PLACE + 4 :] = [None] * (COUNT - PLACE - 4)
    found = told(values)
    assert (found.runs_after, found.low_seconds, found.high_seconds) == (4, None, None)
    assert found.unbounded_because == "4 runs after; at least 5 are needed"


def test_what_other_jobs_did_too_is_not_the_size_of_the_change() -> None:
    shared = {name: series(1.5, seed=seed, level=30) for seed, name in enumerate(("a", "b", "c", "d"), 5)}
    found = told(series(1.5), **shared)
    assert found.low_seconds is not None
    assert found.low_seconds < 0 < (found.high_seconds or 0)


def test_a_side_ends_at_the_next_change() -> None:
    job = RunSeries("churn", list(TIMES), series(1.5))
    found = around([change(1.5), change(0.7, PLACE + 20)], job, [], None)
    assert (found[0].runs_after, found[1].runs_before) == (20, 20)


def test_other_jobs_and_load_are_listed_with_how_many_moved_the_same_way() -> None:
    found = told(series(1.5), a=series(1.4, seed=2), b=series(1.0, seed=3), c=series(0.6, seed=4), load=series(1.5))
    jobs, load = found.competing
    assert (jobs.kind, jobs.series, jobs.moved) == ("jobs", 3, 1)
    assert 0.95 < jobs.ratio < 1.05
    assert (load.kind, load.moved) == ("load", 1)
    assert 1.4 < load.ratio < 1.6


def test_a_series_without_samples_on_a_side_did_not_move() -> None:
    silent: list[float | None] = [*[None] * PLACE, *[100.0] * (COUNT - PLACE)]
    assert told(series(1.5), a=silent, b=[0.0] * COUNT).competing == []
