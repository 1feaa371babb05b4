"""Numbers that no measurement has, and ids that come again: they change nothing of what the rest of a case tells."""

from __future__ import annotations

import random
import warnings
from typing import Any

import msgspec
import numpy as np
import pytest

from explain_cases import GUILTY, MINUTE, START, answered, burst, case, commit, guilty_case, ordinary, posterior, runs
from limnograph.analysis.explain.smoothing import median, running_median
from limnograph.domain.answers.explanations import Explanation


def quietly(told: dict[str, Any]) -> Explanation:
    """The answer, where nothing on the way left the numbers of the machine."""
    with warnings.catch_warnings(), np.errstate(all="raise", under="ignore"):
        warnings.simplefilter("error")
        return answered(told)


def null_numbers(answer: Explanation) -> int:
    """JSON has neither NaN nor infinities: they would be written as null."""
    return sum(
        None in (each["effect_ratio"], each["effect_seconds"], each["after_seconds"])
        for each in msgspec.json.decode(msgspec.json.encode(answer))["changes"]
    )


@pytest.mark.parametrize("extreme", [5e-324, 1e-300, 1e300, 1.7e308])
def test_an_implausible_duration_is_unknown(extreme: float) -> None:
    plain, told = guilty_case(), guilty_case()
    for kept, replaced in ((plain, None), (told, extreme)):
        kept["job"]["duration_seconds"][400:] = [replaced] * 200
    assert quietly(told) == answered(plain)
    assert null_numbers(quietly(told)) == 0


def test_a_constant_level_and_extremes_at_the_edge_of_the_valid_range_have_an_answer() -> None:
    seconds = [1.0] * 100
    for place, value in ((20, 1e-30), (50, 1e30), (70, 1e30)):
        seconds[place] = value
    times = [START + k * MINUTE for k in range(100)]
    found = quietly(case({"id": "edge", "times": times, "duration_seconds": seconds}, ordinary()))
    assert (found.hypotheses[0].kind, null_numbers(found)) == ("none", 0)


@pytest.mark.parametrize("extreme", [1e300, 1.7e308])
def test_an_implausible_number_of_a_commit_is_unknown_even_in_a_flood(extreme: float) -> None:
    flood = [commit(f"flood-{k}", 700 + k / 60, added_bytes=extreme, app_id="stream") for k in range(30)]
    told = guilty_case()
    told["commits"] = [
        {**each, "added_data_files": 10**18} if each["id"] == GUILTY else each for each in told["commits"]
    ]
    found = quietly({**told, "commits": [*told["commits"], *flood]})
    assert found.blamed == [GUILTY]
    assert all(len(each.text) < 150 for each in found.hypotheses[0].evidence or ())


def test_the_first_run_after_a_pause_of_weeks_is_not_the_next_run_of_a_commit() -> None:
    told = guilty_case()
    told["job"]["times"] = [at + (k >= 280) * 60 * 86_400_000 for k, at in enumerate(told["job"]["times"])]
    told["commits"] = [
        {**each, "committed_at": each["committed_at"] + 60 * 86_400_000} if each["id"] == GUILTY else each
        for each in told["commits"]
    ]
    assert quietly(told).blamed == [GUILTY]


def test_the_same_version_of_another_table_is_another_commit() -> None:
    told = guilty_case()
    other = [{**each, "id": GUILTY, "table": "lake.sales.customers"} for each in ordinary(1, 30)]
    found = answered({**told, "commits": [*other, *told["commits"]]})
    assert (found.blamed, found.hypotheses[0].table) == ([GUILTY], "lake.sales.orders")
    assert posterior(found) == pytest.approx(posterior(answered(told)), abs=0.05)


def test_the_order_of_duplicates_of_a_commit_changes_nothing() -> None:
    told = guilty_case()
    twice = [*told["commits"], burst(900), burst(1496), {**burst(1496), "added_data_files": None}]
    dice = random.Random(7)
    answers = []
    for _ in range(4):
        dice.shuffle(twice)
        answers.append(answered({**told, "commits": list(twice)}))
    assert all(each == answers[0] for each in answers)


@pytest.mark.parametrize("size", [1, 2, 5, 8, 513])
def test_medians_are_those_of_numpy(size: int) -> None:
    values = np.random.default_rng(size).normal(size=size).round(1)
    assert median(values) == np.median(values)
    for width in (1, 3, 5, 25):
        padded = np.pad(values, width // 2, mode="edge")
        assert running_median(values, width).tolist() == [np.median(padded[k : k + width]) for k in range(size)]


def test_runs_of_constant_duration_except_one_have_an_answer() -> None:
    job = runs(163)
    job["duration_seconds"] = [1.0] * 162 + [1e20]
    assert quietly(case(job, ordinary())).blamed == []
