"""Rules of Delta tables: `delta_compact`, `delta_purge` and `delta_vacuum`.

Thresholds: Delta's auto compaction (50 files below half of the target in a partition); a twentieth of a partition's
rows deleted by vectors (REORG); files of a twentieth of the live bytes that were removed more than a week ago.
"""

from __future__ import annotations

from limnograph.analysis.advice.facts import AdviceFacts
from limnograph.analysis.advice.guards import readers_guard, replace_guard
from limnograph.analysis.advice.money import expiry_saving
from limnograph.analysis.advice.planned import PlannedAction, RuleAnswer
from limnograph.analysis.advice.rewrite import MOST_PARTITIONS, ChosenGroup, ChosenGroups, planned
from limnograph.analysis.advice.words import counted, lasting, money, size
from limnograph.domain.advice.document import NotKnown, NotWorth, PlanGuard, PlanValue, Predicted
from limnograph.domain.advice.survey import TableSurvey

COMPACT, PURGE, VACUUM = "delta_compact", "delta_purge", "delta_vacuum"
LEAST_SMALL, DELETED_SHARE, VACUUM_SHARE = 50, 0.05, 0.05
_FILES = ("small_files", "file_burst", "too_many_files", "compaction_stopped", "hot_partition")
PARTIAL, MOST_COMMITS = "partial-progress.enabled", "partial-progress.max-commits"
"""deltalake commits each partition by itself; the names are those of Iceberg's rewrites."""
_MAPPED = PlanGuard(
    code="column_mapping",
    ok=False,
    text="The table uses column mapping, which deltalake cannot rewrite. Run the statement in Spark with delta-spark.",
)
_DELETES = ("delete_files_growing", "deletes_not_materialized")


def delta_compact(facts: AdviceFacts) -> list[RuleAnswer]:
    """At most one plan."""
    survey, targets = facts.survey, facts.metadata.targets
    if survey is None:
        return [NotKnown(rule=COMPACT, missing=facts.unread or "the table's current files")]
    if targets is None:
        return [NotKnown(rule=COMPACT, missing="a valid target file size: the table's property is not a size")]
    least = facts.limits.saved_files or LEAST_SMALL
    return _planned(facts, COMPACT, _small(survey, least), {"target_size": str(targets.target)}, _FILES)


def delta_files_left(survey: TableSurvey) -> int:
    """Data files that are left if all partitions with many small files are compacted, also those that were written
    within the quiet time.
    """
    return survey.data_files - sum(group.plan.files - group.plan.outputs for group in _small(survey, LEAST_SMALL))


def _small(survey: TableSurvey, least: int) -> list[ChosenGroup]:
    return [
        ChosenGroup(g.partitions, g.written_at, g.compact)
        for g in survey.groups
        if g.compact is not None and g.small >= least
    ]


def delta_purge(facts: AdviceFacts) -> list[RuleAnswer]:
    """At most one plan: files with deletion vectors are written again without their deleted rows."""
    survey = facts.survey
    if survey is None:
        return [NotKnown(rule=PURGE, missing=facts.unread or "the table's current files")]
    due = [
        ChosenGroup(g.partitions, g.written_at, g.every)
        for g in survey.groups
        if g.every is not None and g.deleted > DELETED_SHARE * max(g.rows, 1)
    ]
    return _planned(facts, PURGE, due, {}, _DELETES)


def _planned(
    facts: AdviceFacts, rule: str, due: list[ChosenGroup], options: dict[str, str], codes: tuple[str, ...]
) -> list[RuleAnswer]:
    if not due:
        return []
    is_whole = all(not partition.text for group in due for partition in group.partitions)
    calm = due if is_whole else [group for group in due if not facts.is_hot(group.written_at)]
    if not calm:
        quiet = lasting(facts.quiet_ms / 1_000)
        who = counted(len(due), "partition that is due was", "partitions that are due were")
        return [NotWorth(rule=rule, text=f"{who} written within the last {quiet}, and left out until then")]
    chosen = sorted(calm, key=lambda group: group.plan.outputs - group.plan.files)[:MOST_PARTITIONS]
    selection = ChosenGroups(chosen, whole=is_whole, hot=len(due) - len(calm))
    if len(chosen) > 1:
        options = {**options, PARTIAL: "true", MOST_COMMITS: str(len(chosen))}
    found = planned(facts, (rule, "optimize"), selection, options, codes)
    if isinstance(found, PlannedAction) and facts.metadata.properties.get("delta.columnMapping.mode", "none") != "none":
        found = found._replace(guards=[*found.guards, _MAPPED])
    return [found]


def delta_vacuum(facts: AdviceFacts) -> list[RuleAnswer]:
    """At most one plan, of the files that are past the table's retention."""
    if facts.bytes is None:
        return [NotKnown(rule=VACUUM, missing=facts.unsummed or "the files that the log removed")]
    due = facts.removable
    if due is None:
        return []
    saving = expiry_saving(due.bytes, facts.prices)
    least = facts.limits.freed_bytes
    if due.bytes < (VACUUM_SHARE * facts.bytes.live if least is None else least):
        a_month = money(saving, facts.prices.currency)
        who = f"{counted(due.files, 'file')} removed more than {lasting(due.hours * 3_600)} ago"
        return [
            NotWorth(
                rule=VACUUM,
                text=f"{who} {'holds' if due.files == 1 else 'hold'} only {size(due.bytes)}: {a_month} a month",
            )
        ]
    arguments = {"action": "vacuum", "hours": due.hours, "files": due.files, "files_sha256": due.sha256}
    return [
        PlannedAction(
            action="vacuum",
            rule=VACUUM,
            because=facts.open_codes(("held_bytes",)),
            arguments=arguments,
            predicted=Predicted(
                files_in=due.files, files_out=0, bytes_in=due.bytes, bytes_out=0, bytes_freed=due.bytes
            ),
            value=PlanValue(money_per_month=saving),
            guards=[readers_guard(facts, frozenset()), replace_guard(facts)],
            options={"hours": str(due.hours)},
        )
    ]
