"""What a rule answers: an action with exact arguments, that it would not pay, or what is missing."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from limnograph.domain.advice.document import Estimate, NotKnown, NotWorth, PlanGuard, PlanValue, Predicted
from limnograph.domain.advice.survey import SurveyedPartition

PURGE = "compact_deletes"
"""The rule whose rewrites apply deletes."""
DIGITS = 32
"""Hexadecimal digits of a plan's id."""


class PlannedAction(NamedTuple):
    """An action of a rule.

    arguments   everything that its effect depends on, as JSON values: two plans are the same if these are
    partitions  where it acts; empty: the whole table
    options     of the procedure
    snapshots   ids that an expiry removes
    spec_id     of `rewrite_manifests`
    properties  that `set_properties` sets
    files       locations that a removal of unreferenced files deletes
    bytes_out   bounds of the predicted bytes of a rewrite
    """

    action: str
    rule: str
    because: list[str]
    arguments: Mapping[str, Any]
    predicted: Predicted
    value: PlanValue
    guards: list[PlanGuard]
    partitions: Sequence[SurveyedPartition] = ()
    options: Mapping[str, str] = {}
    snapshots: Sequence[int] = ()
    spec_id: int | None = None
    properties: Mapping[str, str] = {}
    files: Sequence[str] = ()
    bytes_out: Estimate | None = None


RuleAnswer = PlannedAction | NotWorth | NotKnown


def arguments_json(plan: PlannedAction) -> bytes:
    """The arguments as JSON with sorted keys."""
    return msgspec.json.encode(plan.arguments, order="deterministic")


def arguments_sha256(plan: PlannedAction) -> str:
    """Digest of the arguments."""
    return hashlib.sha256(arguments_json(plan)).hexdigest()


def plan_id(table_uuid: str, plan: PlannedAction) -> str:
    """Id of a plan: the same at every evaluation that yields the same arguments."""
    identity = [table_uuid, plan.action, plan.rule, arguments_sha256(plan)]
    return hashlib.sha256(msgspec.json.encode(identity)).hexdigest()[:DIGITS]
