"""The chance of an onset after a commit, summed over all runs, is what it is summed pair by pair."""

from __future__ import annotations

import numpy as np
import pytest

from limnograph.analysis.explain.lag import Onsets, expected_mass, onset_mass

MINUTE = 60_000.0


@pytest.mark.parametrize("gap", [MINUTE, 5 * MINUTE, 60 * MINUTE])
@pytest.mark.parametrize("seed", range(4))
def test_sums_over_runs_equal_sums_over_pairs(gap: float, seed: int) -> None:
    rng = np.random.default_rng((seed, int(gap)))
    at = 1.79e12 + np.unique(np.round(np.cumsum(rng.exponential(gap, 3000))))
    near = np.sort(rng.choice(np.arange(1, at.size), int(rng.integers(1, 900)), replace=False))
    starts, before = at[near], at[near - 1]
    committed = np.sort(np.concatenate([rng.uniform(at[0] - 1e7, at[-1], 300), starts[:20], before[:20]]))
    first_read = np.where(rng.random(committed.size) < 0.1, rng.choice(at, committed.size), np.nan)
    weights = np.exp(-rng.uniform(0, 9, near.size))
    pairs = onset_mass(committed, first_read, starts, before, gap) @ weights
    found = expected_mass(committed, first_read, Onsets(starts, before, weights, gap))
    np.testing.assert_allclose(found, pairs, rtol=1e-9, atol=1e-12)
    assert pairs.max() > 0
