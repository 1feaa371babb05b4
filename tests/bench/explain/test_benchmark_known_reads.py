"""Floors of explain where runs report the snapshot that they read, on few seeds of both generators."""

from __future__ import annotations

import pytest
from explain import heldout, synthetic
from explain.cases import Labelled
from explain.known_reads import NEVER, alone, with_reads
from explain.methods import ours, run
from explain.score import Judged, per_scenario

pytestmark = pytest.mark.xdist_group("benchmark-floors")
CASES = [*synthetic.cases(81, 4), *heldout.cases(83, 4)]


@pytest.fixture(scope="module")
def judged() -> list[tuple[Labelled, Judged]]:
    cases = with_reads(CASES)
    return list(zip(cases, run(ours, cases).judged, strict=True))


def share(found: list[Judged]) -> float:
    return sum(each.top1 for each in found) / len(found)


def test_reads_are_in_the_order_of_commits_and_those_of_guilty_ones_are_their_onsets() -> None:
    for each in with_reads(CASES):
        commits = {commit["id"]: commit for commit in each.case["commits"]}
        tables = {commit["table"] for commit in commits.values()}
        for table in tables:
            mine = [commit["first_read_at"] for commit in commits.values() if commit["table"] == table]
            assert mine == sorted(mine)
        times = {*each.case["job"]["times"], NEVER}
        assert all(commit["first_read_at"] in times for commit in commits.values())


def test_the_commit_that_one_run_read_first_and_alone_is_ranked_first(judged: list[tuple[Labelled, Judged]]) -> None:
    found = [answer for case, answer in judged if alone(case)]
    assert len(found) >= 25
    assert share(found) >= 0.95


def test_known_reads_improve_the_ranking_of_all_cases(judged: list[tuple[Labelled, Judged]]) -> None:
    without = run(ours, [each for each in CASES if each.truth.guilty]).judged
    assert share([answer for _, answer in judged]) >= share(without) + 0.05


def test_with_known_reads_the_guilty_commit_is_almost_always_first_and_innocent_jobs_are_left_alone() -> None:
    pooled = per_scenario(run(ours, with_reads(synthetic.cases(87, 4), innocent=True)).judged)["pooled"]
    assert pooled.top1 >= 0.85
    assert pooled.precision >= 0.9
    assert pooled.false_blame <= 0.13
