"""Translates msgspec's type errors into TOML's terms: `expected integer, got string`."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import msgspec

from limnograph.settings.base import FrozenSettings
from limnograph.settings.whole import Settings

_WORDS = {
    "int": "integer",
    "str": "string",
    "bool": "boolean",
    "float": "float",
    "object": "table",
    "array": "array",
    "datetime": "date-time",
    "date": "local date",
    "time": "local time",
    "null": "nothing",
}
_TYPES = re.compile(r"Expected `([^`]+)`(?:, got `(\w+)`)?$")
_QUOTABLE = frozenset({"int", "float", "bool", "datetime", "date", "time"})


def in_toml(detail: str, field: str, root: type[FrozenSettings] = Settings) -> str:
    """A msgspec message about the value of a key, in TOML's terms and without the initial capital."""
    if match := _TYPES.match(detail):
        wanted = [kind.strip() for kind in match[1].split("|") if kind.strip() != "null"]
        said = f"expected {' or '.join(_WORDS.get(kind, kind) for kind in wanted)}"
        if match[2] is None:
            return said
        remedy = "; write it in quotes" if wanted == ["str"] and match[2] in _QUOTABLE else ""
        return f"{said}, got {_WORDS.get(match[2], match[2])}{remedy}"
    if match := re.match(r"Invalid enum value (.+)$", detail):
        choices = [f'"{choice}"' for choice in _choices(field, root) if choice != ""]
        return f"{match[1]} is not one of {', '.join(choices)}" if choices else f"{match[1]} is not a value of this key"
    for type_, word in _WORDS.items():
        detail = detail.replace(f"`{type_}`", word)
    return detail[0].lower() + detail[1:]


def _choices(field: str, root: type[FrozenSettings]) -> list[Any]:
    """The permitted values of a key; empty if they are not enumerated."""
    kinds: list[Any] = [_described(root)]
    for name in re.findall(r"[^.\[\]]+", re.sub(r"\[\d+\]", ".0", field)):
        kinds = [inner for kind in kinds for inner in _below(kind, name)]
    return [value for kind in kinds for value in getattr(kind, "values", ())]


@cache
def _described(root: type[FrozenSettings]) -> msgspec.inspect.Type:
    return msgspec.inspect.type_info(root)


def _below(kind: Any, name: str) -> list[Any]:
    """Types that the value of a key, or an item of an array, may have."""
    found: list[Any] = []
    if isinstance(kind, msgspec.inspect.StructType):
        found = [field.type for field in kind.fields if field.encode_name == name]
    elif isinstance(kind, msgspec.inspect.DictType):
        found = [kind.value_type]
    elif isinstance(kind, msgspec.inspect.VarTupleType | msgspec.inspect.ListType):
        found = [kind.item_type]
    elif isinstance(kind, msgspec.inspect.UnionType):
        return [inner for one in kind.types for inner in _below(one, name)]
    return [one for each in found for one in (each.types if isinstance(each, msgspec.inspect.UnionType) else (each,))]
