"""The oracle is the product's own attribution, told when the job changed: what it is told, it tells."""

from __future__ import annotations

from explain.methods import oracle
from explain.score import judge
from explain.synthetic import case


def test_with_the_true_onset_the_answer_has_that_change_and_no_other() -> None:
    for scenario in ("step_clean", "pulse", "two_effects"):
        one = case(scenario, 31, 1)
        answer = oracle(one)
        assert [change["onset"] for change in answer["changes"]] == sorted(each.onset for each in one.truth.effects)
        assert judge(one, answer).top3


def test_without_a_true_change_no_commit_is_blamed() -> None:
    answer = oracle(case("null_plain", 31, 0))
    assert answer["blamed"] == []
    assert not [each for each in answer["hypotheses"] if each["kind"] == "commit"]
