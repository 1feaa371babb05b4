"""A writer whose usual commits are followed by a slow hour again and again is named, though no commit of it is odd."""

from __future__ import annotations

import numpy as np

from explain_cases import answered, case, commit, ordinary, runs, slowed


def test_a_kind_is_named_by_what_its_commits_have_in_common() -> None:
    rng = np.random.default_rng(4)
    job, repairs = runs(2000, noise=0.05), []
    for index in range(12):
        first = 90 + 155 * index
        job = slowed(job, first, 1.15, first + 18)
        repairs.append(commit(f"repair-{index}", 5 * first - rng.uniform(10, 55), operation="overwrite", app_id="fix"))
    others = [each for seed in range(4) for each in ordinary(150, 66, seed, table=f"lake.sales.t{seed}")]
    found = answered(case(job, [*others, *repairs]))
    assert len(found.blamed) >= 10
    assert all(name.startswith("repair-") for name in found.blamed)
    named = [each for each in found.hypotheses if each.commit_id in found.blamed]
    assert all(any(told.part == "recurrence" for told in each.evidence or ()) for each in named)


def test_rises_too_small_to_find_individually_are_found_by_their_mean() -> None:
    rng = np.random.default_rng(6)
    job, repairs = runs(2000, noise=0.06), []
    for index in range(14):
        first = 90 + 133 * index
        job = slowed(job, first, 1.09, first + 15)
        repairs.append(commit(f"repair-{index}", 5 * first - rng.uniform(1, 20), operation="overwrite", app_id="fix"))
    others = [each for seed in range(4) for each in ordinary(150, 66, seed, table=f"lake.sales.t{seed}")]
    found = answered(case(job, [*others, *repairs]))
    assert len(found.blamed) >= 4
    assert all(name.startswith("repair-") for name in found.blamed)
    assert answered(case(job, others)).blamed == []
