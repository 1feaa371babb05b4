"""Floors of explain on few seeds of both generators, a little below what is reached there; `make bench-explain`
measures on many. And the public command answers as the library does."""

from __future__ import annotations

from pathlib import Path

import pytest
from explain import heldout, synthetic
from explain.baselines import baselines
from explain.cases import write
from explain.methods import by_command, ours, run
from explain.score import Scores, judge, per_scenario

pytestmark = pytest.mark.xdist_group("benchmark-floors")


@pytest.fixture(scope="module")
def public() -> dict[str, Scores]:
    return per_scenario(run(ours, synthetic.cases(71, 3)).judged)


@pytest.fixture(scope="module")
def second() -> dict[str, Scores]:
    return per_scenario(run(ours, heldout.cases(73, 2)).judged)


def test_the_guilty_commit_is_ranked_high_on_the_public_generator(public: dict[str, Scores]) -> None:
    pooled = public["pooled"]
    assert pooled.top1 >= 0.7
    assert pooled.top3 >= 0.85
    assert pooled.onset_median <= 2


def test_blame_on_the_public_generator_is_mostly_right_and_innocent_cases_are_mostly_not_blamed(
    public: dict[str, Scores],
) -> None:
    pooled = public["pooled"]
    assert pooled.precision >= 0.85
    assert pooled.recall >= 0.55
    assert pooled.false_blame <= 0.1


def test_a_plain_method_is_beaten_by_a_wide_margin(public: dict[str, Scores]) -> None:
    cases = synthetic.cases(71, 3)
    for name, method in baselines(synthetic.cases(11, 3)).items():
        plain = per_scenario([judge(each, method(each.case)) for each in cases])["pooled"]
        assert public["pooled"].top1 >= plain.top1 + 0.1, name
        assert public["pooled"].f1 >= plain.f1 + 0.2, name


def test_weights_learned_on_one_generator_hold_on_the_other(second: dict[str, Scores]) -> None:
    pooled = second["pooled"]
    assert pooled.top1 >= 0.65
    assert pooled.top3 >= 0.8
    assert pooled.precision >= 0.8
    assert pooled.recall >= 0.6
    assert pooled.false_blame <= 0.15
    assert pooled.onset_median <= 2


def test_the_command_returns_the_same_as_the_library(tmp_path: Path) -> None:
    few = [*synthetic.cases(5, 1, ("pulse", "null_load")), *heldout.cases(5, 1, ("irregular", "burst"))]
    cases, _ = write(few, tmp_path)
    assert by_command(cases) == [ours(each) for each in few]
