"""The scorer's definitions, on answers small enough to count by hand, and the four plain baselines."""

from __future__ import annotations

from typing import Any

import pytest
from explain.baselines import baselines
from explain.cases import MINUTE, Effect, Labelled, Truth
from explain.score import calibration_error, judge, per_scenario, worst
from explain.synthetic import cases

TIMES = [5 * MINUTE * index for index in range(20)]


def world(*guilty: str, scenario: str = "s") -> Labelled:
    """Four commits, 20 minutes apart; those named are guilty and slow the job by half two samples later."""
    commits = [{"id": name, "committed_at": 20 * MINUTE * index} for index, name in enumerate("abcd")]
    at = {each["id"]: each["committed_at"] for each in commits}
    effects = [Effect([name], at[name] + 10 * MINUTE, "step", 1.5) for name in guilty]
    truth = Truth("case", scenario, "commit" if guilty else "none", effects)
    return Labelled({"job": {"times": TIMES}, "commits": commits}, truth)


def answer(ranked: str, *, blamed: str = "", onset: int | None = None, ratio: float = 1.5) -> dict[str, Any]:
    """An answer that ranks commits by letter, the first with posterior .8, the others with .1; `-` is no commit."""
    hypotheses = [
        {"kind": "none", "posterior": 0.5}
        if name == "-"
        else {"kind": "commit", "commit_id": name, "posterior": 0.8 if place == 0 else 0.1}
        for place, name in enumerate(ranked)
    ]
    changes = [] if onset is None else [{"onset": onset, "kind": "step", "effect_ratio": ratio}]
    return {"changes": changes, "hypotheses": hypotheses, "blamed": list(blamed)}


def test_a_hypothesis_that_is_not_a_commit_has_no_rank_among_the_commits() -> None:
    one = judge(world("b"), answer("-bca"))
    assert (one.top1, one.top3) == (True, True)


def test_the_third_place_counts_for_top_3_and_a_neighbour_within_half_an_hour_for_tolerant_top_1() -> None:
    one = judge(world("c"), answer("bac"))
    assert (one.top1, one.top3, one.tolerant_top1) == (False, True, True)
    assert not judge(world("c"), answer("acb")).tolerant_top1


def test_precision_and_recall_pool_the_blamed_and_false_blame_counts_innocent_cases() -> None:
    judged = [
        judge(world("a", "b"), answer("ab", blamed="a")),
        judge(world("c"), answer("dc", blamed="cd")),
        judge(world(scenario="null"), answer("d", blamed="d")),
        judge(world(scenario="null"), answer("-")),
    ]
    table = per_scenario(judged)
    assert table["pooled"].precision == pytest.approx(2 / 4)
    assert table["pooled"].recall == pytest.approx(2 / 3)
    assert table["pooled"].false_blame == pytest.approx(1 / 2)
    assert table["null"].cause_named == pytest.approx(1 / 2)
    assert table["null"].top1 is None
    assert worst(table, "top1") == ("s", 0.5)


def test_onset_errors_are_samples_of_the_job_and_an_unreported_change_is_infinitely_far() -> None:
    near = judge(world("b"), answer("b", onset=45 * MINUTE, ratio=1.6))
    assert near.onset_errors == [3]  # true: 30 minutes
    assert near.effect_errors == [pytest.approx(0.2)]
    assert judge(world("b"), answer("b")).onset_errors == [float("inf")]


def test_maintenance_that_helped_has_no_rank_among_the_suspects_and_must_not_be_blamed() -> None:
    mended = world("b")
    mended.truth.effects.append(Effect(["d"], 70 * MINUTE, "drop", 0.66))
    one = judge(mended, answer("db", blamed="d"))
    assert one.top1
    assert (one.blamed, one.hits) == (1, 0)
    assert one.believed == [(0.8, True), (0.1, True)]


def test_calibration_error_is_the_mean_gap_of_the_bins_by_their_size() -> None:
    assert calibration_error([(0.9, True), (0.9, True), (0.9, True), (0.1, False)]) == pytest.approx(0.1)
    assert calibration_error([(0.95, False), (0.95, True)]) == pytest.approx(0.45)
    assert calibration_error([]) is None


def test_the_plain_baselines_find_something_and_blame_the_innocent() -> None:
    methods = baselines(cases(11, 4))
    few = cases(61, 4)
    found = {
        name: per_scenario([judge(each, method(each.case)) for each in few])["pooled"]
        for name, method in methods.items()
    }
    assert len(found) == 4
    assert all(0.03 <= row.top1 <= 0.65 for row in found.values())
    assert found["KS2 + BH 5 %"].false_blame >= 0.7
    assert all(row.top3 >= row.top1 for row in found.values())
