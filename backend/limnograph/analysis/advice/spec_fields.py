"""Fields of a table's partition specs with their source columns in the current schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from limnograph.domain.advice.survey import SurveyedField
from limnograph.domain.metadata.table import TableMetadata

Column = tuple[tuple[str, ...], str]
"""Names, outermost first, and type."""


def surveyed_specs(metadata: TableMetadata) -> dict[int, list[SurveyedField]]:
    """Fields by spec id."""
    schema = metadata.schemas.get(metadata.current_schema_id if metadata.current_schema_id is not None else -1, {})
    columns = dict(_columns(schema.get("fields"), ()))
    return {spec_id: _fields(spec, columns) for spec_id, spec in metadata.specs.items()}


def leaf_columns(metadata: TableMetadata) -> int:
    """Number of primitive columns of the current schema, as Parquet counts them; 0: the schema is unknown."""
    schema = metadata.schemas.get(metadata.current_schema_id if metadata.current_schema_id is not None else -1, {})
    return _leaves(schema)


def _leaves(kind: Any) -> int:
    if not isinstance(kind, Mapping):
        return 1
    if "fields" in kind:
        fields = kind["fields"]
        named = fields if isinstance(fields, list) else ()
        return sum(_leaves(field.get("type")) for field in named if isinstance(field, Mapping))
    return sum(_leaves(kind[part]) for part in ("element", "key", "value") if part in kind)


def _columns(fields: Any, outer: tuple[str, ...]) -> list[tuple[int, Column]]:
    """Primitive columns by field id, those of structs too; partitioning within lists and maps does not exist."""
    found: list[tuple[int, Column]] = []
    for field in fields if isinstance(fields, list) else ():
        if not isinstance(field, Mapping) or not isinstance(field.get("id"), int):
            continue
        path, kind = (*outer, str(field.get("name", ""))), field.get("type")
        if isinstance(kind, str):
            found.append((field["id"], (path, kind)))
        elif isinstance(kind, Mapping) and kind.get("type") == "struct":
            found.extend(_columns(kind.get("fields"), path))
    return found


def _fields(spec: Mapping[str, Any], columns: Mapping[int, Column]) -> list[SurveyedField]:
    fields = spec.get("fields")
    found = []
    for field in fields if isinstance(fields, list) else ():
        sources = field.get("source-ids")
        source = field.get("source-id")
        if source is None and isinstance(sources, list) and len(sources) == 1:
            source = sources[0]
        column, kind = columns.get(source, (None, None)) if isinstance(source, int) else (None, None)
        found.append(
            SurveyedField(
                name=str(field.get("name", "")), transform=str(field.get("transform", "")), column=column, type=kind
            )
        )
    return found
