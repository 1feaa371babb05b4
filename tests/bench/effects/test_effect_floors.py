"""Floors of the bounds on fixed seeds; `make bench-effects` measures on more histories and writes docs/effects.md."""

from __future__ import annotations

from typing import Any

import pytest
from effects.laws import ABSTAIN, ALONE, DESIGN, OWN, Scene
from effects.report import PAGE, page
from effects.score import pooled, score

pytestmark = pytest.mark.xdist_group("effect-floors")
HISTORIES = 100


@pytest.fixture(scope="module")
def design() -> dict[str, dict[str, Any]]:
    return {name: score(scene, HISTORIES, 41) for name, scene in DESIGN.items()}


@pytest.mark.parametrize("name", DESIGN)
def test_bounds_cover_in_every_scene_of_the_design(name: str, design: dict[str, dict[str, Any]]) -> None:
    row = design[name]
    assert row["covers"] >= 0.91
    assert row["false_claims"] <= 0.1
    assert row["abstains"] <= 0.1


def test_pooled_coverage_false_claims_and_power_meet_their_goals(design: dict[str, dict[str, Any]]) -> None:
    rows = list(design.values())
    assert pooled(rows) >= 0.93
    assert sum(row["false_claims"] for row in rows) / len(rows) <= 0.05
    assert design["calm"]["found"] >= 0.95
    assert design["cluster -20 % at the operation"]["found"] >= 0.8


def test_bounds_cover_under_laws_that_were_not_designed_for() -> None:
    rows = [score(scene, 20, 43) for scene in OWN.values()]
    assert pooled(rows) >= 0.93
    assert sum(row["false_claims"] for row in rows) / len(rows) <= 0.06


@pytest.mark.parametrize("scene", ABSTAIN.values(), ids=ABSTAIN.keys())
def test_nothing_is_claimed_where_the_cluster_may_be_the_cause(scene: Scene) -> None:
    row = score(scene, 40, 47)
    assert row["abstains"] >= 0.9
    assert row["false_claims"] <= 0.05


@pytest.mark.parametrize("scene", ALONE.values(), ids=ALONE.keys())
def test_a_calm_job_without_controls_can_be_judged(scene: Scene) -> None:
    row = score(scene, 40, 53)
    assert row["found"] >= 0.5
    assert row["covers"] >= 0.91


def test_the_page_shows_what_was_measured() -> None:
    assert page() == PAGE.read_text()
