"""Rule `compact`: partitions in which Iceberg's planner would leave at most half of the files.

Thresholds: SizeBasedFileRewritePlanner (5 files below 0.75 of the target, or more bytes than the target), at most half
of the files left, and 20 files or 2 % of the live files saved.
"""

from __future__ import annotations

from collections.abc import Sequence

from limnograph.analysis.advice.facts import AdviceFacts
from limnograph.analysis.advice.planned import RuleAnswer
from limnograph.analysis.advice.rewrite import ChosenGroup, planned, selected
from limnograph.analysis.advice.words import lasting
from limnograph.domain.advice.document import NotKnown, NotWorth
from limnograph.domain.advice.survey import TableSurvey
from limnograph.domain.metadata.targets import GIB

RULE = "compact"
ACTION = "rewrite_data_files"
LEAST_SAVED, LEAST_SHARE = 20, 0.02
GROUP_BYTES = 10 * GIB
"""`max-file-group-size-bytes`: a group that fails is repeated as a whole."""
PARTIAL_ABOVE = 10
"""Groups above which finished ones are committed on the way (`partial-progress.enabled`)."""
CODES = (
    *("small_files", "file_burst", "too_many_files", "compaction_stopped", "compaction_ineffective", "hot_partition"),
)


def compact(facts: AdviceFacts) -> list[RuleAnswer]:
    """At most one plan."""
    survey = facts.survey
    if survey is None:
        return [NotKnown(rule=RULE, missing=facts.unread or "the table's current files")]
    if facts.metadata.targets is None:
        return [NotKnown(rule=RULE, missing="a valid target file size: the table's property is not a size")]
    every = [ChosenGroup(g.partitions, g.written_at, g.compact) for g in survey.groups if g.compact]
    paying = _paying(every)
    least = facts.limits.saved_files or max(LEAST_SAVED, LEAST_SHARE * survey.data_files)
    if _saved(paying) < least:
        return []
    selection = selected(facts, RULE, paying, every)
    if isinstance(selection, NotKnown):
        return [selection]
    hot = [group for group in paying if facts.is_hot(group.written_at)]
    if selection is None or (not selection.whole and _saved(paying) - _saved(hot) < least):
        quiet = lasting(facts.quiet_ms / 1_000)
        who = "1 partition with small files was" if len(hot) == 1 else f"{len(hot):,} partitions with small files were"
        return [NotWorth(rule=RULE, text=f"{who} written within the last {quiet}, and left out until then")]
    return [planned(facts, (RULE, ACTION), selection, options_of(selection.sum("groups")), CODES)]


def files_left(survey: TableSurvey) -> int:
    """Data files that are left if all partitions are compacted in which at most half of the files would be left, also
    those that were written within the quiet time.
    """
    every = [ChosenGroup(g.partitions, g.written_at, g.compact) for g in survey.groups if g.compact]
    return survey.data_files - _saved(_paying(every))


def options_of(groups: int) -> dict[str, str]:
    """Options of the procedure for a number of file groups."""
    found = {"max-file-group-size-bytes": str(GROUP_BYTES)}
    if groups > PARTIAL_ABOVE:
        found |= {"partial-progress.enabled": "true", "partial-progress.max-commits": "10"}
    return found


def _paying(groups: Sequence[ChosenGroup]) -> list[ChosenGroup]:
    return [group for group in groups if 2 * group.plan.outputs <= group.plan.files]


def _saved(groups: Sequence[ChosenGroup]) -> int:
    return sum(group.plan.files - group.plan.outputs for group in groups)
