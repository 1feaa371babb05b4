"""Held bytes of histories that PyIceberg wrote equal the set difference of what PyIceberg reads back. The benchmark
`held_parity` compares 200 of them.
"""

from __future__ import annotations

import pytest

from held_histories import cut_of, entry_sums, our_sums, random_history
from lakes import Lake


@pytest.mark.parametrize("seed", range(6))
def test_held_bytes_are_the_set_difference_of_pyicebergs_own_entries(lake: Lake, seed: int) -> None:
    table = random_history(lake, seed)
    cut_ms = cut_of(table, seed)
    assert our_sums(table, cut_ms) == entry_sums(table, cut_ms)
