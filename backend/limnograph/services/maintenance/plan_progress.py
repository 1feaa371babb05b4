"""The transitions of one plan while its table's lease is held."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from limnograph.domain.errors import ActionCancelled, LeaseLost, PlanMoved, SourceError
from limnograph.domain.facts.plans import PlanFact
from limnograph.domain.maintenance.moves import following
from limnograph.domain.maintenance.states import CANCELLABLE, PlanState, may_follow
from limnograph.ports.plan_states import PlanStates
from limnograph.services.maintenance.lease_keeper import LeaseKeeper
from limnograph.services.maintenance.problems import INTERRUPTED

ACTOR = "limnograph"
"""Who causes the transitions of the executor."""
_UNDER_WAY: frozenset[PlanState] = frozenset({"leased", "checking", "running", "unknown"})
POLL_S = 2.0
"""How often a running action looks whether a user cancelled it, seconds."""


def next_of(fact: PlanFact, state: PlanState, **fields: Any) -> PlanFact:
    """The next transition of a plan. Problem and time of a retry belong to one transition; that an executor ended while
    it was running is remembered until there is a result, because it is retried once only.
    """
    is_retry = fact.problem == INTERRUPTED and state in _UNDER_WAY
    once = {"problem": INTERRUPTED if is_retry else None, "not_before": None}
    return replace(following(fact, state, ACTOR), **{**once, **fields})


class PlanProgress:
    """Used by one thread; `is_cancelled` also by the engine's, which calls it while the first one waits.

    stopping  whether the program ends
    """

    def __init__(
        self, states: PlanStates, fact: PlanFact, keeper: LeaseKeeper, stopping: Callable[[], bool] = lambda: False
    ) -> None:
        self.fact = fact
        self._states, self._keeper, self._stopping = states, keeper, stopping
        self._polled_at, self._cancelled = 0.0, False

    def enter(self, state: PlanState, **fields: Any) -> PlanFact:
        """Record a transition. Raises LeaseLost if the lease or the plan is no longer this executor's, ActionCancelled
        if a user cancelled the plan and the state may not follow that.
        """
        self._keeper.check()
        try:
            (self.fact,) = self._states.record([next_of(self.fact, state, **fields)])
        except PlanMoved as moved:
            self._adopt(moved.plan)
            if not may_follow("cancelling", state):
                raise ActionCancelled("a user cancelled the plan") from moved
            (self.fact,) = self._states.record([next_of(self.fact, state, **fields)])
        return self.fact

    def is_cancelled(self) -> bool:
        """Whether the action must end: a user cancelled it, the lease was lost, or the program ends."""
        if self._cancelled or self._keeper.is_lost or self._stopping():
            return True
        now = time.monotonic()
        if now - self._polled_at >= POLL_S:
            self._polled_at = now
            try:
                found = self._states.plan(self.fact.plan_id)
            except SourceError:
                return False  # the keeper ends the work if this lasts
            self._cancelled = found is None or found.seq != self.fact.seq
        return self._cancelled

    @property
    def is_cancelled_by_user(self) -> bool:
        """Whether a user cancelled it, as far as this executor knows."""
        return self._cancelled

    def _adopt(self, found: PlanFact | None) -> None:
        """Take over a user's cancellation: its number and state, no other field. Anything else was not recorded by a
        holder of the lease, or this executor no longer holds it.
        """
        before = self.fact
        is_ours = found is not None and found.seq == before.seq + 1 and found.state == "cancelling"
        if not is_ours or before.state not in CANCELLABLE:
            raise LeaseLost(f"plan {before.plan_id} was changed by another program")
        self._cancelled = True
        self.fact = replace(before, seq=before.seq + 1, state="cancelling")
