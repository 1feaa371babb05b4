"""The wire structs as tables of fields, with types in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from limnograph.api.docs.reference.blocks import Block, Heading, Table, Text

_BOUNDS = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "maxItems": "at most {}",
    "pattern": "`{}`",
}
_NULL = {"type": "null"}


def blocks(schemas: dict[str, Any]) -> Iterator[Block]:
    """One section per struct, sorted by name."""
    for name, schema in sorted(schemas.items()):
        yield Heading(3, name)
        if text := schema.get("description"):
            yield Text(" ".join(text.split()))
        if "properties" in schema:
            needed = set(schema.get("required", ()))
            rows = [
                (f"`{field}`" + ("" if field in needed else " (optional)"), spell(kind))
                for field, kind in schema["properties"].items()
            ]
            yield Table(("field", "type"), rows)
        else:
            yield Text(spell(schema) + ".")


def spell(schema: dict[str, Any]) -> str:
    """The type of a JSON schema in words."""
    if reference := schema.get("$ref"):
        return _link(reference.rsplit("/", 1)[-1])
    if kinds := schema.get("anyOf") or schema.get("oneOf"):
        told = [spell(kind) for kind in kinds if kind != _NULL]
        return " or ".join((*told, "null") if _NULL in kinds else told)
    if values := schema.get("enum") or [schema[key] for key in ("const",) if key in schema]:
        return " or ".join(f"`{value}`" for value in values)
    kind = {"array": _array, "object": _object}.get(schema.get("type", ""), _plain)(schema)
    return ", ".join((kind, *bounds(schema)))


def bounds(schema: dict[str, Any]) -> list[str]:
    """The bounds of a JSON schema in words."""
    return [words.format(_number(schema[key])) for key, words in _BOUNDS.items() if key in schema]


def _array(schema: dict[str, Any]) -> str:
    if prefix := schema.get("prefixItems"):
        return f"list of {' and '.join(map(spell, prefix))}"
    items = schema.get("items")
    spelled = spell(items) if isinstance(items, dict) else "anything"
    return f"list of ({spelled})" if " or " in spelled else f"list of {spelled}"


def _object(schema: dict[str, Any]) -> str:
    inner = schema.get("additionalProperties")
    return f"object of {spell(inner)}" if isinstance(inner, dict) and inner else "object"


def _plain(schema: dict[str, Any]) -> str:
    kind = schema.get("type", "anything")
    return {"string": "text", "boolean": "true or false"}.get(kind, str(kind))


def _number(value: object) -> object:
    return (
        f"{value:g}" if isinstance(value, float) and value < 1e6 else int(value) if isinstance(value, float) else value
    )


def _link(name: str) -> str:
    return f"[{name}](#{Heading(3, name).place})"
