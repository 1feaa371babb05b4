"""The columns that scans filter, against the table's partition spec and sort order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from limnograph.analysis.schema.field_trees import tree_of
from limnograph.domain.answers.reads import FilterColumn
from limnograph.domain.facts.meta_tables import ChangeFact
from limnograph.services.lake.history import History
from limnograph.services.table.schema.page import spec_fields


def filters_of(counts: Iterable[Mapping[str, Any]], known: int, history: History) -> list[FilterColumn]:
    """Filtered columns, the most frequent first. `known`: scans whose filter columns are known."""
    partitioned, sorted_by = _columns(history, "spec"), _columns(history, "sort_order")
    return [
        FilterColumn(
            column=each["name"],
            scans=each["count"],
            share=each["count"] / known,
            partitions=None if partitioned is None else each["name"].lower() in partitioned,
            sorts=None if sorted_by is None else each["name"].lower() in sorted_by,
        )
        for each in counts
        if known
    ]


def _columns(history: History, kind: str) -> set[str] | None:
    """Columns of the current spec or order, in lower case as engines may spell them; None if it is unknown."""
    change: ChangeFact | None = history.latest(kind)
    if change is None or not change.detail:
        return None
    schema = history.latest("schema")
    tree = tree_of(schema.detail) if schema else None
    used = [field for field in spec_fields(change, tree) if field.transform != "void"]
    return {(field.column or field.name).lower() for field in used}
