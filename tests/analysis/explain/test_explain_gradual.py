"""Shifts of other jobs and of the load that take hours, and shifts that drown in the rhythm of a day."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from explain_cases import GUILTY, answered, burst, case, ordinary, posterior, runs

QUARTER, COUNT, FIRST, HOURS = 15, 900, 400, 20
"""Minutes between runs, runs, the first that is slower, hours until the full height."""


def shaped(seed: int, *, height: float = 0.0, daily: float = 0.0, hours: float = HOURS, name: str = "churn") -> dict:
    """A job that climbs by `height` (log) within `hours` from run FIRST on, with a rhythm of a day."""
    job = runs(COUNT, gap_minutes=QUARTER, seed=seed)
    since = (np.arange(COUNT) - FIRST) * QUARTER / 60
    risen = np.clip(since / hours, 0, 1) if hours else (since >= 0).astype(float)
    rhythm = daily * np.sin(2 * np.pi * np.arange(COUNT) * QUARTER / (24 * 60))
    seconds = np.array(job["duration_seconds"]) * np.exp(height * risen + rhythm)
    return {**job, "id": name, "duration_seconds": seconds.tolist()}


def others(**shape: Any) -> list[dict]:
    return [shaped(seed, name=f"other-{seed}", **shape) for seed in (5, 6, 7)]


COMMITS = [*ordinary(count=220, every=59), burst(FIRST * QUARTER - 20)]


def test_a_rise_over_hours_of_all_jobs_is_infrastructure_and_no_commit_is_blamed() -> None:
    found = answered(case(shaped(1, height=0.4), COMMITS, controls=others(height=0.4)))
    assert not found.blamed
    assert found.hypotheses[0].kind == "infrastructure"
    told = found.changes[found.hypotheses[0].change or 0]
    assert told.kind == "ramp"
    assert told.effect_ratio == pytest.approx(np.exp(0.4), rel=0.1)


def test_the_same_rise_of_this_job_alone_is_attributed_to_the_commit() -> None:
    found = answered(case(shaped(1, height=0.4), COMMITS, controls=others()))
    assert found.blamed == [GUILTY]


def test_a_rise_over_hours_of_the_load_explains_the_job_that_follows_it() -> None:
    load = shaped(9, height=0.5)
    told = {"times": load["times"], "values": load["duration_seconds"]}
    found = answered(case(shaped(1, height=0.4), COMMITS, load=told))
    assert not found.blamed
    assert found.hypotheses[0].kind == "load"


def test_the_daily_rhythm_of_other_jobs_is_removed() -> None:
    """Each of them moves by a third of what it does every day: without the day taken out none would count as moved."""
    rhythm = {"height": 0.2, "daily": 0.5, "hours": 0.0}
    found = answered(case(shaped(1, **rhythm), COMMITS, controls=others(**rhythm)))
    assert not found.blamed
    assert found.hypotheses[0].kind == "infrastructure"


def test_a_lasting_slowdown_ranks_before_a_few_even_slower_runs() -> None:
    job = shaped(1, height=0.4, hours=0.0)
    seconds = job["duration_seconds"]
    seconds[600:604] = [each * 2.2 for each in seconds[600:604]]
    found = answered(case(job, [*COMMITS, burst(600 * QUARTER - 20, "after")]))
    commits = [each for each in found.hypotheses if each.kind == "commit"]
    assert commits[0].commit_id == GUILTY
    lasted = {each.kind: each.runs for each in found.changes}
    assert lasted == {"step": COUNT - FIRST, "pulse": 4}
    assert posterior(found) > 0.85
