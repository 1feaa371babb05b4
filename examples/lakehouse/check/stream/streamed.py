"""The scenarios of the long form, in the order in which they happen."""

from __future__ import annotations

from collections.abc import Sequence

from lakehouse.check.scenario import Scenario
from lakehouse.check.stream import checkpoints, conflicts, freshness, kills
from lakehouse.check.world import ScenarioWorld

KINDS = {
    "freshness": freshness.StreamFreshness,
    "exactly once, kill -9": kills.KilledStream,
    "lost checkpoint": checkpoints.LostCheckpoint,
    "pitfall 8, stream and batch": conflicts.StreamBesideBatch,
}


def stream_scenarios(world: ScenarioWorld, only: Sequence[str] = ()) -> list[Scenario]:
    """All scenarios, or those with one of these texts in their name."""
    chosen = {name: kind for name, kind in KINDS.items() if not only or any(text in name for text in only)}
    return [Scenario(name, (made := kind(world)).happen, made.observe) for name, kind in chosen.items()]
