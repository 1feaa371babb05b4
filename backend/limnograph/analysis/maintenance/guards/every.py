"""All guards of an action, in the order of the hazards."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from limnograph.analysis.maintenance.guards import engines, neighbours, snapshots, writers
from limnograph.analysis.maintenance.guards.facts import GuardFacts
from limnograph.domain.advice.document import PlanGuard

GUARDS: Sequence[Callable[[GuardFacts], PlanGuard | None]] = (
    *(neighbours.identity, engines.supported_format, writers.clock, neighbours.collection, neighbours.location_moved),
    *(snapshots.named_snapshots, snapshots.readers, snapshots.staged_commits, snapshots.references),
    *(writers.other_maintenance, writers.uncommitted_files),
    *(neighbours.nested_location, neighbours.twin, neighbours.spelling),
    *(engines.validated, engines.resumable, engines.readded_files),
    *(writers.quiet, writers.fast_writer, engines.stored_twice, engines.delta_lock),
    *(neighbours.own_table, neighbours.restored_copy, writers.other_installation),
)
TEMPORARY = frozenset(
    {
        writers.OTHER_REWRITE,
        writers.QUIET,
        writers.FAST_WRITER,
        writers.INSTALLATION,
        writers.CLOCK,
        writers.UNCOMMITTED,
    }
)
"""Codes of guards that may hold later without a change of the plan: wait. All others refuse it."""


OWNED = frozenset({neighbours.IDENTITY, neighbours.COLLECTION, neighbours.TWIN, neighbours.COPY, neighbours.OWN_TABLE})
"""Codes of guards that say whether a table's files are its own to delete."""


def guards_of(facts: GuardFacts) -> list[PlanGuard]:
    """The guards that concern the action. O(snapshots + files + other tables)."""
    return [found for guard in GUARDS if (found := guard(facts)) is not None]


def unsatisfied(guards: Sequence[PlanGuard]) -> list[PlanGuard]:
    """Those that do not hold."""
    return [each for each in guards if not each.ok]


def may_hold_later(guards: Sequence[PlanGuard]) -> bool:
    """Whether waiting is enough for all guards that do not hold."""
    return all(each.code in TEMPORARY for each in unsatisfied(guards))
