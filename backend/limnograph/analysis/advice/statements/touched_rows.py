"""Conditions for the rows of the partitions that a commit touched, from the partitions' texts and specs. A field whose
value cannot be derived from its text (a shortened one), or whose column was dropped, is omitted: the condition then
selects more rows than the partitions have, never fewer. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from limnograph.analysis.advice.statements import spark, trino
from limnograph.analysis.advice.statements.atoms import Atom, atom_of
from limnograph.analysis.advice.statements.scopes import ScopeField
from limnograph.analysis.advice.statements.selection import Conjunction, joined
from limnograph.analysis.advice.statements.subject import NoStatement
from limnograph.domain.answers.tables import PartitionField
from limnograph.domain.metadata.partition_values import UnknownValue, raw_value, split_values

MOST_PARTITIONS = 20
"""Maximum number of partitions: users should be able to check a condition before they run it."""


class PredicateColumn(NamedTuple):
    """A column by its current name. `path`: its name after those of the enclosing structs, outermost first."""

    path: tuple[str, ...]
    type: str


class Touched(NamedTuple):
    """A partition: its text (`domain/metadata/partition_text.py`) and the id of its spec."""

    spec_id: int | None
    text: str


class Predicate(NamedTuple):
    """`sql`: for Spark; None if no condition can be built. `trino`: None if Trino cannot execute it. `note`: the
    reason, or the omitted fields; None if the condition is exact.
    """

    sql: str | None
    note: str | None = None
    trino: str | None = None


def predicate(
    touched: Sequence[Touched],
    specs: Mapping[int, Sequence[PartitionField]],
    columns: Mapping[int, PredicateColumn],
    catalog: str | None,
) -> Predicate:
    """The condition for some partitions. `columns`: those of the current schema, by field id. `specs`: the known specs,
    by id. `catalog`: the one whose functions compute transforms.
    """
    if not touched:
        return Predicate(None, "The partitions that the commit touched are unknown.")
    if len(touched) > MOST_PARTITIONS:
        return Predicate(None, f"The commit touched {len(touched):,} partitions, too many for a predicate.")
    conjunctions: list[Conjunction] = []
    omitted: dict[str, None] = {}
    for partition in touched:
        fields = specs.get(partition.spec_id) if partition.spec_id is not None else None
        values = split_values(partition.text, [field.name for field in fields]) if fields else None
        if not fields or values is None:
            return Predicate(None, _unreadable(partition, fields))
        atoms = []
        for field, text in zip(fields, values, strict=True):
            source = _source(field, columns)
            atom = _atom(source, text)
            if atom is not None:
                atoms.append(atom)
            elif source.transform != "void":
                omitted[_spelled(source)] = None
        conjunctions.append(tuple(dict.fromkeys(atoms)))
    left, many = ", ".join(omitted), len(omitted) > 1
    if not all(conjunctions):
        of = f" from {left}" if left else ""
        return Predicate(None, f"No predicate can be built{of}: no column's values are known.")
    left_out = f"{left} {'are' if many else 'is'} omitted"
    note = f"{left_out}: the predicate may select more rows than the commit wrote." if omitted else None
    alternatives = joined(conjunctions)
    try:
        sql = spark.condition(alternatives, catalog)
    except NoStatement as reason:
        return Predicate(None, str(reason))
    return Predicate(sql, note, _for_trino(alternatives, one_spec=len(specs) == 1))


def _for_trino(alternatives: Sequence[Conjunction], *, one_spec: bool) -> str | None:
    """Trino executes one alternative, on a table whose files have one partition spec."""
    try:
        return trino.condition(alternatives[0]) if one_spec and len(alternatives) == 1 else None
    except NoStatement:
        return None


def _unreadable(partition: Touched, fields: Sequence[PartitionField] | None) -> str:
    if fields is None:
        return "The commit's partition spec is unknown."
    return (
        f"The partition {partition.text} does not match its partition spec."
        if fields
        else "The table is not partitioned."
    )


def _source(field: PartitionField, columns: Mapping[int, PredicateColumn]) -> ScopeField:
    column = columns.get(field.source_id) if field.source_id is not None else None
    path, kind = column or ((), "")
    return ScopeField(field.name, path, kind, field.transform)


def _atom(field: ScopeField, text: str) -> Atom | None:
    try:
        return atom_of(field, raw_value(text, field.transform, field.type))
    except UnknownValue:
        return None


def _spelled(field: ScopeField) -> str:
    name = ".".join(field.path) or field.name
    return name if field.transform == "identity" else f"{field.transform} of {name}"
