"""Conditions that must hold before a plan may run; the hazards H1 to H19 are in docs/adr/0051."""

from __future__ import annotations

from limnograph.analysis.advice.facts import HOUR_MS, AdviceFacts
from limnograph.analysis.advice.readers import at_risk
from limnograph.analysis.advice.words import counted, lasting
from limnograph.domain.advice.document import PlanGuard
from limnograph.domain.time import Micros, Millis, to_millis


def quiet_guard(facts: AdviceFacts, written_at: Micros | None, left_out: int) -> PlanGuard:
    """Whether the files of the plan are not written at present. `left_out`: partitions that are, and are not in it."""
    others = f"; {counted(left_out, 'partition')} written since then {_is(left_out)} left out" if left_out else ""
    quiet = lasting(facts.quiet_ms / 1_000)
    if written_at is None:
        return PlanGuard(code="quiet", ok=True, text=f"No commit of the last {quiet} wrote to these files{others}.")
    ago = lasting(max(0, facts.now - to_millis(written_at)) / 1_000)
    if facts.is_hot(written_at):
        text = f"The table was written {ago} ago. Row-level deletes in flight fail if the rewrite commits first: wait "
        return PlanGuard(code="quiet", ok=False, text=f"{text}until no job wrote to it for {quiet}.")
    return PlanGuard(code="quiet", ok=True, text=f"The last commit to these files was {ago} ago{others}.")


def _is(count: int) -> str:
    return "is" if count == 1 else "are"


def replace_guard(facts: AdviceFacts) -> PlanGuard:
    """Whether maintenance by another program is under way: a commit `replace` of the last hour (H5, H19)."""
    times = [each.timestamp_ms for each in facts.metadata.snapshots.values() if each.operation == "replace"]
    newest = max((at for at in times if at is not None), default=None)
    if newest is None or facts.now - newest >= HOUR_MS:
        return PlanGuard(code="no_other_maintenance", ok=True, text="No rewrite was committed within the last hour.")
    ago = lasting((facts.now - newest) / 1_000)
    text = f"A rewrite was committed {ago} ago: other maintenance may be under way. Wait an hour."
    return PlanGuard(code="no_other_maintenance", ok=False, text=text)


def collection_guard(facts: AdviceFacts) -> PlanGuard:
    """Whether the table lets files be deleted (`gc.enabled`)."""
    refused = facts.metadata.properties.get("gc.enabled", "true").strip().lower() == "false"
    text = (
        "The table's property gc.enabled is false: another table may own its files, so nothing may be deleted."
        if refused
        else "The table's property gc.enabled does not forbid deletion."
    )
    return PlanGuard(code="gc_enabled", ok=not refused, text=text)


def readers_guard(facts: AdviceFacts, expiring: frozenset[int]) -> PlanGuard:
    """Whether a known reader needs one of the snapshots (H2)."""
    if facts.readers is None:
        text = (
            "Readers of old snapshots are not known. A stream or an incremental job that has not read these snapshots "
            "yet fails after the expiry: check their checkpoints first."
        )
        return PlanGuard(code="readers", ok=False, text=text)
    risks = at_risk(facts.readers, expiring)
    if not risks:
        return PlanGuard(code="readers", ok=True, text="No known reader needs one of these snapshots.")
    more = f", and {counted(len(risks) - 1, 'other reader')} would fail" if len(risks) > 1 else ""
    return PlanGuard(code="readers", ok=False, text=f"{risks[0].text}{more}.")


def staged_guard(staged: int) -> PlanGuard:
    """Whether the expiry leaves staged commits of write-audit-publish alone (H3)."""
    text = (
        f"{counted(staged, 'staged commit')} of write-audit-publish {_is(staged)} kept, because "
        "publishing them would fail afterwards."
        if staged
        else "No staged commit of write-audit-publish expires."
    )
    return PlanGuard(code="staged_commits", ok=True, text=text)


def age_text(facts: AdviceFacts, at: Millis) -> str:
    """How long ago an instant was."""
    return lasting(max(0, facts.now - at) / 1_000)
