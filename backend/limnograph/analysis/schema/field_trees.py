"""A schema's JSON as fields by id, each with its place in the tree, for the comparison of schemas."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

_PARTS = ("element", "key", "value")


class TreeField(NamedTuple):
    """A field of a schema.

    `path`: dotted name
    `parent`: id of the containing field; None at the top
    `place`: index among its siblings
    `type`: of a nested field only `struct`, `list` or `map`
    `default`: initial value, as JSON
    """

    id: int
    name: str
    path: str
    parent: int | None
    place: int
    type: str
    required: bool
    doc: str | None
    default: str | None


Tree = dict[int, TreeField]


def tree_of(detail: str | None) -> Tree | None:
    """Fields by id in the schema's order; None if the text is not a schema."""
    try:
        document = json.loads(detail) if detail else None
    except (ValueError, RecursionError):
        return None
    if not isinstance(document, dict) or not isinstance(document.get("fields"), list):
        return None
    return {field.id: field for field in _walk(document["fields"], None, "")}


def _walk(items: Any, parent: int | None, prefix: str) -> Iterator[TreeField]:
    place = 0
    for item in items if isinstance(items, list) else ():
        if not isinstance(item, dict) or not isinstance(item.get("id"), int):
            continue
        name, kind, doc = str(item.get("name", "")), item.get("type"), item.get("doc")
        label = kind if isinstance(kind, str) else str(kind.get("type", "")) if isinstance(kind, dict) else ""
        yield TreeField(
            id=item["id"],
            name=name,
            path=prefix + name,
            parent=parent,
            place=place,
            type=label,
            required=bool(item.get("required", False)),
            doc=doc if isinstance(doc, str) else None,
            default=json.dumps(item["initial-default"]) if item.get("initial-default") is not None else None,
        )
        place += 1
        yield from _children(kind, item["id"], prefix + name + ".")


def _children(kind: Any, parent: int, prefix: str) -> Iterator[TreeField]:
    """Fields of a struct, a list's element, a map's key and value."""
    if not isinstance(kind, dict):
        return
    if kind.get("type") == "struct":
        yield from _walk(kind.get("fields"), parent, prefix)
        return
    parts = [
        {"id": kind[f"{part}-id"], "name": part, "type": kind.get(part), "required": _needed(kind, part)}
        for part in _PARTS
        if isinstance(kind.get(f"{part}-id"), int)
    ]
    yield from _walk(parts, parent, prefix)


def _needed(kind: dict[str, Any], part: str) -> bool:
    return bool(kind.get(f"{part}-required", part == "key"))
