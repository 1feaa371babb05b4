"""The executor's own proposals: plans that its policy makes due, as transitions."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from limnograph.analysis.advice.planned import arguments_json, arguments_sha256
from limnograph.domain.facts.plans import PlanFact
from limnograph.domain.maintenance.actions import POLICY_ACTOR
from limnograph.domain.maintenance.moves import following
from limnograph.domain.maintenance.policy import DAY_US, PolicyRule
from limnograph.domain.maintenance.states import PlanState
from limnograph.domain.time import Micros
from limnograph.services.maintenance.plan_progress import ACTOR
from limnograph.services.maintenance.planning import ExactPlan, PlannedTable

AGAIN: frozenset[PlanState] = frozenset({"withdrawn", "expired", "superseded", "refused", "verified", "measured"})
"""States after which a plan that is due once more is proposed again. What a user dismissed or cancelled, and what
failed, waits for a user.
"""


def may_be_proposed(last: PlanFact | None, now: Micros) -> bool:
    """Whether a plan that is due is proposed, or once more. What a user took back waits for a user, and what a guard or
    the policy refused for a day.
    """
    if last is None:
        return True
    by_user = last.state == "withdrawn" and last.actor not in {ACTOR, None}
    too_early = last.state == "refused" and now - (last.at or 0) < DAY_US
    return last.state in AGAIN and not by_user and not too_early


def proposed(table: PlannedTable, exact: ExactPlan, rule: PolicyRule, last: PlanFact | None) -> PlanFact:
    """The proposal of a plan, as its first or next attempt. All that it says is what the executor planned itself."""
    plan, name = exact.plan, table.opened.name
    predicted, seconds, cost = plan.predicted, plan.predicted.seconds, plan.predicted.cost
    fields: dict[str, Any] = {
        "table_uuid": table.opened.table_uuid,
        "catalog": name.catalog,
        "namespace": name.namespace,
        "table": name.table,
        "format": table.opened.format,
        "action": plan.action,
        "rule": plan.rule,
        "because": plan.because,
        "base_snapshot_id": table.opened.head_id,
        "arguments": arguments_json(plan).decode(),
        "arguments_sha256": arguments_sha256(plan),
        "statement": exact.statement,
        "files_in": predicted.files_in,
        "files_out": predicted.files_out,
        "bytes_in": predicted.bytes_in,
        "bytes_out": predicted.bytes_out,
        "bytes_freed": predicted.bytes_freed,
        "seconds_low": seconds.low if seconds else None,
        "seconds_mid": seconds.mid if seconds else None,
        "seconds_high": seconds.high if seconds else None,
        "cost_low": cost.low if cost else None,
        "cost_mid": cost.mid if cost else None,
        "cost_high": cost.high if cost else None,
        "saved_per_month": plan.value.money_per_month,
        "currency": table.judged.advised.currency,
        "guards": [guard.code for guard in plan.guards if not guard.ok],
        "policy": rule.name,
    }
    if last is None:
        return PlanFact(
            plan_id=exact.plan_id, seq=1, state="proposed", attempt=1, actor=ACTOR, proposed_by=ACTOR, **fields
        )
    again = following(last, "proposed", ACTOR)
    return replace(again, **fields)


def approved_by_policy(fact: PlanFact, rule: PolicyRule, reason: str) -> PlanFact:
    """The approval that mode `auto` gives."""
    made = following(fact, "approved", f"{POLICY_ACTOR}{rule.name}", reason)
    return replace(made, policy=rule.name)


def is_own(fact: PlanFact) -> bool:
    """Whether a proposal is one of an executor, not of the server's rules or a user."""
    return fact.proposed_by == ACTOR and fact.policy is not None
