"""Plans of maintenance and decisions on them, as on the wire: one plan with its history, breakers, requests."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from limnograph.domain.advice.document import PlanGuard, Predicted, Recommendation
from limnograph.domain.answers.view import View
from limnograph.domain.maintenance.leases import BreakerScope
from limnograph.domain.time import Millis

PlanDecision = Literal["propose", "approve", "dismiss", "withdraw", "cancel"]
PlanId = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{32}$")]
ArgumentsDigest = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]
TransitionNumber = Annotated[int, msgspec.Meta(ge=1, le=2**31 - 1)]
Reason = Annotated[str, msgspec.Meta(max_length=1_000)]


class PlanResult(View, frozen=True, kw_only=True):
    """What the table confirmed. `seconds`: from the lease to the commit. `left_behind_files`: unreferenced files that
    the action left. `writers_failed`: runs of other jobs that failed because of its commits. Null: not known.
    """

    files_in: int | None
    files_out: int | None
    bytes_in: int | None
    bytes_out: int | None
    bytes_freed: int | None
    seconds: float | None
    cost: float | None
    snapshot_ids: list[str]
    left_behind_files: int | None
    left_behind_bytes: int | None
    writers_failed: int | None


class PlanTransition(View, frozen=True, kw_only=True):
    """One transition. `actor`: who caused it: a user, `policy:NAME`, or `limnograph` for the rules and the executor.
    `problem`: code of what stopped the plan; null: nothing did.
    """

    seq: int
    state: str
    at: Millis | None
    attempt: int | None
    actor: str | None
    reason: str | None
    policy: str | None
    problem: str | None


class PlanView(View, frozen=True, kw_only=True):
    """A plan as last recorded. A decision names `arguments_sha256` and `seq`, so that it applies to exactly this.

    seq, state, at, actor, reason  the last transition: its number, what it entered, when, by whom and why
    attempt     how often the plan was proposed, by `proposed_by`; `approved_by` and `approved_at`: null until
                it is approved; a plan that is queued again keeps both
    arguments   exact arguments as JSON, whose SHA-256 is `arguments_sha256`; lists of files as number, bytes and digest
    statement   statement for Spark; null: none can be written
    predicted   the promise; `result`: what the table confirmed, null until it did
    policy      name of the policy that the executor applied; `problem`: code of what stopped it
    not_before  a queued plan is not retried earlier
    """

    plan_id: str
    seq: int
    state: str
    at: Millis | None
    actor: str | None
    reason: str | None
    attempt: int | None
    proposed_by: str | None
    approved_by: str | None
    approved_at: Millis | None
    catalog: str
    namespace: str
    table: str
    table_uuid: str
    format: str
    action: str
    rule: str
    because: list[str]
    base_snapshot_id: str | None
    arguments: str | None
    arguments_sha256: str | None
    statement: str | None
    predicted: Predicted
    saved_per_month: float | None
    currency: str | None
    result: PlanResult | None
    policy: str | None
    problem: str | None
    not_before: Millis | None
    executor_id: str | None
    application_id: str | None


class PlanDetail(PlanView, frozen=True, kw_only=True):
    """A plan with everything that a decision needs.

    can       decisions that the caller may take now
    guards    conditions; those of the last evaluation while the plan is recommended, else those that did not hold then
    recommendation  the plan as the rules recommend it now; null: they no longer do
    history   all transitions, oldest first
    notes     what could not be read
    """

    can: list[PlanDecision]
    guards: list[PlanGuard]
    recommendation: Recommendation | None
    history: list[PlanTransition]
    notes: list[str]


class BreakerView(View, frozen=True, kw_only=True):
    """A stop of maintenance that opened itself. `subject`: table uuid, action or rule, empty for the fleet; `table`:
    name of the table, if it is one. `opened_by`: the plan. `half_open_at`: when one plan may try again; null: only a
    user closes it.
    """

    key: str
    scope: BreakerScope
    subject: str
    table: str | None
    code: str
    opened_by: str
    opened_at: Millis
    text: str
    half_open_at: Millis | None


class BreakersPage(View, frozen=True, kw_only=True):
    """Open breakers, oldest first. `can_close`: whether the caller may close them."""

    breakers: list[BreakerView]
    can_close: bool


class PlanProposalIn(View, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Body of `POST /api/v1/maintenance/plans`: a plan that ended, to be proposed again."""

    plan_id: PlanId
    reason: Reason | None = None


class PlanDecisionIn(View, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Body of a decision: the plan as the user saw it. `reason`: plain text for the others."""

    arguments_sha256: ArgumentsDigest
    seq: TransitionNumber
    reason: Reason | None = None


class BreakerClosingIn(View, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Body of `POST /api/v1/maintenance/breakers/close`."""

    key: Annotated[str, msgspec.Meta(min_length=1, max_length=1_000)]


class PlanCaller(msgspec.Struct, frozen=True, kw_only=True):
    """Who decides: the name that is recorded (never from a request's body), and what it may do."""

    actor: str
    may_propose: bool
    may_approve: bool
