"""Explain tells stories right: who is named, who is not, and in which words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from explain_cases import (
    GUILTY,
    MINUTE,
    START,
    answered,
    burst,
    case,
    commit,
    guilty_case,
    ordinary,
    posterior,
    runs,
    slowed,
)
from limnograph.analysis.explain.evidence import amount


def test_the_burst_before_the_slowdown_is_named_with_its_evidence() -> None:
    found = answered(guilty_case())
    assert found.blamed == [GUILTY]
    assert found.confidence == "strong"
    change, first = found.changes[0], found.hypotheses[0]
    assert (change.kind, change.onset) == ("step", START + 300 * 5 * MINUTE)
    assert change.effect_ratio == pytest.approx(1.5, rel=0.03)
    assert change.effect_seconds == pytest.approx(150, rel=0.1)
    assert first.lag_seconds == 240
    texts = [each.text for each in first.evidence or ()]
    assert "The change starts 4 min after this commit." in texts
    assert any(text.startswith("Added data files: 5,000, typically") for text in texts)
    assert "coincides with" in found.verdict
    assert "cause" not in found.verdict


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (999, "999"), (1_000, "1 kB"), (245_701_113, "245.7 MB"), (44_979_572_147, "45 GB"), (1e18, "1,000 PB")],
)
def test_bytes_are_shown_in_units(value: float, text: str) -> None:
    assert amount("added_bytes", value) == text
    assert amount("added_data_files", value) == f"{value:,.0f}"


def test_without_the_guilty_commit_no_commit_explains_the_slowdown() -> None:
    told = guilty_case()
    told["commits"] = [each for each in told["commits"] if each["id"] != GUILTY]
    found = answered(told)
    assert (found.blamed, found.hypotheses[0].kind) == ([], "none")
    assert found.hypotheses[0].posterior >= 0.5


def test_a_commit_after_the_change_is_not_a_suspect() -> None:
    told = guilty_case()
    told["commits"] = [*ordinary(), burst(300 * 5 + 30)]
    assert posterior(answered(told)) < 0.05


def test_a_change_of_other_jobs_too_is_infrastructure() -> None:
    controls = [slowed(runs(seed=seed), 300, 1.5) for seed in (5, 6, 7)]
    found = answered(guilty_case(controls=controls))
    assert (found.blamed, found.hypotheses[0].kind) == ([], "infrastructure")
    assert "infrastructure" in found.verdict


def test_a_change_that_the_load_explains_is_load() -> None:
    job = runs(seed=9)
    values = [1000.0] * 300 + [1500.0] * 300
    found = answered(guilty_case(load={"times": job["times"], "values": values}))
    assert (found.blamed, found.hypotheses[0].kind) == ([], "load")


def test_a_faster_job_is_credited_to_the_compaction() -> None:
    mended = commit("compaction", 1496, operation="replace", removed_data_files=4_000, added_data_files=40)
    found = answered(case(slowed(runs(), 300, 0.6), [*ordinary(), mended]))
    assert found.hypotheses[0].commit_id == "compaction"
    assert found.hypotheses[0].posterior > 0.5
    assert found.blamed == []  # nobody is to blame for a faster job
    assert found.changes[0].kind == "drop"
    assert found.changes[0].effect_seconds < 0


def test_a_slowdown_ended_by_a_compaction_is_a_step_and_the_verdict_names_its_cause() -> None:
    mended = commit("compaction", 1676, operation="replace", removed_data_files=4_000, added_data_files=40)
    found = answered(case(slowed(runs(), 300, 1.5, 336), [*ordinary(), burst(1496), mended]))
    assert [each.kind for each in found.changes] == ["step", "drop"]
    assert (found.blamed, GUILTY in found.verdict) == ([GUILTY], True)
    assert {each.commit_id for each in found.hypotheses[:2]} == {GUILTY, "compaction"}


def test_a_slowdown_without_a_cause_is_reported_as_such_and_does_not_name_what_ended_it() -> None:
    mended = commit("compaction", 1676, operation="replace", removed_data_files=4_000, added_data_files=40)
    found = answered(case(slowed(runs(), 300, 2.5, 336), [*ordinary(), mended]))
    assert (found.blamed, found.hypotheses[0].kind) == ([], "none")
    assert found.verdict.startswith("No commit explains the slowdown")
    assert found.confidence in {"none", "weak"}


def test_a_slowdown_that_goes_away_is_one_pulse() -> None:
    found = answered(case(slowed(runs(), 300, 1.5, 336), [*ordinary(), burst(1496)]))
    assert [each.kind for each in found.changes] == ["pulse"]
    assert found.blamed == [GUILTY]


def test_a_rise_over_hours_is_one_ramp() -> None:
    job = runs(900)
    rise = np.clip((np.arange(900) - 300) / 150, 0, 1)
    job["duration_seconds"] = (np.array(job["duration_seconds"]) * np.exp(0.5 * rise)).tolist()
    found = answered(case(job, [*ordinary(), burst(1496)]))
    assert [each.kind for each in found.changes] == ["ramp"]
    assert abs(found.changes[0].onset - START - 300 * 5 * MINUTE) <= 90 * MINUTE


def test_the_first_run_known_to_have_read_a_commit_decides() -> None:
    told = guilty_case()
    onset = START + 300 * 5 * MINUTE
    twin = burst(1497, "twin")
    both = {**told, "commits": [*told["commits"], {**twin, "first_read_at": onset + 4 * 5 * MINUTE}]}
    both["commits"] = [{**each, "first_read_at": onset} if each["id"] == GUILTY else each for each in both["commits"]]
    found = answered(both)
    assert found.blamed == [GUILTY]
    assert posterior(found, "twin") < 0.05


def test_only_changes_within_the_selection_are_reported() -> None:
    job = slowed(slowed(runs(), 200, 1.4), 450, 1.5)
    told = case(job, [*ordinary(), burst(996), burst(2246, "second")])
    assert set(answered(told).blamed) == {GUILTY, "second"}
    window: dict[str, Any] = {"from": START + 2000 * MINUTE, "to": START + 2500 * MINUTE}
    found = answered({**told, "selection": window})
    assert (found.blamed, len(found.changes)) == (["second"], 1)


def test_unknown_numbers_are_left_out_and_not_zero() -> None:
    told = guilty_case()
    hole = dict.fromkeys(("added_bytes", "added_records", "manifests", "removed_data_files", "app_id", "operation"))
    told["commits"] = [{**each, **hole} for each in told["commits"]]
    assert answered(told).blamed == [GUILTY]
