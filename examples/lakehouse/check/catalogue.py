"""The scenarios, in the order in which they happen."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from lakehouse.check import (
    access,
    alerts,
    browser,
    catalog,
    cold,
    contention,
    drills,
    flow,
    foresight,
    maintained,
    matrix,
    pitfalls,
    pointers,
    versions,
)
from lakehouse.check.scenario import Scenario
from lakehouse.check.stream import checkpoints, conflicts, debt, freshness, kills, outbox, throughput
from lakehouse.check.world import ScenarioWorld
from limnograph.domain.errors import InvalidInput

KINDS: Mapping[str, Callable[[ScenarioWorld], Any]] = {
    "FR1 FR8 sources and runs": flow.DailyFlow,
    "exactly once": flow.ExactlyOnce,
    "quality gate": flow.QualityGate,
    "point-in-time features": flow.PointInTime,
    "six findings in Chromium": browser.FindingsInBrowser,
    "pitfalls 1 2 9, maintainer": maintained.MaintainerUnderPolicy,
    "table at risk": foresight.TableAtRisk,
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
STREAM: Mapping[str, Callable[[ScenarioWorld], Any]] = {
    "freshness": freshness.StreamFreshness,
    "exactly once, kill -9": kills.KilledStream,
    "outbox": outbox.RoutedOutbox,
    "compaction paused": debt.PausedCompaction,
    "throughput, observed and not": throughput.ObservedThroughput,
    "lost checkpoint": checkpoints.LostCheckpoint,
    "pitfall 8, stream and batch": conflicts.StreamBesideBatch,
}
BATCH_ONLY = frozenset(
    {
        "six findings in Chromium",
        "burst, alert",
        "pitfall 10 cold bytes",
        "table at risk",
        "pitfall 4 lake as a database",
        "50 writers",
        "stale pointer",
        "access by tier",
        "pitfall 7, catalog",
    }
)
"""Not in the short form, which CI runs: they need more time or programs, or tests of their own show the same."""
SHORTENED: Mapping[str, Callable[[ScenarioWorld], Any]] = {
    "pitfalls 1 2 9, maintainer": partial(maintained.MaintainerUnderPolicy, runs=0),
    "disaster drill": partial(drills.DisasterDrill, moves=False),
}
"""What the short form has instead."""
FORMS: Mapping[str, Mapping[str, Callable[[ScenarioWorld], Any]]] = {
    "short": {name: SHORTENED.get(name, kind) for name, kind in KINDS.items() if name not in BATCH_ONLY},
    "batch": KINDS,
    "stream": STREAM,
}
"""Scenarios by name. The lakehouse reads its sources in batches, or from a stream."""


def names(form: str, only: Sequence[str] = ()) -> list[str]:
    """Names of scenarios: all of a form, or those with one of these texts in their name; in batches the first one too,
    because others build on it. Raises InvalidInput for a text that no name has.
    """
    known = list(FORMS[form])
    for text in only:
        if not any(text in name for name in known):
            raise InvalidInput("--only", f"no scenario of the {form} form has {text!r} in its name: {', '.join(known)}")
    always = known[:1] if form != "stream" else []
    return [name for name in known if not only or name in always or any(text in name for text in only)]


def scenarios(world: ScenarioWorld, form: str, only: Sequence[str] = ()) -> list[Scenario]:
    """The scenarios with `names`. Raises InvalidInput."""
    return [Scenario(name, (made := FORMS[form][name](world)).happen, made.observe) for name in names(form, only)]
