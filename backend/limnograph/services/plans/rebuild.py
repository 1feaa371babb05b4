"""Rebuilds the states of plans after their database was lost, or replaced by an older backup."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from limnograph.domain.errors import PlanMoved
from limnograph.domain.facts.plans import PlanFact
from limnograph.domain.maintenance.moves import following
from limnograph.domain.maintenance.states import PlanState
from limnograph.ports.plan_states import PlanStates

UNDER_WAY: frozenset[PlanState] = frozenset({"leased", "checking", "running", "cancelling"})
"""States in which an executor worked on the table. Its lease was lost with the database."""
PROGRAM = "limnograph"
"""Actor of transitions that the rules and the executor cause."""
_log = logging.getLogger("limnograph.plans")


def rebuild(states: PlanStates, recorded: Iterable[PlanFact]) -> int:
    """Insert the recorded plans that the database lacks; those under way become `unknown`, until the stamps in the
    table decide. Returns the number of plans inserted. Safe to run in several processes at once. Raises SourceError.
    """
    known = {fact.plan_id: fact.seq for fact in states.plans()}
    missing = [fact for fact in recorded if known.get(fact.plan_id, 0) < fact.seq]
    if not missing:
        return 0
    restored = states.restore(missing)
    for fact in missing:
        if fact.state in UNDER_WAY:
            try:
                states.record([following(fact, "unknown", PROGRAM, "the database of the plan states was lost")])
            except PlanMoved:
                _log.debug("plan %s moved while it was restored", fact.plan_id)
    if restored:
        _log.warning("%d plans were restored from the meta table `plans`", restored)
    return restored
