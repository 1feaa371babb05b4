"""The report says what was measured, by how much a goal is missed, and nothing about what was not measured."""

from __future__ import annotations

from typing import Any

from explain.cases import Effect, Labelled, Truth
from explain.goals import ORACLE, OURS
from explain.misses import REASONS, reasons
from explain.report import document
from explain.score import Judged

SCORES: dict[str, Any] = {
    "cases": 10,
    "top1": 0.8,
    "top3": 0.97,
    "tolerant_top1": 0.85,
    "precision": 0.93,
    "recall": 0.7,
    "f1": 0.8,
    "false_blame": None,
    "cause_named": None,
    "onset_median": 1.0,
    "onset_p90": "inf",
    "effect_error": 0.1,
    "ece": 0.02,
    "ece_top": 0.05,
}
QUIET = {**SCORES, "top1": None, "precision": None, "false_blame": 0.1, "cause_named": 0.9}


def results() -> dict[str, Any]:
    """Two scenarios, one innocent; the oracle is right in nine of ten, the baseline in three."""

    def scores(top1: float) -> dict[str, Any]:
        pooled = {**SCORES, "top1": top1, "false_blame": 0.1, "p95_ms": 12.0}
        return {"step": {**SCORES, "top1": top1}, "quiet": QUIET, "pooled": pooled}

    methods = {OURS: scores(0.8), ORACLE: scores(0.9), "biggest commit": scores(0.3)}
    return {"public": {"seed": 1, "cases_each": 10, "cases": 20, "methods": methods, "misses": {}}}


def test_a_goal_that_is_not_met_says_by_how_much() -> None:
    page = document(results())
    assert "| public | top-1 | >= 0.85 | 0.80 | missed by 0.05 |" in page
    assert "| public | top-3 | >= 0.95 | 0.97 | met |" in page
    assert "| public | worst scenario (step): top-1 to the oracle's | >= 0.95 | 0.89 | missed by 0.06 |" in page
    assert "| public | false blame | <= 0.05 | 0.100 | missed by 0.050 |" in page
    assert "The standard error of a top-1 over 10 cases is 0.13." in page


def test_parts_that_were_not_measured_are_not_in_the_page() -> None:
    page = document(results())
    assert "## The public generator" in page
    assert "## Lab" not in page
    assert "| lab" not in page
    assert "0.30 (biggest commit)" in page


def test_held_out_goals_are_judged_on_the_third_generator_and_the_second_keeps_its_table() -> None:
    found = results()
    found["heldout"] = found["public"]
    before = document(found)
    assert "## The second generator" in before
    assert "| second | top-3" not in before
    assert "third generator" not in before.split("## Not measured")[0].lower()
    assert "| third | top-3 | >= 0.9 | - | not measured |" in before
    found["third"] = results()["public"]
    found["third"]["methods"][OURS]["pooled"]["recall"] = 0.5
    after = document(found)
    assert "## The third generator" in after
    assert "| third | top-1 to the oracle's | >= 0.95 | 0.89 | missed by 0.06 |" in after
    assert "| third | recall | >= 0.6 | 0.50 | missed by 0.10 |" in after
    assert "| third | worst innocent scenario (quiet): false blame | <= 0.1 | 0.10 | met |" in after
    assert "| Limnograph | recall | 0.70 | 0.70 | 0.50 | -0.20 |" in after


def test_a_case_without_a_change_near_a_true_one_was_not_found_and_others_were_ranked_wrongly() -> None:
    def judged(case: Labelled, error: float, *, top1: bool = False) -> Judged:
        return Judged(case.truth, top1, top1, top1, 0, 0, False, [error], [], [])

    case = Labelled({}, Truth("x", "ramp", "commit", [Effect(["a"], 0, "ramp", 1.5)]))
    mine = [judged(case, 40.0), judged(case, 1.0), judged(case, 1.0), judged(case, 0.0, top1=True)]
    told = [judged(case, 0.0, top1=each) for each in (True, False, True, True)]
    assert reasons([case] * 4, mine, told) == {"ramp": dict.fromkeys(REASONS, 1)}
