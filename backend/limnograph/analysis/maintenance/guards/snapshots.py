"""Guards of an expiry: exactly the named snapshots, and none that a reader, a reference or a publication needs."""

from __future__ import annotations

from limnograph.analysis.advice.readers import at_risk
from limnograph.analysis.advice.retention import is_staged, own_ages
from limnograph.analysis.advice.words import counted
from limnograph.analysis.maintenance.guards.facts import GuardFacts, answer
from limnograph.domain.advice.document import PlanGuard

NAMED, READERS, STAGED, REFERENCED = "H1_named_snapshots", "H2_readers", "H3_staged_commits", "H4_references"


def named_snapshots(facts: GuardFacts) -> PlanGuard | None:
    """Ids alone also expire by age: the procedure must find nothing to do but the named ones."""
    if not facts.expires:
        return None
    named = set(facts.plan.snapshots)
    if not named:
        return answer(NAMED, "The plan names no snapshot, so everything would expire by age.", ok=False)
    if lost := named - facts.metadata.snapshots.keys():
        return answer(NAMED, f"{counted(len(lost), 'named snapshot')} of the plan are no longer there.", ok=False)
    if refs := own_ages(facts.metadata, facts.now_ms, named):
        text = f"Because of their own ages, these references would expire more: {', '.join(refs[:3])}."
        return answer(NAMED, text, ok=False)
    return answer(NAMED, f"Exactly {counted(len(named), 'named snapshot')} {_expires(len(named))}.", ok=True)


def readers(facts: GuardFacts) -> PlanGuard | None:
    """A stream or an incremental job continues from a snapshot; without it, it fails."""
    if not facts.deletes or facts.removes_unreferenced:
        return None
    risks = at_risk(facts.readers or (), frozenset(facts.plan.snapshots))
    if risks:
        return answer(READERS, f"{risks[0].text}.", ok=False)
    if facts.readers is not None and facts.unknown_streams is False:
        return answer(READERS, "No reader needs one of these snapshots.", ok=True)
    text = "Readers of old snapshots are not known, or one of them may be a stream."
    if facts.approved_by_user:
        return answer(READERS, f"{text} A user approved the plan nevertheless.", ok=True)
    return answer(READERS, f"{text} It is never automatic.", ok=False)


def staged_commits(facts: GuardFacts) -> PlanGuard | None:
    """A staged commit of write-audit-publish that expired can never be published."""
    if not facts.expires:
        return None
    metadata = facts.metadata
    lost = [each for each in facts.plan.snapshots if each in metadata.snapshots and is_staged(metadata, each)]
    if lost:
        text = f"{counted(len(lost), 'staged commit')} of write-audit-publish would expire before publication."
        return answer(STAGED, text, ok=False)
    return answer(STAGED, "No staged commit of write-audit-publish expires.", ok=True)


def references(facts: GuardFacts) -> PlanGuard | None:
    """Heads of branches and tags stay, and so does what main needs as its history."""
    if not facts.expires:
        return None
    named = set(facts.plan.snapshots)
    kept = sorted(name for name, ref in facts.metadata.refs.items() if ref.snapshot_id in named)
    if kept:
        return answer(REFERENCED, f"The plan names snapshots of {', '.join(kept[:3])}, which are in use.", ok=False)
    return answer(REFERENCED, "No branch or tag refers to one of these snapshots.", ok=True)


def _expires(count: int) -> str:
    return "expires" if count == 1 else "expire"
