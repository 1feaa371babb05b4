"""Statements of a planned action, from the survey's partitions and the table's names."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence

from limnograph.analysis.advice.planned import PURGE, PlannedAction
from limnograph.analysis.advice.statements import delta, iceberg
from limnograph.analysis.advice.statements.scopes import PartitionChoice, PartitionScope, ScopeField
from limnograph.analysis.advice.statements.selection import select
from limnograph.analysis.advice.statements.subject import NoStatement, StatementResult, StatementTable
from limnograph.domain.advice.document import StatementTexts
from limnograph.domain.advice.survey import PartitionValue, SurveyedField, SurveyedPartition, TableSurvey

DROP_DANGLING: Mapping[str, str] = {"remove-dangling-deletes": "true"}
"""Otherwise, delete files of format v2 stay although all files to which they applied were rewritten. Not an argument of
the plan: the executor makes one commit, and this makes another.
"""
_BINARY = ("binary", "fixed", "uuid", "decimal")
_NO_STATEMENT = StatementResult(StatementTexts(), None, {})


def stated(
    plan: PlannedAction,
    table: StatementTable,
    survey: TableSurvey | None,
    own_retention: Sequence[str] = (),
    *,
    mapped: bool = False,
) -> StatementResult:
    """The statements of a plan. `own_retention`: see `iceberg.expire_snapshots`; `mapped`: whether a Delta table has
    column mapping.
    """
    if plan.action in {"optimize", "vacuum"}:
        return _of_delta(plan, table, survey, mapped=mapped)
    match plan.action:
        case "rewrite_data_files":
            options = {**plan.options, **DROP_DANGLING} if plan.rule == PURGE else plan.options
            return iceberg.rewrite_data_files(table, choice_of(plan, survey), options)
        case "rewrite_position_delete_files":
            return iceberg.rewrite_position_delete_files(table, choice_of(plan, survey), plan.options)
        case "rewrite_manifests":
            only = survey is not None and len(survey.specs_live) == 1
            return iceberg.rewrite_manifests(table, plan.spec_id, only_spec=only)
        case "expire_snapshots":
            return iceberg.expire_snapshots(table, plan.snapshots, own_retention=own_retention)
    return iceberg.set_properties(table, plan.properties) if plan.properties else _NO_STATEMENT


def _of_delta(
    plan: PlannedAction, table: StatementTable, survey: TableSurvey | None, *, mapped: bool
) -> StatementResult:
    if plan.action == "vacuum":
        return delta.vacuum(table, int(plan.options["hours"]))
    partitions = delta_partitions(plan, survey)
    if plan.rule == "delta_purge":
        return delta.purge(table, partitions)
    return delta.optimize(table, partitions, int(plan.options["target_size"]), column_mapping=mapped)


def delta_partitions(plan: PlannedAction, survey: TableSurvey | None) -> list[delta.DeltaPartition] | None:
    """The plan's partitions; None: the whole table."""
    if not plan.partitions or survey is None:
        return None
    return [_delta_partition(each, survey.specs.get(each.spec_id, ())) for each in plan.partitions]


def _delta_partition(partition: SurveyedPartition, fields: Sequence[SurveyedField]) -> delta.DeltaPartition:
    """Without fields if the partition has another spec than the table."""
    own = fields if len(fields) == len(partition.values) else ()
    named = tuple(delta.DeltaField(field.name, field.type or "") for field in own)
    values = (value if isinstance(value, str) else None for value in partition.values)
    return delta.DeltaPartition(named, tuple(values) if own else ())


def choice_of(plan: PlannedAction, survey: TableSurvey | None) -> PartitionChoice | None:
    """The plan's partitions beside all others; None: the whole table."""
    if not plan.partitions or survey is None:
        return None
    return choice(plan.partitions, survey)


def choice(partitions: Sequence[SurveyedPartition], survey: TableSurvey) -> PartitionChoice:
    """Partitions beside all others of the survey."""
    fields = {spec_id: tuple(map(_field, spec)) for spec_id, spec in survey.specs.items()}
    chosen = {(each.spec_id, each.text) for each in partitions}
    others = [each for each in survey.partitions if (each.spec_id, each.text) not in chosen]
    return PartitionChoice(
        chosen=[_scope(each, fields) for each in partitions], others=[_scope(each, fields) for each in others]
    )


def is_exact(partitions: Sequence[SurveyedPartition], survey: TableSurvey) -> bool:
    """Whether Spark has a condition that selects these partitions and no other."""
    if not survey.partitions:
        return False  # there are too many to know
    try:
        select(choice(partitions, survey))
    except NoStatement:
        return False
    return True


def _field(field: SurveyedField) -> ScopeField:
    return ScopeField(field.name, field.column or (), field.type or "", field.transform)


def _scope(partition: SurveyedPartition, fields: dict[int, tuple[ScopeField, ...]]) -> PartitionScope:
    own = fields.get(partition.spec_id, ())
    return PartitionScope(own, tuple(map(_value, own, partition.values)))


def _value(field: ScopeField, value: PartitionValue) -> object:
    """A value as it was in the manifest."""
    is_own = field.transform == "identity" or field.transform.startswith("truncate")
    if not is_own or not isinstance(value, str):
        return value
    kind = field.type.partition("(")[0].partition("[")[0]
    if kind in {"float", "double"}:
        return float(value)
    try:
        return base64.b64decode(value, validate=True) if kind in _BINARY else value
    except binascii.Error:
        return value
