"""Plans for exactly what was approved, from the executor's own reading of the table.

More may be due by now: other partitions became quiet, more snapshots old. The approved plan stays the same as long as
its own partitions, files or snapshots are. What the recorded arguments name only ever leaves something out.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from limnograph.analysis.advice.planned import PlannedAction, arguments_json, plan_id
from limnograph.domain.advice.reading import AdviceReading
from limnograph.domain.advice.survey import SurveyedPartition
from limnograph.domain.facts.plans import PlanFact
from limnograph.ports.table_maintainer import UnreferencedFile

LONGEST_ARGUMENTS = 8 << 20
"""Bytes of arguments that are decoded."""


def approved_arguments(fact: PlanFact) -> Mapping[str, Any] | None:
    """The recorded arguments, if they are what the plan's digest was computed from; None: they are not."""
    text = (fact.arguments or "").encode()
    if len(text) > LONGEST_ARGUMENTS or hashlib.sha256(text).hexdigest() != fact.arguments_sha256:
        return None
    try:
        found = msgspec.json.decode(text)
    except msgspec.DecodeError:
        return None
    return found if isinstance(found, dict) else None


def narrowed_reading(reading: AdviceReading, arguments: Mapping[str, Any]) -> AdviceReading | None:
    """The table as if only the approved partitions had files to rewrite; None: the plan is not for single partitions.
    All partitions stay known, so that a condition for the approved ones selects no other.
    """
    survey, places = reading.survey, _places(arguments)
    if survey is None or not places or arguments.get("whole_table"):
        return None

    def is_approved(partitions: Collection[SurveyedPartition]) -> bool:
        return bool(partitions) and all((each.spec_id, each.text) in places for each in partitions)

    groups = [each for each in survey.groups if is_approved(each.partitions)]
    deletes = [each for each in survey.deletes if is_approved(each.partitions)]
    return replace(reading, survey=replace(survey, groups=groups, deletes=deletes))


def narrowed_expiry(own: PlannedAction, arguments: Mapping[str, Any]) -> PlannedAction | None:
    """The expiry of the approved snapshots, if the executor's own expiry has them all."""
    ids = arguments.get("snapshot_ids")
    if not _is_texts(ids) or not ids or not set(ids) <= set(map(str, own.snapshots)):
        return None
    return own._replace(
        arguments={"action": own.action, "snapshot_ids": sorted(set(ids))}, snapshots=sorted(map(int, set(ids)))
    )


def oldest_files(listed: Sequence[UnreferencedFile], arguments: Mapping[str, Any]) -> list[UnreferencedFile] | None:
    """As many of the executor's own listed files as were approved, the oldest first: those that became old enough since
    then are younger. None: the plan is not for unreferenced files.
    """
    count = arguments.get("files")
    if arguments.get("action") != "remove_orphan_files" or not isinstance(count, int) or not 0 < count <= len(listed):
        return None
    return sorted(listed, key=lambda each: (each.modified_at_ms, each.location))[:count]


def is_same(fact: PlanFact, table_uuid: str, plan: PlannedAction) -> bool:
    """Whether a plan of the executor is the approved one: its id includes the table, the rule and the arguments."""
    digest = hashlib.sha256(arguments_json(plan)).hexdigest()
    return fact.arguments_sha256 == digest and fact.plan_id == plan_id(table_uuid, plan)


def _places(arguments: Mapping[str, Any]) -> set[tuple[int, str]]:
    found = set()
    groups = arguments.get("groups")
    for group in groups if isinstance(groups, list) else ():
        partitions = group.get("partitions") if isinstance(group, dict) else None
        for place in partitions if isinstance(partitions, list) else ():
            match place:
                case [int(spec_id), str(text)]:
                    found.add((spec_id, text))
    return found


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)
