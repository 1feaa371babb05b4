"""Chooses the columns of a table that have statistics: those that scans filter, those that files are laid out by, then
the first of the schema. Decides which of them have bounds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from limnograph.analysis.column_names import (
    LeafColumn,
    is_ordered,
    is_private,
    is_text,
    leaves,
    matches,
    private_patterns,
)
from limnograph.domain.facts.column_stats import COLUMNS_A_TABLE
from limnograph.domain.metadata.content import WantedColumn
from limnograph.domain.metadata.due import ColumnChoice
from limnograph.domain.metadata.table import Snapshot, TableMetadata


def wanted_columns(
    metadata: TableMetadata, snapshot: Snapshot, choice: ColumnChoice, patterns: Sequence[str] = ()
) -> tuple[WantedColumn, ...]:
    """At most COLUMNS_A_TABLE columns of the snapshot's schema, in the schema's order. `patterns`: of private ones."""
    schema_id = snapshot.schema_id if snapshot.schema_id in metadata.schemas else metadata.current_schema_id
    schema = metadata.schemas.get(schema_id) if schema_id is not None else None
    columns = list(leaves(schema))
    chosen = {column.field_id for column in _ranked(columns, metadata, choice)[:COLUMNS_A_TABLE]}
    private = private_patterns(metadata.properties, patterns)
    return tuple(
        WantedColumn(each.field_id, each.name, each.type, bounded=_is_bounded(each, private, choice))
        for each in columns
        if each.field_id in chosen
    )


def _ranked(columns: list[LeafColumn], metadata: TableMetadata, choice: ColumnChoice) -> list[LeafColumn]:
    by_id = {column.field_id: column for column in columns}
    by_name = {column.name: column for column in columns}
    filtered = [by_name[name] for name in choice.filtered if name in by_name]
    layout = [by_id[source] for source in _layout(metadata) if source in by_id]
    return list(dict.fromkeys((*filtered, *layout, *columns)))


def _layout(metadata: TableMetadata) -> Iterator[int]:
    """Source columns of the default partition spec and sort order."""
    found: tuple[Mapping[str, Any], ...] = (
        metadata.specs.get(metadata.default_spec_id or 0, {}),
        metadata.sort_orders.get(metadata.default_sort_order_id or 0, {}),
    )
    for layout in found:
        fields = layout.get("fields")
        for field in fields if isinstance(fields, list) else ():
            sources = [field.get("source-id"), *(field.get("source-ids") or ())] if isinstance(field, dict) else ()
            yield from (source for source in sources if type(source) is int)


def _is_bounded(column: LeafColumn, private: tuple[str, ...], choice: ColumnChoice) -> bool:
    if is_private(column, private):
        return False
    return is_ordered(column.type) or (is_text(column.type) and matches(column.name, choice.bounds))
