"""The fields of a partition spec or a sort order, from its row in `changes`."""

from __future__ import annotations

import json
from typing import Any

from limnograph.analysis.schema.field_trees import Tree, tree_of
from limnograph.domain.answers.schemas import SpecField
from limnograph.domain.facts.meta_tables import ChangeFact
from limnograph.services.lake.history import History


def spec_fields(change: ChangeFact, tree: Tree | None) -> list[SpecField]:
    """Fields of a spec or an order, with the names of their columns at that time."""
    try:
        document = json.loads(change.detail) if change.detail else None
    except (ValueError, RecursionError):
        return []
    items = document.get("fields") if isinstance(document, dict) else None
    return [_spec_field(item, tree) for item in items or () if isinstance(item, dict)]


def _spec_field(item: dict[str, Any], tree: Tree | None) -> SpecField:
    source = item.get("source-id")
    if not isinstance(source, int):
        listed = item.get("source-ids")
        source = listed[0] if isinstance(listed, list) and listed and isinstance(listed[0], int) else None
    column = tree.get(source) if tree and source is not None else None
    direction, nulls = item.get("direction"), item.get("null-order")
    order = " ".join(str(part).replace("-", " ") for part in (direction, nulls) if part) or None
    return SpecField(
        name=str(item.get("name", "")),
        transform=str(item.get("transform", "")),
        column=column.path if column else None,
        source_id=source,
        order=order,
    )


def spec_columns(history: History, kind: str) -> frozenset[str] | None:
    """Columns that the current `spec` or `sort_order` uses, in lower case as engines may spell them; None if it is
    unknown.
    """
    change = history.latest(kind)
    if change is None or not change.detail:
        return None
    schema = history.latest("schema")
    tree = tree_of(schema.detail) if schema else None
    used = [field for field in spec_fields(change, tree) if field.transform != "void"]
    return frozenset((field.column or field.name).lower() for field in used)
