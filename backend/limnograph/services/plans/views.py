"""Recorded plans and breakers as on the wire."""

from __future__ import annotations

import msgspec

from limnograph.domain.advice.document import (
    PlanGuard,
    PlanScope,
    PlanValue,
    Recommendation,
    StatementTexts,
)
from limnograph.domain.advice.plans import BreakerView, PlanTransition, PlanView
from limnograph.domain.advice.recorded import predicted_of, result_of
from limnograph.domain.answers.stream import PlanStreamEvent
from limnograph.domain.facts.plans import PlanFact
from limnograph.domain.maintenance.leases import MaintenanceBreaker
from limnograph.domain.secrecy import clean
from limnograph.domain.time import to_millis


class _RecordedGroup(msgspec.Struct):
    """Files that are rewritten together. `partitions`: pairs of a spec id and a text."""

    partitions: list[tuple[int, str]] = []


class _RecordedScope(msgspec.Struct):
    """What the arguments of a rewrite say about where it acts."""

    groups: list[_RecordedGroup] = []
    whole_table: bool = False


def plan_fields(fact: PlanFact) -> dict[str, object]:
    """The fields of PlanView."""
    return {
        "plan_id": fact.plan_id,
        "seq": fact.seq,
        "state": fact.state or "",
        "at": to_millis(fact.at),
        "actor": fact.actor,
        "reason": _cleaned(fact.reason),
        "attempt": fact.attempt,
        "proposed_by": fact.proposed_by,
        "approved_by": fact.approved_by,
        "approved_at": to_millis(fact.approved_at),
        "catalog": fact.catalog or "",
        "namespace": fact.namespace or "",
        "table": fact.table or "",
        "table_uuid": fact.table_uuid or "",
        "format": fact.format or "",
        "action": fact.action or "",
        "rule": fact.rule or "",
        "because": fact.because or [],
        "base_snapshot_id": None if fact.base_snapshot_id is None else str(fact.base_snapshot_id),
        "arguments": fact.arguments,
        "arguments_sha256": fact.arguments_sha256,
        "statement": fact.statement,
        "predicted": predicted_of(fact),
        "saved_per_month": fact.saved_per_month,
        "currency": fact.currency,
        "result": result_of(fact),
        "policy": fact.policy,
        "problem": fact.problem,
        "not_before": to_millis(fact.not_before),
        "executor_id": fact.executor_id,
        "application_id": fact.application_id,
    }


def plan_view(fact: PlanFact) -> PlanView:
    """A plan."""
    return PlanView(**plan_fields(fact))  # type: ignore[arg-type]  # as the fields are declared


def transition_view(fact: PlanFact) -> PlanTransition:
    """One transition."""
    return PlanTransition(
        seq=fact.seq,
        state=fact.state or "",
        at=to_millis(fact.at),
        attempt=fact.attempt,
        actor=fact.actor,
        reason=_cleaned(fact.reason),
        policy=fact.policy,
        problem=fact.problem,
    )


def recorded_guards(fact: PlanFact) -> list[PlanGuard]:
    """Guards that did not hold, by code: their sentences are not recorded."""
    text = "It did not hold when the plan was last evaluated."
    return [PlanGuard(code=code, ok=False, text=text) for code in fact.guards or ()]


def recorded_recommendation(fact: PlanFact) -> Recommendation:
    """A plan that the rules no longer recommend, as far as it was recorded."""
    return Recommendation(
        plan_id=fact.plan_id,
        action=fact.action or "",
        rule=fact.rule or "",
        because=fact.because or [],
        scope=PlanScope(partitions=_partitions(fact.arguments), where=None),
        predicted=predicted_of(fact),
        value=PlanValue(money_per_month=fact.saved_per_month),
        guards=recorded_guards(fact),
        statements=StatementTexts(spark=fact.statement),
    )


def breaker_view(breaker: MaintenanceBreaker, table: str | None) -> BreakerView:
    """A breaker; `table`: the name of the table that it stops."""
    return BreakerView(
        key=breaker.key,
        scope=breaker.scope,
        subject=breaker.subject,
        table=table,
        code=breaker.code,
        opened_by=breaker.opened_by,
        opened_at=to_millis(breaker.opened_at),
        text=clean(breaker.text),
        half_open_at=to_millis(breaker.half_open_at),
    )


def plan_stream_event(fact: PlanFact) -> PlanStreamEvent:
    """A transition on the live stream."""
    return PlanStreamEvent(
        plan_id=fact.plan_id,
        seq=fact.seq,
        state=fact.state or "",
        action=fact.action or "",
        rule=fact.rule or "",
        problem=fact.problem,
        catalog=fact.catalog or "",
        table_namespace=fact.namespace or "",
        table=fact.table or "",
    )


def _partitions(arguments: str | None) -> list[str]:
    """Partitions that a rewrite selects, once each; empty: the whole table, or other arguments."""
    try:
        scope = msgspec.json.decode(arguments or "{}", type=_RecordedScope)
    except msgspec.MsgspecError:
        return []
    if scope.whole_table:
        return []
    return list(dict.fromkeys(text for group in scope.groups for _, text in group.partitions))


def _cleaned(text: str | None) -> str | None:
    """A text of an executor or of a user without credentials: an executor quotes errors of catalogs and stores."""
    return None if text is None else clean(text)
