"""Where it is known what each run read, rises are found at first reads that are too small or too short elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from explain_cases import GUILTY, MINUTE, START, answered, burst, case, commit, ordinary, runs, slowed
from limnograph.analysis.explain.lag import READ_KNOWN, onset_mass

COUNT, FIRST = 1200, 700


def read(commits: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The commits with their first reads, by the next of the runs that start every five minutes."""
    starts = START + np.arange(COUNT * 2) * 5 * MINUTE
    told = [float(starts[np.searchsorted(starts, each["committed_at"])]) for each in commits]
    return [{**each, "first_read_at": at} for each, at in zip(commits, told, strict=True)]


def test_a_short_rise_at_the_first_read_of_an_unusual_commit_is_found_only_if_the_read_is_known() -> None:
    job = slowed(runs(COUNT, noise=0.06), FIRST, 1.1, FIRST + 20)
    commits = [*ordinary(105), burst(5 * FIRST - 3)]
    assert not answered(case(job, commits)).changes
    assert answered(case(job, read(commits))).blamed == [GUILTY]


def test_without_a_rise_the_first_read_of_an_unusual_commit_is_no_change() -> None:
    found = answered(case(runs(COUNT, noise=0.06), read([*ordinary(105), burst(5 * FIRST - 3)])))
    assert not found.blamed


def repaired(
    firsts: Sequence[int], rise: float, *, noise: float, seed: int
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A job that is slower for 14 runs from each of `firsts`, and commits: a repair just before each, and others."""
    rng = np.random.default_rng(seed)
    job, repairs = runs(COUNT, noise=noise), []
    for index, first in enumerate(firsts):
        job = slowed(job, first, rise, first + 14)
        repairs.append(commit(f"repair-{index}", 5 * first - rng.uniform(1, 4), operation="overwrite", app_id="fix"))
    others = [each for other in range(3) for each in ordinary(90, 66, other, table=f"lake.sales.t{other}")]
    return job, [*others, *repairs]


def test_small_rises_after_the_commits_of_a_kind_are_found_at_their_first_reads() -> None:
    job, commits = repaired([90 + 117 * index for index in range(9)], 1.06, noise=0.07, seed=8)
    known, unknown = (answered(case(job, told)) for told in (read(commits), commits))
    assert all(name.startswith("repair-") for name in known.blamed)
    assert len(known.blamed) >= 5
    assert not unknown.blamed


def test_a_kind_is_named_by_its_mean_where_its_single_rises_could_be_chance() -> None:
    job, commits = repaired([60 + 109 * index for index in range(10)], 1.07, noise=0.09, seed=12)
    found = answered(case(job, read(commits)))
    assert found.blamed
    assert all(name.startswith("repair-") for name in found.blamed)
    quiet = answered(case(runs(COUNT, noise=0.09), read(commits)))
    assert not quiet.blamed


def test_a_commit_that_is_first_read_a_day_later_is_blamed_for_what_begins_there() -> None:
    late = {**burst(5 * FIRST - 1440), "first_read_at": float(START + 5 * FIRST * MINUTE)}
    found = answered(case(slowed(runs(COUNT, noise=0.05), FIRST, 1.3), [*read(ordinary(105)), late]))
    assert found.blamed == [GUILTY]


def test_if_the_run_that_read_first_has_no_duration_the_next_one_is_the_first_affected() -> None:
    starts = np.array([0.0, 10.0, 30.0, 40.0]) * MINUTE
    before = np.array([-10.0, 0.0, 10.0, 30.0]) * MINUTE
    mass = onset_mass(np.array([15.0 * MINUTE]), np.array([20.0 * MINUTE]), starts, before, 10.0 * MINUTE)[0]
    assert mass.argmax() == 2
    assert mass[2] == READ_KNOWN


def climbing(ratio: float, hours: float) -> dict[str, Any]:
    """A job whose seconds rise evenly from run FIRST on, until they are `ratio` times as many."""
    job = runs(COUNT, noise=0.04)
    done = np.clip((np.arange(COUNT) - FIRST) * 5 / 60 / hours, 0, 1)
    return {**job, "duration_seconds": (np.array(job["duration_seconds"]) * (1 + (ratio - 1) * done)).tolist()}


@pytest.mark.parametrize(("ratio", "apart"), [(1.7, -7), (2.2, 9)])
def test_of_two_unusual_commits_the_one_first_read_where_a_slow_rise_begins_is_blamed(ratio: float, apart: int) -> None:
    """Seven runs are within one bin of the rise; one to more than twice the seconds bends so much that steps fit it."""
    others = [each for seed in range(3) for each in ordinary(90, 66, seed, table=f"lake.sales.t{seed}")]
    odd = [burst(5 * FIRST - 3), burst(5 * (FIRST + apart) - 3, "odd")]
    found = answered(case(climbing(ratio, 9), read([*others, *odd])))
    assert found.blamed == [GUILTY]
    assert [each.kind for each in found.changes] == ["ramp"]
