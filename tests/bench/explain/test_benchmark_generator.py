"""The public generator keeps its laws: the benchmark is only worth what its cases are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from explain.cases import MINUTE, read, write
from explain.commit_laws import FEATURES
from explain.synthetic import SCENARIOS, Stress, case, cases

COMMIT_KEYS = {
    *FEATURES,
    *("id", "table", "committed_at", "operation", "app_id", "changed_partitions", "schema_changed", "spec_changed"),
}


def test_there_are_thirteen_scenarios_of_which_four_are_innocent() -> None:
    assert len(SCENARIOS) == 13
    assert [name for name, law in SCENARIOS.items() if law.cause != "commit"] == [
        "null_plain",
        "null_spikes",
        "null_infrastructure",
        "null_load",
    ]


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_case_has_the_format_of_the_command_and_a_truth_that_names_its_commits(scenario: str) -> None:
    one = case(scenario, 5, 0)
    assert set(one.case) == {"id", "job", "controls", "load", "commits", "selection"}
    assert len(one.case["job"]["times"]) == len(one.case["job"]["duration_seconds"]) == 2016
    assert all(set(commit) == COMMIT_KEYS for commit in one.case["commits"])
    assert 100 <= len(one.case["commits"]) <= 236
    at = {commit["id"]: commit["committed_at"] for commit in one.case["commits"]}
    assert one.truth.guilty <= set(at)
    assert len(at) == len(one.case["commits"])
    for effect in one.truth.effects:
        lag = effect.onset - at[effect.commit_ids[0]]
        assert (60 if scenario == "lagged" else 0) * MINUTE <= lag <= (365 if scenario == "lagged" else 65) * MINUTE
        assert 1.1 <= effect.effect_ratio <= 2.0
    assert bool(one.truth.effects) == (one.truth.cause == "commit")


def test_the_effect_is_in_the_series_at_the_labelled_time() -> None:
    rises = []
    for index in range(20):
        one = case("step_clean", 3, index)
        times = np.array(one.case["job"]["times"])
        logs = np.log(np.array(one.case["job"]["duration_seconds"]))
        (effect,) = one.truth.effects
        after = times >= effect.onset
        rises.append(np.median(logs[after]) - np.median(logs[~after]) - np.log(effect.effect_ratio))
    assert abs(float(np.mean(rises))) < 0.02
    assert max(map(abs, rises)) < 0.1


def test_the_same_seed_generates_the_same_cases_and_another_seed_others(tmp_path: Path) -> None:
    assert case("pulse", 1, 2) == case("pulse", 1, 2)
    assert case("pulse", 1, 2).case["job"] != case("pulse", 2, 2).case["job"]
    few = cases(4, 1, ("ramp", "null_load"))
    write(few, tmp_path)
    assert read(tmp_path) == few


def test_stress_leaves_the_usual_cases_as_they_are_and_makes_commits_and_decoys_more() -> None:
    usual = case("null_plain", 4, 0)
    assert case("null_plain", 4, 0, Stress()) == usual
    dense = case("null_plain", 4, 0, Stress(density=3))
    assert 300 <= len(dense.case["commits"]) <= 708
    flagged = [
        sum(commit["schema_changed"] or commit["spec_changed"] for index in range(8) for commit in each(index))
        for each in (
            lambda index: case("null_plain", 4, index).case["commits"],
            lambda index: case("null_plain", 4, index, Stress(decoys=4)).case["commits"],
        )
    ]
    assert flagged[1] > 2 * flagged[0] > 0
