"""The third generator, the held-out one: its cases are in the command's format, messy, true to their truth, and tell
nothing of it."""

from __future__ import annotations

import numpy as np
import pytest
from explain.baselines import baselines
from explain.cases import MINUTE, Labelled
from explain.score import judge
from explain.third import SCENARIOS, case, cases
from explain.third_commits import COLUMNS

pytestmark = pytest.mark.xdist_group("benchmark-third")
COMMIT = {"id", "table", "committed_at", "operation", "app_id", *COLUMNS, "schema_changed", "spec_changed"}


@pytest.fixture(scope="module")
def drawn() -> list[Labelled]:
    return cases(3, 2)


def test_the_same_arguments_generate_the_same_case_and_others_another() -> None:
    assert case("publish", 1, 2) == case("publish", 1, 2)
    assert case("publish", 1, 2).case["job"] != case("publish", 1, 3).case["job"]
    assert case("publish", 1, 2).case["job"] != case("publish", 2, 2).case["job"]


def test_every_case_has_the_format_of_the_command(drawn: list[Labelled]) -> None:
    for each in drawn:
        found = each.case
        assert set(found) == {"id", "job", "controls", "load", "commits", "selection"}
        for run in [found["job"], *found["controls"]]:
            assert len(run["times"]) == len(run["duration_seconds"])
            assert run["times"] == sorted(run["times"])
            assert all(seconds is None or seconds > 0 for seconds in run["duration_seconds"])
        assert len(found["job"]["times"]) > 120
        assert len({commit["id"] for commit in found["commits"]}) == len(found["commits"])
        for commit in found["commits"]:
            assert set(commit) == COMMIT
            assert commit["operation"] in {"append", "overwrite", "delete", "replace"}
            assert all(commit[name] is None or commit[name] >= 0 for name in COLUMNS)


def test_nine_kinds_of_innocent_cases_have_no_cause(drawn: list[Labelled]) -> None:
    innocent = {each.truth.scenario for each in drawn if not each.truth.guilty}
    assert innocent == {name for name in SCENARIOS if name.startswith("innocent_")}
    assert len(innocent) == 9
    assert all(each.truth.cause == "commit" for each in drawn if each.truth.guilty)


def test_a_cause_affects_the_first_run_after_it_and_after_the_delay_of_its_reader(drawn: list[Labelled]) -> None:
    for each in drawn:
        at = {commit["id"]: commit["committed_at"] for commit in each.case["commits"]}
        runs = each.case["job"]["times"]
        for effect in each.truth.effects:
            first, cause = runs.index(effect.onset), at[effect.commit_ids[0]]
            assert cause <= effect.onset
            assert first >= 4
            assert runs[first - 1] < cause + 31 * MINUTE, "no run that had to see it went by"


def test_slowdowns_are_large_enough_to_matter(drawn: list[Labelled]) -> None:
    effects = [effect for each in drawn for effect in each.truth.effects]
    assert all(1.15 <= effect.effect_ratio <= 2.5 for effect in effects if effect.kind != "drop")
    assert all(0.39 <= effect.effect_ratio < 1 for effect in effects if effect.kind == "drop")
    assert {effect.kind for effect in effects} == {"step", "pulse", "ramp", "decay", "drop"}


def test_the_slowdown_is_in_the_durations() -> None:
    for index in range(6):
        each = case("hourly", 5, index)
        (effect,) = each.truth.effects
        seconds = np.array([np.nan if one is None else one for one in each.case["job"]["duration_seconds"]])
        after = np.array(each.case["job"]["times"]) >= effect.onset
        found = np.nanmedian(seconds[after]) / np.nanmedian(seconds[~after])
        assert found == pytest.approx(effect.effect_ratio, rel=0.2)


def test_no_id_reveals_the_truth(drawn: list[Labelled]) -> None:
    assert len({each.case["id"] for each in drawn}) == len(drawn)
    for each in drawn:
        assert each.truth.scenario not in each.case["id"]
        assert "innocent" not in each.case["id"]
    ranks = []
    for each in drawn:
        ids = sorted(int(commit["id"]) for commit in each.case["commits"])
        ranks += [ids.index(int(guilty)) / len(ids) for guilty in each.truth.guilty]
    assert 0.3 < np.mean(ranks) < 0.7


def test_ids_tables_and_flags_alone_lead_to_decoys(drawn: list[Labelled]) -> None:
    flagged = [
        (commit["id"] in each.truth.guilty)
        for each in drawn
        for commit in each.case["commits"]
        if commit["schema_changed"] or commit["spec_changed"]
    ]
    assert 0 < np.mean(flagged) < 0.6


def test_the_cases_are_as_messy_as_lakes_are(drawn: list[Labelled]) -> None:
    steps = [float(np.median(np.diff(each.case["job"]["times"]))) / MINUTE for each in drawn]
    assert min(steps) < 7
    assert max(steps) > 90
    commits = [commit for each in drawn for commit in each.case["commits"]]
    for name in ("app_id", *COLUMNS):
        assert any(commit[name] is None for commit in commits), f"{name} is null somewhere"
        assert any(commit[name] is not None for commit in commits)
    assert any(None in each.case["job"]["duration_seconds"] for each in drawn)
    assert {len({commit["table"] for commit in each.case["commits"]}) for each in drawn} >= {1, 2}
    assert any(each.case["selection"] for each in drawn)
    assert any(each.case["load"] is None for each in drawn)
    assert any(each.case["load"] and each.case["load"]["times"] != each.case["job"]["times"] for each in drawn)
    assert {len(each.case["controls"]) for each in drawn} >= {0, 3}


def test_a_publish_has_several_commits_within_the_minute_of_its_cause() -> None:
    each = case("publish", 4, 0)
    (guilty,) = [one["committed_at"] for one in each.case["commits"] if one["id"] in each.truth.guilty]
    near = {one["table"] for one in each.case["commits"] if abs(one["committed_at"] - guilty) < MINUTE}
    assert len(near) >= 3


def test_a_plain_method_answers_such_a_case_and_the_scorer_accepts_it(drawn: list[Labelled]) -> None:
    found = {name: [judge(each, method(each.case)) for each in drawn] for name, method in baselines(drawn[:4]).items()}
    assert all(0 <= sum(one.top1 for one in judged) < len(drawn) / 2 for judged in found.values())
