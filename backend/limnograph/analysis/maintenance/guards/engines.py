"""Guards about what the engine does with an action: validation, recovery, storage, and locks of Delta tables."""

from __future__ import annotations

from limnograph.analysis.advice.words import size
from limnograph.analysis.locations import parsed
from limnograph.analysis.maintenance.guards.facts import GuardFacts, answer, not_known
from limnograph.domain.advice.document import PlanGuard

VALIDATED, RESUMABLE, READDED = "H10_validated", "H11_resumable", "H12_readded_files"
STORED_TWICE, DELTA_LOCK, FORMAT = "H15_stored_twice", "H16_delta_lock", "format"
VALIDATING = frozenset({"spark", "deltalake"})
"""Engines whose rewrites fail if rows of the rewritten files were deleted since they were read."""
MOST_VERSION = 3
"""Newest version of Iceberg's format that the engine is tested with."""
_PUTS_NEEDED = frozenset({"s3", "oss", "cos", "cosn", "obs"})
"""Object stores on which two writers of a Delta log can overwrite each other, unless puts are exclusive."""


def validated(facts: GuardFacts) -> PlanGuard | None:
    """A rewrite that does not validate from the snapshot that it read brings deleted rows back."""
    if not facts.rewrites:
        return None
    if facts.engine is None:
        return not_known(VALIDATED, "The engine of the action is")
    if facts.engine not in VALIDATING:
        return answer(VALIDATED, f"{facts.engine} does not validate a rewrite against later deletes.", ok=False)
    return answer(VALIDATED, "The engine validates the rewrite against everything committed since.", ok=True)


def resumable(facts: GuardFacts) -> PlanGuard | None:
    """An expiry commits before it deletes: if it stops between, only the state before says which files to delete."""
    if not facts.deletes:
        return None
    if facts.base_recorded is None:
        return not_known(RESUMABLE, "Whether an interrupted deletion can be resumed is")
    text = (
        "An interrupted deletion can be resumed: the plan records the metadata before it."
        if facts.base_recorded
        else "The plan does not record the metadata before it, so an interrupted deletion could not be resumed."
    )
    return answer(RESUMABLE, text, ok=facts.base_recorded)


def readded_files(facts: GuardFacts) -> PlanGuard | None:
    """Iceberg's core expiry deletes a live file that one commit removed and added again; Spark's action does not."""
    if not facts.expires:
        return None
    if facts.engine is None:
        return not_known(READDED, "The engine of the action is")
    if facts.engine != "spark":
        return answer(READDED, f"An expiry by {facts.engine} may delete live files that were added again.", ok=False)
    return answer(READDED, "Spark's expiry compares the files that are reachable before and after.", ok=True)


def stored_twice(facts: GuardFacts) -> PlanGuard | None:
    """A rewrite adds its output to the storage until the old snapshots expire: that is part of its cost."""
    if not facts.rewrites:
        return None
    adds, cost = facts.plan.predicted.bytes_in, facts.plan.predicted.cost
    if adds is None or cost is None:
        return not_known(STORED_TWICE, "The bytes that the rewrite stores a second time are")
    return answer(
        STORED_TWICE, f"{size(adds)} are stored twice until the old snapshots expire; its cost says so.", ok=True
    )


def delta_lock(facts: GuardFacts) -> PlanGuard | None:
    """On an object store without exclusive puts, two writers may commit the same version of a Delta table."""
    if facts.metadata.format != "delta":
        return None
    if parsed(facts.metadata.location).scheme not in _PUTS_NEEDED:
        return answer(DELTA_LOCK, "The storage creates each version of the log only once.", ok=True)
    if facts.exclusive_puts is None:
        return not_known(DELTA_LOCK, "Whether the object store has conditional puts or a lock provider is")
    text = (
        "The object store has conditional puts or a lock provider."
        if facts.exclusive_puts
        else "The object store has neither conditional puts nor a lock provider: two writers could lose a commit."
    )
    return answer(DELTA_LOCK, text, ok=facts.exclusive_puts)


def supported_format(facts: GuardFacts) -> PlanGuard:
    """Formats and features that the engine was tested with."""
    metadata = facts.metadata
    if metadata.format == "iceberg":
        known = metadata.format_version <= MOST_VERSION
        return answer(FORMAT, f"Iceberg format version {metadata.format_version}.", ok=known)
    if metadata.format != "delta":
        return answer(FORMAT, f"Tables of format {metadata.format} are not maintained.", ok=False)
    mapped = metadata.properties.get("delta.columnMapping.mode", "none") != "none"
    if mapped and facts.rewrites:
        return answer(FORMAT, "deltalake does not rewrite tables with column mapping.", ok=False)
    return answer(FORMAT, "A Delta table without column mapping." if not mapped else "A Delta table.", ok=True)
