"""The scenarios, in the order in which they happen."""

from __future__ import annotations

from collections.abc import Sequence

from lakehouse.check import access, catalog, contention, drills, flow, maintained, matrix, pitfalls, pointers, versions
from lakehouse.check.scenario import Scenario
from lakehouse.check.world import ScenarioWorld

KINDS = {
    "FR1 FR8 sources and runs": flow.DailyFlow,
    "exactly once": flow.ExactlyOnce,
    "quality gate": flow.QualityGate,
    "point-in-time features": flow.PointInTime,
    "pitfalls 1 2 9, maintainer": maintained.MaintainerUnderPolicy,
    "pitfall 3 partitions by key": pitfalls.PartitionPitfall,
    "pitfall 4 lake as a database": pitfalls.DatabasePitfall,
    "FR5 erasure, pitfall 5": drills.ErasureDrill,
    "FR3 engines, pitfall 6": matrix.EngineMatrix,
    "50 writers": contention.FiftyWriters,
    "stale pointer": pointers.StalePointer,
    "access by tier": access.AccessByTier,
    "FR6 branches and tags": versions.BranchesAndTags,
    "FR7 evolution": versions.SchemaEvolution,
    "disaster drill": drills.DisasterDrill,
    "pitfall 7, catalog": catalog.CatalogOutage,
}


def scenarios(world: ScenarioWorld, only: Sequence[str] = ()) -> list[Scenario]:
    """All scenarios, or those with one of these texts in their name, and the first one, which others build on."""
    first, *_ = KINDS
    chosen = {name: kind for name, kind in KINDS.items() if not only or name == first or any(t in name for t in only)}
    return [Scenario(name, (made := kind(world)).happen, made.observe) for name, kind in chosen.items()]
