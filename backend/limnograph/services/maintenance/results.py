"""Numbers of a result, as fields of a transition: from the table where it says them, otherwise from the engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from limnograph.analysis.advice.estimates import CORES
from limnograph.analysis.advice.planned import PlannedAction
from limnograph.domain.advice.document import PlanValue, Predicted
from limnograph.domain.advice.prices import Prices
from limnograph.domain.facts.plans import PlanFact
from limnograph.domain.maintenance.actions import DELETING
from limnograph.domain.maintenance.evidence import TableEvidence
from limnograph.ports.table_maintainer import ActionOutcome
from limnograph.services.maintenance.narrowing import approved_arguments, is_same

SECONDS_PER_HOUR = 3_600


def committed(stamped: Sequence[int], outcome: ActionOutcome, seconds: float | None, prices: Prices) -> dict[str, Any]:
    """What is known as soon as the table contains the commits."""
    cost = None if seconds is None else round(seconds * CORES * prices.vcpu_hour / SECONDS_PER_HOUR, 6)
    engine = {
        "result_files_in": outcome.files_in,
        "result_files_out": outcome.files_out,
        "result_bytes_in": outcome.bytes_in,
        "result_bytes_out": outcome.bytes_out,
    }
    return {
        **{field: value for field, value in engine.items() if value is not None},
        "snapshot_ids": list(stamped),
        "result_seconds": None if seconds is None else round(seconds, 3),
        "result_cost": cost,
        "left_behind_files": None if outcome.left_behind is None else len(outcome.left_behind),
    }


def amounts(plan: PlannedAction, evidence: TableEvidence, outcome: ActionOutcome) -> dict[str, Any]:
    """Files and bytes of the commits. Of a deletion, bytes are known only if all planned files are gone."""
    if plan.action in DELETING:
        is_whole = outcome.left_behind is not None and not outcome.left_behind
        return {
            "result_files_in": outcome.deleted_files,
            "result_files_out": 0,
            "result_bytes_freed": plan.predicted.bytes_freed if is_whole else None,
        }
    if plan.action == "rewrite_manifests":
        return {}  # the metadata does not say which manifests were merged
    is_deletes = plan.action == "rewrite_position_delete_files"
    removed = evidence.removed_deletes if is_deletes else evidence.removed_data
    added = evidence.added_deletes if is_deletes else evidence.added_data
    return {
        "result_files_in": removed.files,
        "result_files_out": added.files,
        "result_bytes_in": removed.bytes,
        "result_bytes_out": added.bytes,
    }


def recorded_plan(fact: PlanFact, table_uuid: str) -> PlannedAction | None:
    """The plan that a recorded id means, from the arguments that the id is a digest of; None: they are not. Enough to
    verify what an earlier executor committed: the id is in the stamp.
    """
    arguments = approved_arguments(fact)
    if arguments is None or not isinstance(arguments.get("action"), str) or fact.rule is None:
        return None
    plan = PlannedAction(
        action=arguments["action"],
        rule=fact.rule,
        because=[],
        arguments=arguments,
        predicted=Predicted(bytes_freed=fact.bytes_freed),
        value=PlanValue(),
        guards=[],
        options=_texts(arguments.get("options")),
        snapshots=[int(each) for each in arguments.get("snapshot_ids", ()) if str(each).lstrip("-").isdecimal()],
        spec_id=arguments.get("spec_id") if isinstance(arguments.get("spec_id"), int) else None,
    )
    return plan if plan.action == fact.action and is_same(fact, table_uuid, plan) else None


def _texts(value: object) -> Mapping[str, str]:
    try:
        return msgspec.convert(value or {}, dict[str, str])
    except msgspec.ValidationError:
        return {}
