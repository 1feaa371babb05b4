"""Statements of the maintenance actions of Delta tables. Pure.

Spark (with delta-spark) and deltalake address the table by its location, which needs no catalog. Trino has no
statement: its OPTIMIZE drops deletion vectors from the log's `remove` actions, which other engines then read as
duplicates (trinodb/trino issue 31253).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from limnograph.analysis.advice.statements import python, spark
from limnograph.analysis.advice.statements.selection import MOST_CONJUNCTIONS
from limnograph.analysis.advice.statements.subject import (
    NoStatement,
    StatementResult,
    StatementTable,
    listed_first,
    nothing,
    result,
)
from limnograph.analysis.advice.statements.words import shown

_NO_TRINO = nothing("Trino 476 writes Delta logs that other engines read as duplicates (trinodb/trino issue 31253).")
_INTEGER = re.compile(r"-?\d{1,19}")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_INTEGERS = {"byte", "short", "integer", "long"}


class DeltaField(NamedTuple):
    """A partition column by its name in the table's schema. `type`: as Delta writes it (`integer`, `date`)."""

    name: str
    type: str


class DeltaPartition(NamedTuple):
    """A partition: its columns, and its values as the log has them; None and the empty text are null."""

    fields: tuple[DeltaField, ...]
    values: tuple[str | None, ...]


def optimize(
    table: StatementTable,
    partitions: Sequence[DeltaPartition] | None,
    target_bytes: int | None = None,
    *,
    column_mapping: bool = False,
) -> StatementResult:
    """Compact the files of these partitions; None: of the whole table. `target_bytes`: size of a new file; Spark takes
    it from the session's settings instead.
    """

    def where() -> str:
        return _where(partitions or ())

    def for_spark() -> str:
        condition = "" if partitions is None else f"\nWHERE {where()}"
        return f"OPTIMIZE {_path(table)}{condition};"

    def for_python() -> str:
        if column_mapping:
            raise NoStatement("deltalake does not compact tables with column mapping.")
        size = "" if target_bytes is None else f"target_size={int(target_bytes)}"
        if partitions is None:
            calls = f"table.optimize.compact({size})\n"
        else:
            filters = ",\n".join(f"    {_filters(each)}" for each in _few(partitions))
            size = size and f", {size}"
            calls = f"for filters in (\n{filters},\n):\n    table.optimize.compact(partition_filters=filters{size})\n"
        return f"{_loading(table)}{calls}"

    return result(for_spark, _NO_TRINO, for_python, None if partitions is None else where)


def purge(table: StatementTable, partitions: Sequence[DeltaPartition] | None) -> StatementResult:
    """Write files with deletion vectors again without their deleted rows."""

    def where() -> str:
        return _where(partitions or ())

    def for_spark() -> str:
        condition = "" if partitions is None else f"\nWHERE {where()}"
        return f"REORG TABLE {_path(table)}{condition}\nAPPLY (PURGE);"

    no_python = nothing("deltalake applies deletion vectors only to files that it merges with others.")
    return result(for_spark, _NO_TRINO, no_python, None if partitions is None else where)


def vacuum(table: StatementTable, hours: int) -> StatementResult:
    """Delete files that the log removed more than `hours` ago. The text lists them first; the deletion is commented
    out.
    """
    command = f"RETAIN {int(hours)} HOURS"

    def for_spark() -> str:
        listing, removal = f"VACUUM {_path(table)} {command} DRY RUN;", f"VACUUM {_path(table)} {command};"
        return listed_first("--", listing, removal)

    def for_python() -> str:
        listing = f"print(table.vacuum(retention_hours={int(hours)}, dry_run=True))"
        removal = f"table.vacuum(retention_hours={int(hours)}, dry_run=False)"
        return f"{_loading(table)}{listed_first('#', listing, removal)}\n"

    return result(for_spark, _NO_TRINO, for_python)


def set_delta_properties(table: StatementTable, properties: Mapping[str, str]) -> StatementResult:
    """Set table properties."""

    def for_spark() -> str:
        pairs = ", ".join(f"{spark.string(key)} = {spark.string(value)}" for key, value in properties.items())
        return f"ALTER TABLE {_path(table)} SET TBLPROPERTIES ({pairs});"

    def for_python() -> str:
        pairs = ", ".join(f"{python.string(key)}: {python.string(value)}" for key, value in properties.items())
        return f"{_loading(table)}table.alter.set_table_properties({{{pairs}}})\n"

    return result(for_spark, _NO_TRINO, for_python)


def _path(table: StatementTable) -> str:
    return f"delta.{spark.identifier(table.location)}"


def _loading(table: StatementTable) -> str:
    return f"from deltalake import DeltaTable\n\ntable = DeltaTable({python.string(table.location)})\n"


def _few(partitions: Sequence[DeltaPartition]) -> Sequence[DeltaPartition]:
    if not partitions:
        raise NoStatement("The plan names no partition.")
    if len(partitions) > MOST_CONJUNCTIONS:
        raise NoStatement(f"A condition for {len(partitions):,} partitions is too long to be checked.")
    if not all(each.fields for each in partitions):
        raise NoStatement("The table is not partitioned.")
    return partitions


def _filters(partition: DeltaPartition) -> str:
    triples = (
        f'({python.string(field.name)}, "=", {python.string(value or "")})'
        for field, value in zip(partition.fields, partition.values, strict=True)
    )
    return f"[{', '.join(triples)}]"


def _where(partitions: Sequence[DeltaPartition]) -> str:
    texts = [
        " AND ".join(_equality(field, value) for field, value in zip(each.fields, each.values, strict=True))
        for each in _few(partitions)
    ]
    return texts[0] if len(texts) == 1 else " OR ".join(f"({text})" for text in texts)


def _equality(field: DeltaField, value: str | None) -> str:
    column = spark.identifier(field.name)
    return f"{column} = {_literal(field.type, value)}" if value else f"{column} IS NULL"


def _literal(kind: str, value: str) -> str:
    if kind == "string":
        return spark.string(value)
    if kind in _INTEGERS and _INTEGER.fullmatch(value):
        return value
    if kind == "date" and _DATE.fullmatch(value):
        return f"DATE '{value}'"
    if kind == "boolean" and value in {"true", "false"}:
        return value
    raise NoStatement(f"No literal can be written for {shown(value)} of type {kind}.")
