"""Rebuilds the states of plans after their database was lost, or replaced by an older backup."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable

from limnograph.analysis.maintenance.breakers import BreakerFacts, verification
from limnograph.domain.errors import LimnographError, PlanMoved
from limnograph.domain.facts.plans import PlanFact
from limnograph.domain.ids import TableName
from limnograph.domain.maintenance.moves import following
from limnograph.domain.maintenance.states import OUTCOMES_US, UNCONFIRMED, PlanState
from limnograph.ports.plan_states import PlanStates

UNDER_WAY: frozenset[PlanState] = frozenset({"leased", "checking", "running", "cancelling"})
"""States in which an executor worked on the table. Its lease was lost with the database."""
PROGRAM = "limnograph"
"""Actor of transitions that the rules and the executor cause."""
RETRY_S = 60.0
"""Least time between two attempts to rebuild a lost database."""
_log = logging.getLogger("limnograph.plans")


class StatesRebuild:
    """Rebuilds a lost database once per process: `recorded` has the last transitions of all plans in the meta table.
    Thread-safe: `_done` and `_next_try` are written under `_lock`, and no caller waits for another one that reads.
    """

    def __init__(self, states: PlanStates, recorded: Callable[[], Iterable[PlanFact]]) -> None:
        self._states, self._recorded = states, recorded
        self._lock = threading.Lock()
        self._done, self._next_try = False, 0.0

    def is_done(self) -> bool:
        """Whether the database has all recorded plans; tries to rebuild it, at the first call and after a failure.
        False while another thread does.
        """
        if self._done or not self._lock.acquire(blocking=False):
            return self._done
        try:
            if not self._done and time.monotonic() >= self._next_try:
                rebuild(self._states, self._recorded())
                self._done = True
        except LimnographError as error:
            self._next_try = time.monotonic() + RETRY_S
            _log.warning("recorded plans could not be compared with the meta table: %s", error)
        finally:
            self._lock.release()
        return self._done


def rebuild(states: PlanStates, recorded: Iterable[PlanFact]) -> int:
    """Insert the recorded plans that the database lacks; those under way become `unknown`, until the stamps in the
    table decide. A failed verification stops its action again. Returns the number of plans inserted. Safe to run in
    several processes at once. Raises SourceError.
    """
    known = {fact.plan_id: fact.seq for fact in states.plans()}
    missing = [fact for fact in recorded if known.get(fact.plan_id, 0) < fact.seq]
    if not missing:
        return 0
    _stop_again(states, missing)
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


def _stop_again(states: PlanStates, missing: Iterable[PlanFact]) -> None:
    """Open the breakers of failed verifications, which were lost too; whether a user had closed one is not known."""
    now = states.now()
    for fact in missing:
        reason = fact.reason or ""
        if fact.state == "failed" and reason.startswith(UNCONFIRMED) and (fact.at or 0) >= now - OUTCOMES_US:
            name = TableName(fact.catalog or "", fact.namespace or "", fact.table or "")
            states.open_breaker(verification(BreakerFacts(now, name, fact, ()), reason.removeprefix(UNCONFIRMED)))
