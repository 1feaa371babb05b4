"""Rules about the writer, `writer` and `metadata_versions`: mend the cause before the next compaction."""

from __future__ import annotations

from limnograph.analysis.advice.facts import HOUR_MS, AdviceFacts
from limnograph.analysis.advice.planned import PlannedAction, RuleAnswer
from limnograph.analysis.advice.words import lasting
from limnograph.domain.advice.document import PlanGuard, PlanValue, Predicted
from limnograph.domain.finding_limits import DELETES_METADATA

WRITER, VERSIONS = "writer", "metadata_versions"
HALF_LIFE_MS = 24 * HOUR_MS
LEAST_RUNS = 2
MOST_VERSIONS = 100
DISTRIBUTION = "write.distribution-mode"
WRITE_MODES = ("write.delete.mode", "write.merge.mode", "write.update.mode")
MERGE_ON_READ, DELETES_SINCE = "merge-on-read", 2
MISMATCH = "write_mode_mismatch"


def writer(facts: AdviceFacts) -> list[RuleAnswer]:
    """Plans about how the table is written."""
    return [*_returning_debt(facts), *_write_mode(facts)]


def _write_mode(facts: AdviceFacts) -> list[RuleAnswer]:
    """Changes of a few rows write whole files again, and the table can have delete files instead."""
    metadata = facts.metadata
    wanted = {key: MERGE_ON_READ for key in WRITE_MODES if metadata.properties.get(key) != MERGE_ON_READ}
    if metadata.format != "iceberg" or metadata.format_version < DELETES_SINCE or MISMATCH not in facts.codes:
        return []
    text = (
        "Scans then apply delete files until these are compacted: plan that compaction too, and check that every "
        "engine that reads the table applies them."
    )
    return [_set(facts, WRITER, (MISMATCH,), wanted, text)] if wanted else []


def _returning_debt(facts: AdviceFacts) -> list[RuleAnswer]:
    """Half of the debt was back within a day after each of the last two rewrites that removed it (`facts.returns`)."""
    if facts.metadata.format != "iceberg" or len(facts.returns) < LEAST_RUNS:
        return []
    last = facts.returns[-LEAST_RUNS:]
    if max(last) >= HALF_LIFE_MS:
        return []
    properties = {} if facts.metadata.properties.get(DISTRIBUTION) == "hash" else {DISTRIBUTION: "hash"}
    back = lasting(max(last) / 1_000)
    text = (
        f"After the last {LEAST_RUNS} rewrites, half of the files to merge were back within {back}. Lengthen the "
        "trigger of the writing stream, or let it write fewer, larger files: another rewrite treats the symptom."
    )
    return [_set(facts, WRITER, ("small_files", "tiny_commits", "file_burst"), properties, text)]


def metadata_versions(facts: AdviceFacts) -> list[RuleAnswer]:
    """100 metadata files are in the log, which by default lists no more, and none is ever deleted."""
    metadata = facts.metadata
    deletes = metadata.properties.get(DELETES_METADATA, "false").strip().lower() == "true"
    if metadata.format != "iceberg" or deletes or len(metadata.metadata_log) < MOST_VERSIONS:
        return []
    properties = {DELETES_METADATA: "true", "write.metadata.previous-versions-max": str(MOST_VERSIONS)}
    text = "The next commit deletes the oldest metadata files. A reader that was given such a file's location fails."
    return [_set(facts, VERSIONS, ("metadata_versions_kept", "metadata_large"), properties, text)]


def _set(facts: AdviceFacts, rule: str, codes: tuple[str, ...], properties: dict[str, str], text: str) -> PlannedAction:
    return PlannedAction(
        action="set_properties",
        rule=rule,
        because=facts.open_codes(codes),
        arguments={"action": "set_properties", "properties": properties},
        predicted=Predicted(),
        value=PlanValue(),
        guards=[PlanGuard(code="owner_agrees", ok=False, text=text)],
        properties=properties,
    )
