"""How `limnograph plan` prints plans and breakers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from limnograph.cli.words import counted, instant, plain, sized
from limnograph.domain.time import to_millis

if TYPE_CHECKING:
    from collections.abc import Iterator

    from limnograph.domain.advice.document import Estimate, Predicted
    from limnograph.domain.advice.plans import BreakerView, PlanDetail, PlanResult, PlanTransition
    from limnograph.domain.facts.plans import PlanFact


def plan_line(fact: PlanFact) -> str:
    """A plan in one line."""
    table = plain(f"{fact.catalog}.{fact.namespace}.{fact.table}")
    since = f"since {instant(to_millis(fact.at))} UTC by {plain(fact.actor or 'unknown')}"
    why = f": {plain(fact.problem)}" if fact.problem else ""
    return f"{fact.plan_id}  {fact.state or '':10}  {plain(fact.action or ''):29}  {table}  {since}{why}"


def plan_lines(plan: PlanDetail) -> Iterator[str]:
    """A plan with everything that a decision needs."""
    yield f"Plan {plan.plan_id}, attempt {plan.attempt or 1}: {plan.state}"
    yield f"  table      {plain(f'{plan.catalog}.{plan.namespace}.{plan.table}')} ({plain(plan.format)})"
    yield f"  action     {plain(plan.action)}, rule {plain(plan.rule)}"
    yield f"  proposed   by {plain(plan.proposed_by or 'unknown')}"
    if plan.approved_by:
        since = f", {instant(plan.approved_at)} UTC" if plan.approved_at else ""
        yield f"  approved   by {plain(plan.approved_by)}{since}"
    yield f"  promise    {_promise(plan.predicted)}"
    if plan.result is not None:
        yield f"  result     {_result(plan.result)}"
    for guard in plan.guards:
        yield f"  {'guard ok ' if guard.ok else 'in the way'} {plain(guard.code)}: {plain(guard.text)}"
    if plan.statement:
        yield "  statement  " + "\n             ".join(plain(line) for line in plan.statement.splitlines())
    yield f"  arguments  {plain(plan.arguments or 'unknown')}"
    yield f"  SHA-256    {plain(plan.arguments_sha256 or 'unknown')}"
    yield f"  you may    {', '.join(plan.can) or 'decide nothing now'}"
    yield "  history"
    for each in plan.history:
        yield f"    {_transition(each)}"
    yield from (f"  note       {note}" for note in plan.notes)


def breaker_lines(breaker: BreakerView) -> Iterator[str]:
    """A breaker."""
    yield f"{plain(breaker.key)}  since {instant(breaker.opened_at)} UTC by plan {plain(breaker.opened_by)}"
    yield f"  {plain(breaker.text)}"
    if breaker.half_open_at is None:
        yield f"  It stays open until you close it: limnograph plan close {plain(breaker.key)}"
    else:
        yield f"  One plan may try again from {instant(breaker.half_open_at)} UTC on."


def _transition(each: PlanTransition) -> str:
    words = f"{each.seq:3}  {instant(each.at)} UTC  {each.state} by {plain(each.actor or 'unknown')}"
    for name, text in (("policy", each.policy), ("problem", each.problem), ("reason", each.reason)):
        words += f"; {name}: {plain(text)}" if text else ""
    return words


def _promise(predicted: Predicted) -> str:
    words = [
        (
            f"{counted(predicted.files_in, 'file')} ({sized(predicted.bytes_in)}) become "
            f"{counted(predicted.files_out, 'file')} ({sized(predicted.bytes_out)})"
        )
    ]
    if predicted.bytes_freed is not None:
        words.append(f"frees {sized(predicted.bytes_freed)}")
    if predicted.seconds is not None:
        words.append(f"takes {_bounds(predicted.seconds)} s")
    if predicted.cost is not None:
        words.append(f"costs {_bounds(predicted.cost)}")
    return ", ".join(words)


def _result(result: PlanResult) -> str:
    words = [
        (
            f"{counted(result.files_in, 'file')} ({sized(result.bytes_in)}) became "
            f"{counted(result.files_out, 'file')} ({sized(result.bytes_out)})"
        )
    ]
    if result.bytes_freed is not None:
        words.append(f"freed {sized(result.bytes_freed)}")
    if result.seconds is not None:
        words.append(f"took {result.seconds:.0f} s")
    if result.snapshot_ids:
        words.append(f"snapshots {', '.join(result.snapshot_ids)}")
    if result.left_behind_files:
        words.append(f"left {counted(result.left_behind_files, 'file')} ({sized(result.left_behind_bytes)}) behind")
    if result.writers_failed:
        words.append(f"{counted(result.writers_failed, 'run')} of other jobs failed because of it")
    return ", ".join(words)


def _bounds(estimate: Estimate) -> str:
    return f"{estimate.low:.3g} to {estimate.high:.3g}"
