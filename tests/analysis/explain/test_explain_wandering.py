"""A job that changes by itself makes nobody guilty; the largest slowdown comes first; kinds count by share."""

from __future__ import annotations

import numpy as np

from explain_cases import GUILTY, answered, burst, case, ordinary, posterior, runs, slowed
from limnograph.analysis.explain.recurrence import multipliers


def test_a_commit_hours_before_a_step_is_suspected_less_where_the_job_steps_by_itself() -> None:
    coincidence = burst(450 * 5 - 100)
    calm = answered(case(slowed(runs(900), 450, 1.12), [*ordinary(), coincidence]))
    job = runs(900)
    for place in (100, 260, 450, 620, 780):
        job = slowed(job, place, 1.12)
    wandering = answered(case(job, [*ordinary(), coincidence]))
    assert len(wandering.changes) >= 4
    assert posterior(wandering) < posterior(calm) - 0.1


def test_the_suspect_of_the_largest_slowdown_comes_first() -> None:
    job = slowed(slowed(runs(), 200, 1.1), 420, 1.7)
    found = answered(case(job, [*ordinary(), burst(998, "small"), burst(2096)]))
    assert found.hypotheses[0].commit_id == GUILTY
    assert GUILTY in found.verdict


def test_a_kind_is_suspected_for_its_share_of_hits_not_for_their_number() -> None:
    made = np.array([10.0, 500.0, 100.0])
    rare, dense, quiet = multipliers(np.array([6.0, 3.0, 0.0]), made)
    assert rare > 10
    assert dense < 1.1
    assert quiet < 1.1
