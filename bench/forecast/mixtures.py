"""Tables whose writer, upkeep and reader are of different kinds, with noise of other sizes: laws that no kind has.

What is learnt of the kinds alone holds of the writer, the upkeep and the reader that go together there. Lakes mix them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from forecast.kinds import KINDS, Rng, log_uniform, usual

_UPKEEP = ("merge_", "compact_", "break_", "repair_", "expire_", "keep_", "unexpire_")
_READING = ("reader_", "read_", "load_", "cost_", "skew")
_NOISES = ("mood_noise", "size_noise", "reader_noise", "read_noise", "skew_noise")


def mixed_params(rng: Rng, kinds: list[str]) -> dict[str, Any]:
    """Parameters `[table, 1]` as `kinds.draw_params` draws them for writers of these kinds, with the upkeep of another
    kind and the reader of a third.
    """
    drawn = [_mixed(rng, kind) for kind in kinds]
    return {name: np.array([[each[name]] for each in drawn], np.float64) for name in drawn[0]}


def _mixed(rng: Rng, kind: str) -> Mapping[str, float]:
    found = {**usual(rng), **KINDS[kind].draw(rng)}
    names = list(KINDS)
    for prefixes in (_UPKEEP, _READING):
        other = names[int(rng.integers(len(names)))]
        drawn = {**usual(rng), **KINDS[other].draw(rng)}
        found |= {name: value for name, value in drawn.items() if name.startswith(prefixes)}
    found |= {name: found[name] * log_uniform(rng, 0.4, 2.5) for name in _NOISES}
    found["compact_every"] = float(np.round(found["compact_every"] * log_uniform(rng, 0.5, 2)))
    found["keep_days"] *= log_uniform(rng, 0.6, 2)
    if rng.random() < 0.3:
        found["growth"] = float(rng.normal(0, 0.015))
    if rng.random() < 0.2:
        found["regime_at"] = float(rng.integers(24 * 5, 24 * 60))
        found["regime_factor"] = log_uniform(rng, 0.1, 10)
    return found
