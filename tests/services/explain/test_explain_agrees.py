"""Explain and the effect ledger state the same about the same commit: their bounds overlap."""

from __future__ import annotations

import numpy as np
import pytest
from effects.laws import DESIGN, draw

from limnograph.analysis.effect import measure_effect
from limnograph.analysis.explain import explain
from limnograph.domain.answers.effects import EffectCase
from limnograph.domain.answers.explanations import Case, CaseCommit, ChangeBounds, RunSeries
from limnograph.services.explain.around import around

CASES = 12


@pytest.mark.parametrize("scene", ["calm", "daily cycle 20 %", "5 % spikes"])
def test_bounds_of_the_panel_and_of_the_ledger_overlap(scene: str) -> None:
    pairs = []
    for seed in range(CASES):
        case = draw(DESIGN[scene], 0.4, np.random.default_rng(seed)).case
        found = panel(case)
        ledger = measure_effect(case)
        if found is not None and found.low_seconds is not None and ledger.low is not None and ledger.high is not None:
            pairs.append((found.low_seconds, found.high_seconds, ledger.low.seconds, ledger.high.seconds))
    assert len(pairs) >= CASES * 0.75, "Explain finds the change and both state bounds"
    assert [pair for pair in pairs if pair[0] > pair[3] or pair[2] > pair[1]] == []


def panel(case: EffectCase) -> ChangeBounds | None:
    """The bounds that the panel shows for the change at the operation; None if Explain finds no change there."""
    job = series("job", case.runs.times, case.runs.duration_seconds)
    controls = [series(each.job, each.times, each.duration_seconds) for each in case.controls or ()]
    at = case.operation.committed_at
    commit = CaseCommit(id="1", table="t", committed_at=float(at), operation="append", added_data_files=50_000)
    changes = explain(Case(id="c", job=job, controls=controls, commits=[commit])).changes
    gap = np.median(np.diff(case.runs.times))
    bounds = around(changes, job, controls, None)
    near = [found for change, found in zip(changes, bounds, strict=True) if abs(change.onset - at) <= 3 * gap]
    return near[0] if near else None


def series(name: str, times, seconds) -> RunSeries:
    return RunSeries(name, [float(at) for at in times], list(seconds))
