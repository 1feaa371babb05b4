"""The wide development generator: cases repeat, their truth is in them, innocent ones have no cause."""

from __future__ import annotations

import pytest
from explain import wide


@pytest.mark.parametrize("scenario", ["burst", "again", "n_improved"])
def test_a_case_matches_its_labels(scenario: str) -> None:
    made, again = (wide.cases(3, 2, (scenario,)) for _ in range(2))
    assert [each.case for each in made] == [each.case for each in again]
    assert made[0].case["commits"] != made[1].case["commits"]
    for each in made:
        ids = {commit["id"] for commit in each.case["commits"]}
        times = set(each.case["job"]["times"])
        assert each.truth.guilty | each.truth.credited <= ids
        assert bool(each.truth.guilty) == (not scenario.startswith("n_"))
        assert all(effect.onset in times for effect in each.truth.effects)
