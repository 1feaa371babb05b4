"""Named types in an Avro schema: defined once and then repeated by name; readers need the definition everywhere."""

from __future__ import annotations

from typing import Any

MAX_TYPES = 100_000
"""Maximum number of types in the expanded schema: named types within named types can grow exponentially."""

_PRIMITIVES = {"null", "boolean", "int", "long", "float", "double", "bytes", "string"}
_NAMED = {"record", "enum", "fixed"}


def by_definition(schema: Any) -> Any:
    """The schema with every name replaced by the definition of its type.

    Raises KeyError for a name before its definition (or within it), ValueError and TypeError for an invalid schema.
    """
    return _Names().whole(schema, "")


class _Names:
    """Types by full name, collected while walking a schema, each with the number of types in it."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[Any, int]] = {}
        self._types = 0

    def whole(self, kind: Any, space: str) -> Any:
        """`kind` expanded; `space` is the enclosing namespace."""
        self._count(1)
        if isinstance(kind, list):
            return [self.whole(branch, space) for branch in kind]
        if isinstance(kind, str):
            return kind if kind in _PRIMITIVES else self._named(kind, space)
        inner = kind["type"]
        if isinstance(inner, dict | list):
            return {**kind, "type": self.whole(inner, space)}
        if inner in _NAMED:
            return self._definition(kind, space)
        if inner in {"array", "map"}:
            part = "items" if inner == "array" else "values"
            return {**kind, part: self.whole(kind[part], space)}
        return kind if inner in _PRIMITIVES else self._named(inner, space)

    def _definition(self, kind: dict[str, Any], space: str) -> dict[str, Any]:
        name = _full_name(str(kind.get("name", "")), kind.get("namespace", space))
        before, found = self._types, dict(kind)
        if "fields" in kind or kind["type"] == "record":
            inside = name.rpartition(".")[0]
            found["fields"] = [{**field, "type": self.whole(field["type"], inside)} for field in kind["fields"]]
        self._known[name] = found, self._types - before
        return found

    def _named(self, name: str, space: str) -> Any:
        full = _full_name(name, space)
        found, types = self._known[full if full in self._known else name]
        self._count(types)
        return found

    def _count(self, types: int) -> None:
        self._types += types
        if self._types > MAX_TYPES:
            raise ValueError("a schema with too many types")


def _full_name(name: str, space: str | None) -> str:
    return name if "." in name or not space else f"{space}.{name}"
