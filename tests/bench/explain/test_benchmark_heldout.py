"""The second generator: its cases are in the command's format, as messy as promised, and true to their truth."""

from __future__ import annotations

import numpy as np
import pytest
from explain.cases import MINUTE, Labelled
from explain.heldout import SCENARIOS, case, cases

pytestmark = pytest.mark.xdist_group("benchmark-heldout")


@pytest.fixture(scope="module")
def drawn() -> list[Labelled]:
    return cases(3, 2)


def test_seven_kinds_of_innocent_cases_have_no_cause(drawn: list[Labelled]) -> None:
    innocent = {each.truth.scenario for each in drawn if not each.truth.guilty}
    assert innocent == {name for name in SCENARIOS if name.startswith("innocent_")}
    assert len(innocent) == 7


def test_the_cases_are_as_messy_as_lakes_are(drawn: list[Labelled]) -> None:
    gaps = [np.diff(each.case["job"]["times"]) / MINUTE for each in drawn]
    steps = [float(np.median(gap)) for gap in gaps]
    assert min(steps) < 11
    assert max(steps) > 55
    assert any(gap.max() > 10 * np.median(gap) for gap in gaps), "some runs are missing for hours"
    commits = [commit for each in drawn for commit in each.case["commits"]]
    for name in ("app_id", "manifests", "changed_partitions", "added_delete_files"):
        assert any(commit[name] is None for commit in commits), f"{name} is null somewhere"
        assert any(commit[name] is not None for commit in commits)
    assert {len({commit["table"] for commit in each.case["commits"]}) for each in drawn} >= {1, 2, 3}
    assert any(each.case["selection"] for each in drawn)
    assert any(each.case["load"] is None for each in drawn)
    assert {len(each.case["controls"]) for each in drawn} >= {0, 3}


def test_a_commit_comes_before_the_first_run_it_slows_and_that_run_is_one_of_the_job(drawn: list[Labelled]) -> None:
    for each in drawn:
        at = {commit["id"]: commit["committed_at"] for commit in each.case["commits"]}
        assert len(at) == len(each.case["commits"])
        for effect in each.truth.effects:
            assert effect.onset in set(each.case["job"]["times"])
            assert 0 <= effect.onset - at[effect.commit_ids[0]] < 17 * 60 * MINUTE


def test_numbers_that_an_engine_never_reports_are_missing_from_the_guilty_commit_too() -> None:
    for index in range(12):
        each = case("hourly", 8, index)
        (guilty,) = [commit for commit in each.case["commits"] if commit["id"] in each.truth.guilty]
        same = [commit for commit in each.case["commits"] if commit["app_id"] == guilty["app_id"]]
        if guilty["added_delete_files"] is not None and len(same) > 5:
            assert any(commit["added_delete_files"] is not None for commit in same if commit is not guilty)


def test_the_same_seed_gives_the_same_cases() -> None:
    assert case("burst", 1, 2) == case("burst", 1, 2)
    assert case("burst", 1, 2).case["job"] != case("burst", 1, 3).case["job"]
