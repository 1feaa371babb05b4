"""What a recorded plan permits next: the check that every store of plans applies, and the facts of a new attempt."""

from __future__ import annotations

from typing import get_args

from msgspec.structs import replace

from limnograph.domain.facts.plans import PlanFact
from limnograph.domain.maintenance.leases import TableLease
from limnograph.domain.maintenance.states import PlanState, may_follow
from limnograph.domain.time import Micros

_OF_AN_ATTEMPT = (
    *("reason", "policy", "problem", "base_metadata_location", "executor_id", "application_id", "not_before"),
    *("result_files_in", "result_files_out", "result_bytes_in", "result_bytes_out", "result_bytes_freed"),
    *("result_seconds", "result_cost", "snapshot_ids", "left_behind_files", "left_behind_bytes", "writers_failed"),
    *("approved_by", "approved_at"),
)
"""Fields that describe one attempt. The next attempt begins without them."""
_STATES = frozenset(get_args(PlanState))


def moved(recorded: PlanFact | None, fact: PlanFact) -> str | None:
    """Why a transition does not follow the recorded one; None: it follows."""
    seq = 0 if recorded is None else recorded.seq
    before, after = None if recorded is None else recorded.state, fact.state
    if fact.seq != seq + 1:
        return f"plan {fact.plan_id} is at transition {seq} ({before or 'unknown'}), not {fact.seq - 1}; read it again"
    if after not in _STATES or (before is not None and before not in _STATES):
        return f"plan {fact.plan_id} cannot become {after or 'nothing'} from {before or 'nothing'}"
    if not may_follow(before, after):  # type: ignore[arg-type]  # both were checked
        return f"plan {fact.plan_id} is {before or 'unknown'} and cannot become {after}"
    return None


def following(recorded: PlanFact, state: PlanState, actor: str, reason: str | None = None) -> PlanFact:
    """The next transition of a plan, with all that is recorded of it. A new attempt begins without results."""
    fact = replace(recorded, seq=recorded.seq + 1, state=state, actor=actor, reason=reason)
    if state == "proposed":
        cleared = replace(fact, **dict.fromkeys(_OF_AN_ATTEMPT))
        return replace(cleared, attempt=(recorded.attempt or 0) + 1, proposed_by=actor, reason=reason)
    return replace(fact, approved_by=actor) if state == "approved" and fact.approved_by is None else fact


def stamped(fact: PlanFact, at: Micros) -> PlanFact:
    """The transition with the store's time. An approval keeps its own when the plan is queued again."""
    approved_at = at if fact.state == "approved" and fact.approved_at is None else fact.approved_at
    return replace(fact, at=at, observed_at=at, approved_at=approved_at)


def lost_lease(lease: TableLease) -> str:
    """Text of LeaseLost."""
    return f"the lease of table {lease.table_uuid} (epoch {lease.epoch}) has ended or another executor holds it"
