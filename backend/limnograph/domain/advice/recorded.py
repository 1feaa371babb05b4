"""What a recorded plan promised, and what the table confirmed."""

from __future__ import annotations

from limnograph.domain.advice.document import Estimate, Predicted
from limnograph.domain.advice.plans import PlanResult
from limnograph.domain.facts.plans import PlanFact

_RESULTS = ("files_in", "files_out", "bytes_in", "bytes_out", "bytes_freed", "seconds", "cost")


def predicted_of(fact: PlanFact) -> Predicted:
    """What was promised."""
    return Predicted(
        files_in=fact.files_in,
        files_out=fact.files_out,
        bytes_in=fact.bytes_in,
        bytes_out=fact.bytes_out,
        bytes_freed=fact.bytes_freed,
        seconds=_estimate(fact.seconds_low, fact.seconds_mid, fact.seconds_high),
        cost=_estimate(fact.cost_low, fact.cost_mid, fact.cost_high),
    )


def result_of(fact: PlanFact) -> PlanResult | None:
    """What the table confirmed; None: nothing yet."""
    found = {name: getattr(fact, f"result_{name}") for name in _RESULTS}
    if fact.snapshot_ids is None and all(value is None for value in found.values()):
        return None
    return PlanResult(
        **found,
        snapshot_ids=[str(each) for each in fact.snapshot_ids or ()],
        left_behind_files=fact.left_behind_files,
        left_behind_bytes=fact.left_behind_bytes,
        writers_failed=fact.writers_failed,
    )


def _estimate(low: float | None, mid: float | None, high: float | None) -> Estimate | None:
    return None if low is None or mid is None or high is None else Estimate(low=low, mid=mid, high=high)
