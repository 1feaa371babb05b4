"""States of a plan and the transitions between them (ADR 51).

    proposed ─▶ approved ─▶ leased ─▶ checking ─▶ running ─▶ committed ─▶ verified ─▶ measured
                   ▲           │          │           │
                   └─ queued ◀─┴──────────┴─ conflicted

A plan that ended may be proposed again, as its next attempt.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

PlanState = Literal[
    "proposed",
    "approved",
    "queued",
    "leased",
    "checking",
    "running",
    "cancelling",
    "committed",
    "verified",
    "measured",
    "conflicted",
    "dismissed",
    "withdrawn",
    "expired",
    "superseded",
    "refused",
    "cancelled",
    "failed",
    "partly",
    "unknown",
]
STATES: tuple[PlanState, ...] = get_args(PlanState)
MEANINGS: Mapping[PlanState, str] = {
    "proposed": "it is recommended and waits for a decision",
    "approved": "a user, or a policy of mode `auto`, approved exactly these arguments",
    "queued": "approved, and to be retried from `not_before` on",
    "leased": "an executor holds the table's lease",
    "checking": "the executor plans again and checks the guards",
    "running": "the executor runs the action",
    "cancelling": "a user cancelled it while it was running",
    "committed": "the table contains its commits, which are not verified yet",
    "verified": "the table's own metadata confirms the result",
    "measured": "its effect on jobs was measured",
    "conflicted": "another writer committed first; nothing of it was committed",
    "dismissed": "a user decided against it",
    "withdrawn": "the rules no longer recommend it",
    "expired": "it was not decided on within seven days",
    "superseded": "the table changed, so that its arguments no longer apply",
    "refused": "a guard or the policy forbids it",
    "cancelled": "a user cancelled it; nothing was committed",
    "failed": "it failed; nothing was committed, or the verification failed",
    "partly": "some of its commits are in the table, others are not; they are not verified yet",
    "unknown": "the executor ended while it was running; the table's commits decide",
}
_AGAIN: frozenset[PlanState] = frozenset({"proposed"})
TRANSITIONS: Mapping[PlanState, frozenset[PlanState]] = {
    "proposed": frozenset({"approved", "dismissed", "withdrawn", "expired", "superseded", "refused"}),
    "approved": frozenset({"leased", "queued", "withdrawn", "cancelled", "expired", "superseded", "refused"}),
    "queued": frozenset({"leased", "cancelled", "expired", "superseded", "refused"}),
    "leased": frozenset({"checking", "approved", "queued", "cancelling", "unknown", "superseded", "refused"}),
    "checking": frozenset(
        {"running", "approved", "queued", "cancelling", "superseded", "refused", "failed", "unknown"}
    ),
    "running": frozenset({"committed", "conflicted", "cancelling", "cancelled", "failed", "partly", "unknown"}),
    "cancelling": frozenset({"committed", "cancelled", "partly", "failed", "unknown"}),
    "conflicted": frozenset({"queued", "superseded", "refused", "proposed"}),
    "committed": frozenset({"verified", "failed", "unknown"}),
    "verified": frozenset({"verified", "measured", "proposed"}),
    "partly": frozenset({"verified", "failed"}),
    "unknown": frozenset({"committed", "partly", "queued", "cancelled", "failed"}),
    "measured": frozenset({"measured", "proposed"}),
    "dismissed": _AGAIN,
    "withdrawn": _AGAIN,
    "expired": _AGAIN,
    "superseded": _AGAIN,
    "refused": _AGAIN,
    "cancelled": _AGAIN,
    "failed": _AGAIN,
}
"""By state, the states that may follow. The first state of a plan is `proposed`. A result is recorded once more when
runs of other jobs are found that failed because of it.
"""
IN_TABLE: frozenset[PlanState] = frozenset({"committed", "partly"})
"""States in which the table contains commits that are not verified yet."""
HELD: frozenset[PlanState] = frozenset({"leased", "checking", "running", "cancelling", "unknown", *IN_TABLE})
"""States in which an executor works on the table, or ended without telling the result."""
WAITING: frozenset[PlanState] = frozenset({"approved", "queued"})
"""States from which an executor may take the lease."""
OPEN: frozenset[PlanState] = frozenset({"proposed", "conflicted", *WAITING, *HELD})
"""States of plans that wait for a user or an executor, or that one works on."""
OUTCOMES: frozenset[PlanState] = frozenset({"committed", "partly", "verified", "measured", "conflicted", "failed"})
"""States that say what became of an action: transitions into them are kept for a while, for breakers and budgets."""
OUTCOMES_US = 31 * 86_400_000_000
"""How long they are kept at least, microseconds."""
UNCONFIRMED = "verification failed: "
"""Beginning of the reason of a plan that failed because the table does not confirm its result."""
CANCELLABLE: Mapping[PlanState, PlanState] = {
    "approved": "cancelled",
    "queued": "cancelled",
    "leased": "cancelling",
    "checking": "cancelling",
    "running": "cancelling",
}
"""By state, the state after a user cancels. A plan without approval is dismissed instead."""


def may_follow(before: PlanState | None, after: PlanState) -> bool:
    """Whether a plan in the state `before` (None: unknown plan) may enter the state `after`."""
    return after == "proposed" if before is None else after in TRANSITIONS[before]
