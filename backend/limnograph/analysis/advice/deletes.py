"""Rules `compact_deletes` and `position_deletes`: rows that are deleted but still read with every scan.

Thresholds: a tenth of a partition's rows is deleted (Amoro), or five delete files a data file; position delete files
by the planner of Iceberg: five below 0.75 of their target of 64 MiB. Where a table promises erasure
(`limnograph.erasure-days`) and has not kept it, every delete is due: the data files still hold the values.
"""

from __future__ import annotations

from limnograph.analysis.advice.compact import ACTION, options_of
from limnograph.analysis.advice.facts import UNMATERIALIZED, AdviceFacts
from limnograph.analysis.advice.planned import PURGE, RuleAnswer
from limnograph.analysis.advice.rewrite import ChosenGroup, planned, selected
from limnograph.domain.advice.document import NotKnown
from limnograph.domain.advice.survey import SurveyedGroup

POSITIONS = "position_deletes"
DELETED_SHARE, FILES_A_DATA_FILE = 0.1, 5
CODES = ("delete_files_growing", "equality_deletes", UNMATERIALIZED)


def compact_deletes(facts: AdviceFacts) -> list[RuleAnswer]:
    """One plan for deletes that belong to single files, and one for those of whole partitions, which only a rewrite of
    all their files applies.
    """
    survey = facts.survey
    if survey is None:
        return [NotKnown(rule=PURGE, missing=facts.unread or "the table's current files")]
    if facts.metadata.targets is None:
        return [NotKnown(rule=PURGE, missing="a valid target file size: the table's property is not a size")]
    owed = facts.owes_erasure
    due = [group for group in survey.groups if group.files and (_is_due(group) or (owed and applies_deletes(group)))]
    scoped = [ChosenGroup(g.partitions, g.written_at, g.purge) for g in due if g.purge and _is_scoped(g)]
    whole = [ChosenGroup(g.partitions, g.written_at, g.every) for g in due if g.every and not _is_scoped(g)]
    touched = [ChosenGroup(g.partitions, g.written_at, g.purge) for g in survey.groups if g.purge]
    every = [ChosenGroup(g.partitions, g.written_at, g.every) for g in survey.groups if g.every]
    return [
        *_plan(facts, scoped, touched, {"delete-ratio-threshold": str(DELETED_SHARE)}),
        *_plan(facts, whole, every, {"rewrite-all": "true"}),
    ]


def _is_due(group: SurveyedGroup) -> bool:
    applied = group.delete_files - group.dangling
    return group.deleted >= DELETED_SHARE * max(group.rows, 1) or applied >= FILES_A_DATA_FILE * group.files


def applies_deletes(group: SurveyedGroup) -> bool:
    """Whether a delete file of the group applies to one of its data files."""
    return group.delete_files > group.dangling


def _is_scoped(group: SurveyedGroup) -> bool:
    """Whether the deletes of single files are what makes the group due."""
    return group.purge is not None and group.purge.deleted >= DELETED_SHARE * max(group.rows, 1)


def _plan(
    facts: AdviceFacts, due: list[ChosenGroup], every: list[ChosenGroup], options: dict[str, str]
) -> list[RuleAnswer]:
    selection = selected(facts, PURGE, due, every)
    if selection is None or isinstance(selection, NotKnown):
        return [] if selection is None else [selection]
    given = options_of(selection.sum("groups")) | options
    return [planned(facts, (PURGE, ACTION), selection, given, CODES)]


def position_deletes(facts: AdviceFacts) -> list[RuleAnswer]:
    """At most one plan; format v2 only."""
    survey = facts.survey
    if survey is None:
        return [NotKnown(rule=POSITIONS, missing=facts.unread or "the table's current files")]
    every = [ChosenGroup(each.partitions, each.written_at, each.plan) for each in survey.deletes]
    paying = [group for group in every if 2 * group.plan.outputs <= group.plan.files]
    selection = selected(facts, POSITIONS, paying, every)
    if selection is None or isinstance(selection, NotKnown):
        return [] if selection is None else [selection]
    return [planned(facts, (POSITIONS, "rewrite_position_delete_files"), selection, {}, CODES)]
