"""Decisions on plans: propose, approve, dismiss, withdraw, cancel. The executor acts on them; nothing here runs."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Collection, Iterable, Sequence

from limnograph.domain.errors import Forbidden, InvalidInput, NotFound, PlanMoved, SourceUnavailable
from limnograph.domain.facts.plans import PlanFact
from limnograph.domain.maintenance.leases import MaintenanceBreaker
from limnograph.domain.maintenance.moves import following
from limnograph.domain.maintenance.states import CANCELLABLE, PlanState
from limnograph.domain.time import Micros
from limnograph.ports.plan_states import PlanStates
from limnograph.services.plans.rebuild import StatesRebuild

LONGEST_REASON = 1_000
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_log = logging.getLogger("limnograph.plans")


class PlanDesk:
    """`recorded`: last transitions of all plans that the meta table `plans` has, for a lost database. It is read once,
    by the first caller; others do not wait for it. Immutable after construction. Methods block; they raise SourceError,
    NotFound, PlanMoved, InvalidInput and Forbidden.
    """

    def __init__(self, states: PlanStates, recorded: Callable[[], Iterable[PlanFact]]) -> None:
        self._known, self._rebuild = states, StatesRebuild(states, recorded)

    def plan(self, plan_id: str) -> PlanFact:
        """The last transition of a plan. Raises NotFound."""
        found = self._states.plan(plan_id)
        if found is None:
            raise NotFound(f"plan {plan_id[:64]!r} is unknown; list the plans and use one of their ids")
        return found

    def plans(self, states: Collection[str] = (), table_uuids: Collection[str] = ()) -> list[PlanFact]:
        """The last transition of each plan, newest first; only those in these states or of these tables, if given."""
        return self._states.plans(states, table_uuids)

    def now(self) -> Micros:
        """The database's clock."""
        return self._known.now()

    def record(self, facts: Sequence[PlanFact]) -> list[PlanFact]:
        """Record transitions of the rules, all or none. Raises SourceError while the recorded plans cannot be read: a
        plan that a lost database lacks would begin again.
        """
        if not self._rebuild.is_done():
            raise SourceUnavailable("plans", "the meta table `plans` could not be read; nothing is proposed until then")
        return self._known.record(facts)

    def propose(self, plan_id: str, actor: str, reason: str | None = None) -> PlanFact:
        """Propose a plan that ended once more, as its next attempt."""
        return self._move(self.plan(plan_id), "proposed", actor, reason)

    def approve(self, plan_id: str, arguments_sha256: str, seq: int, actor: str, reason: str | None = None) -> PlanFact:
        """Approve exactly the arguments with this digest."""
        plan = self._seen(plan_id, seq)
        if plan.arguments_sha256 != arguments_sha256:
            raise PlanMoved(f"plan {plan_id} has other arguments than the approved ones; read it again", plan)
        self._require("proposed", plan, "approved")
        return self._move(plan, "approved", actor, reason)

    def dismiss(self, plan_id: str, seq: int, actor: str, reason: str | None = None) -> PlanFact:
        """Decide against a proposed plan."""
        plan = self._seen(plan_id, seq)
        self._require("proposed", plan, "dismissed")
        return self._move(plan, "dismissed", actor, reason)

    def withdraw(self, plan_id: str, seq: int, actor: str, reason: str | None = None) -> PlanFact:
        """The proposer takes a plan back, also after its approval. Raises Forbidden for others."""
        plan = self._seen(plan_id, seq)
        if plan.proposed_by != actor:
            raise Forbidden(
                f"plan {plan_id} was proposed by {plan.proposed_by or 'limnograph'}, who alone can withdraw it; "
                "dismiss it, or cancel it if it is approved"
            )
        return self._move(plan, "withdrawn", actor, reason)

    def cancel(self, plan_id: str, seq: int, actor: str, reason: str | None = None) -> PlanFact:
        """Cancel an approved plan, or ask its executor to stop."""
        plan = self._seen(plan_id, seq)
        target = next((after for before, after in CANCELLABLE.items() if before == plan.state), None)
        if target is None:
            advice = "dismiss it instead" if plan.state == "proposed" else "there is nothing to cancel"
            raise PlanMoved(f"plan {plan_id} is {plan.state}; {advice}", plan)
        return self._move(plan, target, actor, reason)

    def breakers(self) -> list[MaintenanceBreaker]:
        """Open breakers, oldest first."""
        return self._states.breakers()

    def close_breaker(self, key: str, actor: str) -> None:
        """Close a breaker. Raises NotFound if it is not open."""
        if not self._states.close_breaker(key):
            raise NotFound(f"no breaker {key[:200]!r} is open")
        _log.info("%s closed breaker %s", actor, key)

    @property
    def _states(self) -> PlanStates:
        """The states. While a lost database is not rebuilt, it is used as it is: plans that it has are right, and
        others are unknown.
        """
        self._rebuild.is_done()
        return self._known

    def _seen(self, plan_id: str, seq: int) -> PlanFact:
        """A plan that must be at the transition that the caller saw."""
        plan = self.plan(plan_id)
        if plan.seq != seq:
            raise PlanMoved(
                f"plan {plan_id} is {plan.state} (transition {plan.seq}), no longer as seen (transition {seq}); "
                "read it again",
                plan,
            )
        return plan

    @staticmethod
    def _require(state: PlanState, plan: PlanFact, after: PlanState) -> None:
        """Users decide on fewer transitions than executors: `approved` follows `leased` too, but not by a user."""
        if plan.state != state:
            raise PlanMoved(f"plan {plan.plan_id} is {plan.state}; only a {state} plan can be {after}", plan)

    def _move(self, plan: PlanFact, state: PlanState, actor: str, reason: str | None) -> PlanFact:
        (recorded,) = self._states.record([following(plan, state, actor, _checked(reason))])
        return recorded


def _checked(reason: str | None) -> str | None:
    if reason is None or not reason.strip():
        return None
    if len(reason) > LONGEST_REASON:
        raise InvalidInput("reason", f"has {len(reason):,} characters; write at most {LONGEST_REASON:,}")
    if _CONTROL.search(reason):
        raise InvalidInput("reason", "contains a control character; write plain text")
    return reason.strip()
