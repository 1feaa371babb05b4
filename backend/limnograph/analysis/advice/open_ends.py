"""What a finding leads to if no plan resolves it: why its rule does not act, or what is missing for an exact plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from limnograph.analysis.advice import compact, deletes, expire
from limnograph.analysis.advice.facts import AdviceFacts
from limnograph.analysis.advice.planned import PlannedAction, RuleAnswer
from limnograph.analysis.advice.words import counted, lasting, size
from limnograph.domain.advice.document import NotKnown, NotWorth

_COMPACT = ("compact", "delta_compact", "hudi_compaction")
_DELETES = ("compact_deletes", "position_deletes", "delta_purge", "hudi_compaction")
_EXPIRE = ("expire", "delta_vacuum")
RULES_OF: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(compact.CODES, _COMPACT),
    **dict.fromkeys(deletes.CODES, _DELETES),
    **dict.fromkeys(expire.CODES, _EXPIRE),
    "manifests_fragmented": ("manifests",),
    "metadata_versions_kept": ("metadata_versions",),
    "tiny_commits": ("writer",),
    "write_mode_mismatch": ("writer",),
    "overlap": ("cluster",),
    "filter_not_pruned": ("cluster",),
}
"""Rules that answer for a finding, by code."""
_PARTITIONING = "the columns that queries filter: the fields of a new partition spec follow from them"
_VALUES = "what the writer put into the column: no action on files corrects values"
MISSING: Mapping[str, str] = {
    "unreadable": "the metadata: nothing can be planned without it",
    "job_slower": "which action makes the job faster: effects are measured only after one",
    "job_silent": "why the job no longer runs",
    "job_failing": "why the job fails: its log has the reason",
    "objective_missed": "which action keeps the objective: effects are measured only after one",
    "tiny_commits": "how the writer commits: its trigger or batch size is set in the job",
    "write_mode_mismatch": "a format version with delete files: in version 1 each change writes its files again",
    "partition_skew": _PARTITIONING,
    "high_cardinality_partitioning": _PARTITIONING,
    "schema_breaking": "whether readers can follow the new schema: no action on files undoes the change",
    "schema_changed": "whether readers expect the new columns: no action on files undoes the change",
    "spec_changed": "whether queries filter by the new fields: only then a rewrite of older files pays",
    "null_share_jump": _VALUES,
    "bounds_jump": _VALUES,
    "cardinality_jump": _VALUES,
    "stale": "why its writer stopped",
    "history_gap": "the snapshots that expired before they were observed",
    "stale_reader": "how long the reader's engine caches the table",
    "two_pointers": "which of the names is the right one: the other must be dropped from its catalog",
    "commit_contention": "when each writer can commit, or which partitions it can leave to others",
    "stream_batch_conflict": "which partitions the batch job can leave to the stream",
    "stream_lag": "what delays the stream: its source, or batches that take longer than its trigger",
    "format_incompatible": "when the engine will be updated",
    "overlap": "the sort order that queries need",
    "filter_not_pruned": "the sort order that queries need",
    "catalog_near_limit": "which tables are no longer used",
    "cold_data": "the price of colder storage: prices have one storage tier",
    "reader_at_risk": "when the reader will have read what is about to expire",
    "at_risk": "an action that is due now: the threshold has not been reached yet",
}
"""What is missing for an exact plan, by codes for which no rule says more."""


def open_ends(facts: AdviceFacts, answers: Sequence[RuleAnswer]) -> list[NotWorth | NotKnown]:
    """An answer for each open finding that no plan resolves and whose rule has given none. O(groups of the survey)."""
    resolved = {code for each in answers if isinstance(each, PlannedAction) for code in each.because}
    answered = {each.rule for each in answers if not isinstance(each, PlannedAction)}
    found: dict[str, NotWorth | NotKnown] = {}
    for code in dict.fromkeys(facts.codes):
        rules = _rules(code, facts)
        if code not in resolved and not answered.intersection(rules):
            found.setdefault(rules[0], _answer(code, rules[0], facts))
    return list(found.values())


def _rules(code: str, facts: AdviceFacts) -> tuple[str, ...]:
    """Rules that answer for a code, those of the table's format first."""
    rules, prefix = RULES_OF.get(code, (code,)), facts.metadata.format
    return tuple(sorted(rules, key=lambda rule: not rule.startswith(prefix)))


def _answer(code: str, rule: str, facts: AdviceFacts) -> NotWorth | NotKnown:
    reason = _REASONS.get(RULES_OF.get(code, ()))
    if code in MISSING or reason is None:
        return NotKnown(rule=rule, missing=MISSING.get(code, "an action that resolves it"))
    return reason(rule, facts)


def _few_files(rule: str, facts: AdviceFacts) -> NotWorth | NotKnown:
    survey = facts.survey
    if survey is None or survey.left_out:
        return NotKnown(rule=rule, missing=facts.unread or "all groups of the table's current files")
    saved = sum(each.compact.files - each.compact.outputs for each in survey.groups if each.compact)
    files = counted(survey.data_files, "data file")
    return NotWorth(rule=rule, text=f"a rewrite would save {saved:,} of {files}, less than the rule requires")


def _few_deletes(rule: str, facts: AdviceFacts) -> NotWorth | NotKnown:
    survey = facts.survey
    if survey is None:
        return NotKnown(rule=rule, missing=facts.unread or "the table's current files")
    if not survey.delete_files:
        return NotKnown(rule=rule, missing="an expiry that is due: snapshots still reach the rows")
    hot = sum(bool(each.delete_files) and facts.is_hot(each.written_at) for each in survey.groups)
    if hot:
        who = f"{counted(hot, 'partition')} with delete files {'was' if hot == 1 else 'were'} written"
        return NotWorth(rule=rule, text=f"{who} within the last {lasting(facts.quiet_ms / 1_000)}, and left out")
    if survey.delete_files == sum(each.dangling for each in survey.groups):
        text = f"{counted(survey.delete_files, 'delete file')} that no data file needs any more"
        return NotWorth(rule=rule, text=f"{text}: a rewrite would change no row")
    share = sum(each.deleted for each in survey.groups) / max(survey.rows, 1)
    text = (
        f"{counted(survey.delete_files, 'delete file')} with {share:.1%} of the rows: no partition has a tenth of its "
        "rows deleted, or five delete files for each data file"
    )
    return NotWorth(rule=rule, text=text)


def _nothing_expires(rule: str, facts: AdviceFacts) -> NotWorth | NotKnown:
    held = {name: freed for name, freed in (facts.bytes.by_ref if facts.bytes else {}).items() if freed}
    if held:
        name, freed = max(held.items(), key=lambda each: each[1])
        missing = f"whether branch or tag {name} is still needed: without it an expiry would free {size(freed)} more"
        return NotKnown(rule=rule, missing=missing)
    return NotWorth(rule=rule, text="no snapshot is past retention that no branch or tag keeps")


def _few_manifests(rule: str, _facts: AdviceFacts) -> NotWorth:
    text = "no partition spec has twice as many manifests as their bytes need and 20 more"
    return NotWorth(rule=rule, text=text)


_REASONS: Mapping[tuple[str, ...], Callable[[str, AdviceFacts], NotWorth | NotKnown]] = {
    _COMPACT: _few_files,
    _DELETES: _few_deletes,
    _EXPIRE: _nothing_expires,
    ("manifests",): _few_manifests,
}
