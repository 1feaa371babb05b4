"""Leaf columns of a schema by id, and patterns over their names. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

PRIVATE_PROPERTY = "limnograph.private-columns"
"""Property of a table: patterns of its private columns, separated by commas."""
_ORDERED = frozenset(
    {
        *("int", "long", "float", "double", "date", "timestamp", "timestamptz", "timestamp_ns", "timestamptz_ns"),
        *("byte", "short", "integer", "timestamp_ntz"),
    }
)
_TEXT = frozenset({"string", "binary", "fixed", "uuid"})
_DEPTH = 50


class LeafColumn(NamedTuple):
    """A column of a primitive type. `name`: levels of structs joined with `.`; `doc`: its comment."""

    field_id: int
    name: str
    type: str
    doc: str = ""


def leaves(schema: Mapping[str, Any] | None) -> Iterator[LeafColumn]:
    """Columns of a primitive type, including those inside structs, in the schema's order."""
    yield from _leaves(schema, "", _DEPTH)


def _leaves(kind: Any, prefix: str, depth: int) -> Iterator[LeafColumn]:
    fields = kind.get("fields") if isinstance(kind, Mapping) and depth else None
    for field in fields if isinstance(fields, list) else ():
        if not isinstance(field, Mapping) or type(field.get("id")) is not int:
            continue
        name, inner, doc = f"{prefix}{field.get('name', '')}", field.get("type"), field.get("doc")
        if isinstance(inner, str):
            yield LeafColumn(field["id"], name, inner, doc if isinstance(doc, str) else "")
        else:
            yield from _leaves(inner, f"{name}.", depth - 1)


def matches(name: str, patterns: Sequence[str]) -> bool:
    """Whether a pattern matches a column's full name or its last level; `*` is any text, capital letters are equal to
    small ones.
    """
    lower = name.lower()
    names = (lower, lower.rpartition(".")[2])
    return any(fnmatchcase(each, pattern.strip().lower()) for pattern in patterns for each in names)


def private_patterns(properties: Mapping[str, str], patterns: Sequence[str]) -> tuple[str, ...]:
    """The patterns of the settings and of the table's own property."""
    own = properties.get(PRIVATE_PROPERTY, "").split(",")
    return (*patterns, *(each.strip() for each in own if each.strip()))


def is_private(column: LeafColumn, patterns: Sequence[str]) -> bool:
    """Whether a pattern matches the name, or a word of the comment: a tag such as `pii`."""
    return matches(column.name, patterns) or any(matches(word, patterns) for word in re.findall(r"[\w-]+", column.doc))


def is_ordered(kind: str) -> bool:
    """Numbers, dates and timestamps: bounds of these may be stored."""
    return kind in _ORDERED or kind.startswith("decimal")


def is_text(kind: str) -> bool:
    """Text and binary: their bounds are values of the data."""
    return kind.partition("[")[0] in _TEXT
