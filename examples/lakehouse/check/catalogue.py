"""The scenarios, in the order in which they happen."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from lakehouse.check import (
    access,
    alerts,
    browser,
    catalog,
    cold,
    contention,
    drills,
    flow,
    maintained,
    matrix,
    pitfalls,
    pointers,
    versions,
)
from lakehouse.check.scenario import Scenario
from lakehouse.check.world import ScenarioWorld
from limnograph.domain.errors import InvalidInput

KINDS = {
    "FR1 FR8 sources and runs": flow.DailyFlow,
    "exactly once": flow.ExactlyOnce,
    "quality gate": flow.QualityGate,
    "point-in-time features": flow.PointInTime,
    "six findings in Chromium": browser.FindingsInBrowser,
    "pitfalls 1 2 9, maintainer": maintained.MaintainerUnderPolicy,
    "pitfall 3 partitions by key": pitfalls.PartitionPitfall,
    "pitfall 4 lake as a database": pitfalls.DatabasePitfall,
    "FR5 erasure, pitfall 5": drills.ErasureDrill,
    "FR3 engines, pitfall 6": matrix.EngineMatrix,
    "burst, alert": alerts.BurstAlert,
    "50 writers": contention.FiftyWriters,
    "stale pointer": pointers.StalePointer,
    "access by tier": access.AccessByTier,
    "FR6 branches and tags": versions.BranchesAndTags,
    "FR7 evolution": versions.SchemaEvolution,
    "disaster drill": drills.DisasterDrill,
    "pitfall 7, catalog": catalog.CatalogOutage,
    "pitfall 10 cold bytes": cold.ColdBytes,
}


FORMS = ("short", "full")
FULL_ONLY = frozenset(
    {
        "six findings in Chromium",
        "burst, alert",
        "pitfall 10 cold bytes",
        "pitfall 4 lake as a database",
        "50 writers",
        "stale pointer",
        "access by tier",
        "pitfall 7, catalog",
    }
)
"""Not in the short form, which CI runs: they need more time or programs, or tests of their own show the same."""
SHORTENED = {"pitfalls 1 2 9, maintainer": partial(maintained.MaintainerUnderPolicy, runs=0)}
"""What the short form has instead."""


def scenarios(world: ScenarioWorld, form: str, only: Sequence[str] = ()) -> list[Scenario]:
    """The scenarios of a form, or those of them with one of these texts in their name, and the first one, which others
    build on. Raises InvalidInput.
    """
    chosen = names(form, only)
    kinds = {**KINDS, **SHORTENED} if form == "short" else KINDS
    return [Scenario(name, (made := kinds[name](world)).happen, made.observe) for name in chosen]


def names(form: str, only: Sequence[str] = ()) -> list[str]:
    """Names of scenarios, in order. Raises InvalidInput for a text that no name has."""
    known = [name for name in KINDS if form != "short" or name not in FULL_ONLY]
    for text in only:
        if not any(text in name for name in known):
            raise InvalidInput("--only", f"no scenario of the {form} form has {text!r} in its name: {', '.join(known)}")
    return [name for n, name in enumerate(known) if not only or n == 0 or any(text in name for text in only)]
