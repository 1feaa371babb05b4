"""Describes columns of meta tables: type, Iceberg field id, meaning. Adapters derive their schemas from it.

Types have the names of the Iceberg spec. Nested types contain the field ids of their children, because ids are
permanent.
"""

from __future__ import annotations

import typing
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec


class Primitive(NamedTuple):
    """`string`, `boolean`, `int`, `long`, `double` or `timestamptz` (microseconds, UTC)."""

    name: str


class ListOf(NamedTuple):
    """An Iceberg list; its element is optional and has a field id."""

    element_id: int
    element: Type


class MapOf(NamedTuple):
    """An Iceberg map; keys required, values optional."""

    key_id: int
    value_id: int
    key: Type
    value: Type


class StructOf(NamedTuple):
    """An Iceberg struct of named columns."""

    fields: tuple[Column, ...]


Type = Primitive | ListOf | MapOf | StructOf

STRING, BOOLEAN, INT, LONG, DOUBLE, TIMESTAMPTZ = map(
    Primitive, ("string", "boolean", "int", "long", "double", "timestamptz")
)


class Column(NamedTuple):
    """`field_id` never changes and is never reused. `required` is true for key columns only."""

    name: str
    field_id: int
    type: Type
    doc: str
    required: bool = False


class Col(NamedTuple):
    """Annotation of a struct field: a Column without its name."""

    field_id: int
    type: Type
    doc: str
    required: bool = False


def columns_of(struct: type[msgspec.Struct]) -> tuple[Column, ...]:
    """Columns of a struct whose fields are `Annotated[..., Col(...)]`, in field order. Other fields are no columns."""
    hints = typing.get_type_hints(struct, include_extras=True)
    found = ((name, _col(hints[name])) for name in struct.__struct_fields__)
    return tuple(Column(name, *col) for name, col in found if col is not None)


def _col(hint: Any) -> Col | None:
    return next((meta for meta in typing.get_args(hint)[1:] if isinstance(meta, Col)), None)


def walk_ids(columns: tuple[Column, ...]) -> Iterator[int]:
    """All field ids of a table, nested ones included."""
    for column in columns:
        yield column.field_id
        yield from _nested_ids(column.type)


def _nested_ids(kind: Type) -> Iterator[int]:
    if isinstance(kind, ListOf):
        yield kind.element_id
        yield from _nested_ids(kind.element)
    elif isinstance(kind, MapOf):
        yield from (kind.key_id, kind.value_id)
    elif isinstance(kind, StructOf):
        yield from walk_ids(kind.fields)
