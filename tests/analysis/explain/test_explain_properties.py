"""What must hold of Explain whatever the case: invariances, posteriors that add up, no exception on broken series."""

from __future__ import annotations

import random
from collections import defaultdict
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explain_cases import GUILTY, START, answered, burst, case, guilty_case, ordinary, posterior, runs, slowed
from limnograph.domain.answers.explanations import Explanation
from limnograph.domain.errors import InvalidInput

quick = settings(max_examples=8, deadline=None)


def ranked(answer: Explanation) -> list[tuple[str, str | None, float]]:
    return [(each.kind, each.commit_id, round(each.posterior, 5)) for each in answer.hypotheses]


@quick
@given(scale=st.sampled_from([1e-3, 0.37, 60.0, 1e6]))
def test_the_unit_of_the_durations_changes_nothing_but_the_effect_in_seconds(scale: float) -> None:
    plain = guilty_case()
    scaled = guilty_case()
    scaled["job"]["duration_seconds"] = [each * scale for each in scaled["job"]["duration_seconds"]]
    one, other = answered(plain), answered(scaled)
    assert ranked(one) == ranked(other)
    assert one.changes[0].effect_seconds * scale == pytest.approx(other.changes[0].effect_seconds)


@quick
@given(seed=st.integers(0, 1000))
def test_the_order_of_commits_tables_and_runs_changes_nothing(seed: int) -> None:
    told = guilty_case()
    told["commits"] += ordinary(30, 80, 5, table="lake.sales.customers")
    one = answered(told)
    dice = random.Random(seed)
    dice.shuffle(told["commits"])
    order = list(range(len(told["job"]["times"])))
    dice.shuffle(order)
    told["job"] = {
        "id": "churn",
        **{name: [told["job"][name][k] for k in order] for name in ("times", "duration_seconds")},
    }
    assert ranked(answered(told)) == ranked(one)


def test_runs_after_the_last_change_do_not_move_it_nor_who_is_blamed() -> None:
    for count in (420, 600, 900):
        told = case(slowed(runs(900), 300, 1.5), [*ordinary(), burst(1496)])
        told["job"] = {**told["job"], **{n: told["job"][n][:count] for n in ("times", "duration_seconds")}}
        found = answered(told)
        assert [each.onset for each in found.changes] == [START + 300 * 300_000]
        assert found.blamed == [GUILTY]


def test_without_an_innocent_commit_the_guilty_one_is_suspected_no_less() -> None:
    told = guilty_case(1.12)
    before = posterior(answered(told))
    innocent = [each for each in told["commits"] if each["id"] != GUILTY]
    for left_out in innocent[::7]:
        fewer = {**told, "commits": [each for each in told["commits"] if each is not left_out]}
        assert posterior(answered(fewer)) >= before - 1e-3


@quick
@given(ratio=st.sampled_from([0.5, 0.9, 1.0, 1.1, 1.4, 3.0]), seed=st.integers(0, 50))
def test_posteriors_of_a_change_add_up_to_one(ratio: float, seed: int) -> None:
    job = slowed(slowed(runs(seed=seed), 200, ratio), 420, 1.3, 440)
    found = answered(case(job, [*ordinary(seed=seed), burst(998), burst(2090, "again")]))
    sums: dict[int, float] = defaultdict(float)
    for each in found.hypotheses:
        assert 0 <= each.posterior <= 1
        sums[-1 if each.change is None else each.change] += each.posterior
    for change, total in sums.items():
        assert change == -1 or total == pytest.approx(1)
    assert len([each for each in sums if each >= 0]) == len(found.changes)
    for change in sums:
        told = [each.posterior for each in found.hypotheses if (-1 if each.change is None else each.change) == change]
        assert told == sorted(told, reverse=True)


@pytest.mark.parametrize(
    "job",
    [
        {"id": "empty", "times": [], "duration_seconds": []},
        {"id": "one", "times": [START], "duration_seconds": [3.0]},
        {"id": "unknown", "times": [START + k for k in range(50)], "duration_seconds": [None] * 50},
        {"id": "no times", "times": [None] * 50, "duration_seconds": [1.0] * 50},
        {"id": "one time", "times": [START] * 50, "duration_seconds": [1.0] * 50},
        {"id": "negative", "times": [START + k for k in range(50)], "duration_seconds": [-1.0, 0.0] * 25},
        {"id": "nan", "times": [START + k for k in range(50)], "duration_seconds": [float("nan"), float("inf")] * 25},
    ],
)
def test_an_uninformative_series_is_too_little_data(job: dict[str, Any]) -> None:
    found = answered(case(job, [burst(3)]))
    assert found.verdict.startswith("Not enough data")
    assert ranked(found) == [("none", None, 1.0)]
    assert (found.changes, found.blamed, found.confidence) == ([], [], "none")


def test_a_job_of_constant_duration_has_no_change() -> None:
    job = {"id": "constant", "times": [START + k * 300_000 for k in range(400)], "duration_seconds": [7.0] * 400}
    found = answered(case(job, [*ordinary(), burst(1000)]))
    assert (found.changes, found.blamed) == ([], [])
    assert found.hypotheses[0].kind == "none"


def test_a_job_without_noise_shows_its_step_exactly() -> None:
    job = {"id": "constant", "times": [START + k * 300_000 for k in range(400)], "duration_seconds": [7.0] * 400}
    found = answered(case(slowed(job, 200, 2.0), [*ordinary(), burst(998)]))
    assert [(each.onset, round(each.effect_ratio, 2)) for each in found.changes] == [(START + 200 * 300_000, 2.0)]
    assert found.blamed == [GUILTY]


def test_values_that_do_not_pair_with_times_name_the_field() -> None:
    told = guilty_case()
    told["job"]["times"].pop()
    with pytest.raises(InvalidInput, match=r"job\.duration_seconds"):
        answered(told)
    control = {"id": "other", "times": [1], "duration_seconds": []}
    with pytest.raises(InvalidInput, match=r"controls\[0\]\.duration_seconds"):
        answered(guilty_case(controls=[control]))
    with pytest.raises(InvalidInput, match=r"load\.values"):
        answered(guilty_case(load={"times": [1], "values": []}))


broken = st.none() | st.floats(allow_nan=True, allow_infinity=True) | st.integers(-(10**18), 10**18)


@settings(max_examples=60, deadline=None)
@given(
    times=st.lists(broken, min_size=16, max_size=80),
    data=st.data(),
    numbers=st.lists(broken, min_size=6, max_size=6),
)
def test_no_series_or_commit_makes_it_fail(times: list[Any], data: st.DataObject, numbers: list[Any]) -> None:
    durations = data.draw(st.lists(broken, min_size=len(times), max_size=len(times)))
    job = {"id": None, "times": times, "duration_seconds": durations}
    commits: list[dict[str, Any]] = [
        {"id": str(k), "committed_at": each, "added_data_files": each, "manifests": numbers[-1 - k]}
        for k, each in enumerate(numbers)
    ]
    load = {"times": times, "values": durations[::-1]}
    found = answered(case(job, commits, controls=[job, job], load=load))
    assert found.hypotheses
    assert all(np.isfinite(each.posterior) for each in found.hypotheses)


def test_without_commits_no_commit_explains_it() -> None:
    for commits in ([], None):
        found = answered({**guilty_case(), "commits": commits})
        assert found.hypotheses[0].kind == "none"
        assert found.hypotheses[0].posterior >= 0.5
        assert found.verdict.startswith("No commit explains")
