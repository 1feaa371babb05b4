"""Cases with a known effect: hourly runs that vary a little, the operation in the middle of a week."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from limnograph.domain.answers.effects import ControlJob, EffectCase, EffectOperation, EffectRuns

HOUR = 3_600_000
MONDAY = 1_795_392_000_000
"""2026-11-23 00:00 UTC."""


def durations(count: int, before: int, ratio: float, seed: int = 1, noise: float = 0.05) -> list[float]:
    rng = np.random.default_rng(seed)
    steps = np.where(np.arange(count) >= before, math.log(ratio), 0.0)
    return [float(each) for each in 100 * np.exp(steps + rng.normal(0, noise, count))]


def case(ratio: float = 0.8, *, before: int = 48, after: int = 24, controls: int = 3, **changes: Any) -> EffectCase:
    """The operation between run `before` - 1 and run `before`."""
    times = [MONDAY + number * HOUR for number in range(before + after)]
    cut = times[before] - HOUR // 2
    runs = {"times": times, "duration_seconds": durations(before + after, before, ratio)}
    others = [
        ControlJob(job=f"c{number}", times=times, duration_seconds=durations(before + after, before, 1.0, 7 + number))
        for number in range(controls)
    ]
    return EffectCase(
        id="case",
        runs=EffectRuns(**{**runs, **changes.pop("runs", {})}),
        operation=changes.pop("operation", EffectOperation(started_at=cut - 60_000, committed_at=cut)),
        controls=changes.pop("controls_are", others),
        **changes,
    )
