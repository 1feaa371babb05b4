"""What is not a commit's doing is taken out only where it is there: other jobs, weeks, writers' own sizes."""

from __future__ import annotations

from typing import Any

import numpy as np

from explain_cases import GUILTY, answered, burst, case, commit, ordinary, posterior, runs, slowed

WEEK_RUNS = 7 * 24


def weekly(weeks: int = 3) -> dict[str, Any]:
    """A job of every hour: a rhythm in the day, hardly any at weekends, and less to do then."""
    job = runs(weeks * WEEK_RUNS, gap_minutes=60, noise=0.04)
    hour = np.arange(weeks * WEEK_RUNS)
    rest = hour // 24 % 7 >= 5
    rhythm = np.where(rest, 0.05, 0.3) * np.sin(2 * np.pi * hour / 24) - 0.15 * rest
    seconds = np.array(job["duration_seconds"]) * np.exp(rhythm)
    return {**job, "duration_seconds": seconds.tolist()}


def test_weekends_are_not_changes() -> None:
    found = answered(case(weekly(), ordinary(200, 150)))
    assert (found.changes, found.blamed) == ([], [])


def test_a_step_in_a_job_with_weekends_is_found_where_it_is() -> None:
    job = slowed(weekly(), 300, 1.25)
    found = answered(case(job, [*ordinary(200, 150), burst(300 * 60 - 30)]))
    assert [each.onset for each in found.changes] == [job["times"][300]]
    assert found.blamed == [GUILTY]


def test_a_job_that_slows_a_little_every_day_has_no_steps() -> None:
    job = runs(1200)
    grown = np.array(job["duration_seconds"]) * np.linspace(1, 1.5, 1200)
    found = answered(case({**job, "duration_seconds": grown.tolist()}, [*ordinary(100), burst(3000)]))
    assert (found.changes, found.blamed) == ([], [])


def test_a_step_of_a_growing_job_is_still_found() -> None:
    job = slowed(runs(1200), 600, 1.3)
    grown = np.array(job["duration_seconds"]) * np.linspace(1, 1.4, 1200)
    found = answered(case({**job, "duration_seconds": grown.tolist()}, [*ordinary(100), burst(2996)]))
    assert found.blamed == [GUILTY]


def test_a_single_other_job_that_moves_does_not_exonerate_the_guilty_commit() -> None:
    job = slowed(runs(), 300, 1.3)
    moved = {**slowed(runs(seed=5), 300, 1.4), "id": "other"}
    still = [{**runs(seed=seed), "id": f"still-{seed}"} for seed in (6, 7)]
    found = answered(case(job, [*ordinary(), burst(1496)], controls=[moved, *still]))
    assert found.blamed == [GUILTY]
    assert posterior(found) > 0.9


def test_a_small_shift_of_all_other_jobs_does_not_explain_a_large_step() -> None:
    job = slowed(runs(), 300, 1.8)
    controls = [{**slowed(runs(seed=seed), 301, 1.1), "id": f"other-{seed}"} for seed in (5, 6, 7)]
    assert answered(case(job, [*ordinary(), burst(1496)], controls=controls)).blamed == [GUILTY]


def test_a_writer_with_sizes_of_its_own_is_compared_with_itself() -> None:
    large = [
        commit(f"batch-{k}", 60 * k + 7, added_data_files=400 + k % 7, added_bytes=10**9, app_id="batch")
        for k in range(48)
    ]
    job = slowed(runs(), 300, 1.3)
    found = answered(case(job, [*ordinary(120, 25), *large, burst(1496)]))
    assert found.blamed == [GUILTY]
    assert all(posterior(found, each["id"]) < 0.05 for each in large)
