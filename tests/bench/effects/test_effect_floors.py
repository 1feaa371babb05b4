"""Floors of the bounds on fixed seeds; `make bench-effects` measures on more histories and writes docs/effects.md."""

from __future__ import annotations

from effects.heldout import HELDOUT
from effects.laws import ABSTAIN, ALONE, DESIGN, OWN
from effects.report import PAGE, page
from effects.score import pooled, score

HISTORIES = 60


def test_bounds_cover_in_every_scene_of_the_design_and_effects_are_found() -> None:
    rows = {name: score(scene, HISTORIES, 41) for name, scene in DESIGN.items()}
    assert {name: row["covers"] for name, row in rows.items() if row["covers"] < 0.91} == {}
    assert {name: row["false_claims"] for name, row in rows.items() if row["false_claims"] > 0.07} == {}
    assert {name: row["abstains"] for name, row in rows.items() if row["abstains"] > 0.1} == {}
    assert pooled(list(rows.values())) >= 0.93
    assert sum(row["false_claims"] for row in rows.values()) / len(rows) <= 0.05
    assert rows["calm"]["found"] >= 0.95
    assert rows["cluster -20 % at the operation"]["found"] >= 0.8


def test_bounds_cover_under_distributions_outside_the_design() -> None:
    rows = [score(scene, 24, 43) for scene in OWN.values()]
    assert pooled(rows) >= 0.95
    assert sum(row["false_claims"] for row in rows) / len(rows) <= 0.05


def test_bounds_cover_under_laws_of_another_generator() -> None:
    rows = [score(law, 24, 59) for law in HELDOUT.values()]
    assert pooled(rows) >= 0.94
    assert sum(row["false_claims"] for row in rows) / len(rows) <= 0.05


def test_nothing_is_claimed_where_the_cluster_may_be_the_cause() -> None:
    rows = {name: score(scene, 120, 47) for name, scene in ABSTAIN.items()}
    assert {name: row["abstains"] for name, row in rows.items() if row["abstains"] < 0.95} == {}
    assert {name: row["false_claims"] for name, row in rows.items() if row["false_claims"] > 0.02} == {}
    assert rows["no controls, one shift of the cluster"]["abstains"] == 1.0


def test_a_calm_job_without_controls_can_be_judged() -> None:
    rows = {name: score(scene, 40, 53) for name, scene in ALONE.items()}
    assert {name: row["found"] for name, row in rows.items() if row["found"] < 0.5} == {}
    assert {name: row["covers"] for name, row in rows.items() if row["covers"] < 0.91} == {}


def test_the_page_shows_what_was_measured() -> None:
    assert page() == PAGE.read_text()
