"""Rule `expire`: snapshots past the table's retention that hold many bytes, or are so many that metadata is slow.

Thresholds: frees 1 GiB or 5 % of the live bytes (no listing is needed to know that exactly), more than 500 snapshots,
a metadata file above 5 MiB, or an erasure that is promised (`limnograph.erasure-days`) and lacks only the expiry. The
plan names its snapshots; nothing else expires.
"""

from __future__ import annotations

from limnograph.analysis.advice.deletes import applies_deletes
from limnograph.analysis.advice.facts import UNMATERIALIZED, AdviceFacts
from limnograph.analysis.advice.guards import collection_guard, readers_guard, replace_guard, staged_guard
from limnograph.analysis.advice.money import expiry_saving
from limnograph.analysis.advice.planned import PlannedAction, RuleAnswer
from limnograph.analysis.advice.retention import expiry_within
from limnograph.analysis.advice.words import counted, money, size
from limnograph.domain.advice.document import NotKnown, NotWorth, PlanGuard, PlanValue, Predicted
from limnograph.domain.metadata.targets import GIB, MIB

RULE = "expire"
LEAST_FREED, LEAST_SHARE = GIB, 0.05
MOST_SNAPSHOTS, MOST_METADATA = 500, 5 * MIB
CODES = ("snapshots_unbounded", "held_bytes", "metadata_large")


def expire(facts: AdviceFacts) -> list[RuleAnswer]:
    """At most one plan."""
    metadata = facts.metadata
    found = expiry_within(metadata, facts.now, facts.limits.retention)
    if not found.snapshot_ids:
        return []
    survey = facts.survey
    erases = facts.owes_erasure and survey is not None and not any(map(applies_deletes, survey.groups))
    crowded = erases or len(metadata.snapshots) > MOST_SNAPSHOTS or metadata.size_bytes > MOST_METADATA
    freed = facts.freed
    if freed is None and not crowded:
        return [NotKnown(rule=RULE, missing=facts.unsummed or "bytes that only these snapshots hold")]
    if not crowded and freed is not None and freed < least_freed(facts):
        a_month = money(expiry_saving(freed, facts.prices), facts.prices.currency)
        who = f"{counted(len(found.snapshot_ids), 'snapshot')} past retention {_hold(found.snapshot_ids)}"
        return [NotWorth(rule=RULE, text=f"{who} only {size(freed)}: {a_month} a month")]
    saving = None if freed is None else expiry_saving(freed, facts.prices)
    return [
        PlannedAction(
            action="expire_snapshots",
            rule=RULE,
            because=facts.open_codes((*CODES, UNMATERIALIZED) if erases else CODES),
            arguments={"action": "expire_snapshots", "snapshot_ids": sorted(map(str, found.snapshot_ids))},
            predicted=Predicted(bytes_freed=freed),
            value=PlanValue(money_per_month=saving),
            guards=[
                collection_guard(facts),
                readers_guard(facts, found.snapshot_ids),
                staged_guard(found.staged),
                _refs_guard(found.refs),
                replace_guard(facts),
            ],
            snapshots=sorted(found.snapshot_ids),
        )
    ]


def _hold(ids: frozenset[int]) -> str:
    return "holds" if len(ids) == 1 else "hold"


def least_freed(facts: AdviceFacts) -> float:
    """Bytes from which an expiry pays."""
    if facts.limits.freed_bytes is not None:
        return facts.limits.freed_bytes
    live = facts.bytes.live if facts.bytes else facts.survey.bytes if facts.survey else 0
    return max(LEAST_FREED, LEAST_SHARE * live)


def _refs_guard(refs: tuple[str, ...]) -> PlanGuard:
    """Branches and tags past their own age are named, and kept."""
    names = ", ".join(refs[:3]) + (f" and {len(refs) - 3} more" if len(refs) > 3 else "")
    text = (
        f"Past their own age, but kept by this plan: {names}."
        if refs
        else "No branch or tag is past its own age: none is removed."
    )
    return PlanGuard(code="refs_kept", ok=True, text=text)
