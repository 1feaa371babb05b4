"""Maps a msgspec error to the settings key that it concerns, and to a message for the user."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any

from limnograph.settings.base import FrozenSettings
from limnograph.settings.toml_words import in_toml
from limnograph.settings.whole import Settings

UNKNOWN = "unknown key"

_NO_DATE = "Invalid RFC3339 encoded date"
_BOUND = re.compile(r"Expected `(?:int|float)` (<=|<|>=|>) (\S+)")
_BOUNDS: dict[str, tuple[str, Callable[[Any, Any], bool]]] = {
    ">": ("above", operator.gt),
    ">=": ("at least", operator.ge),
    "<": ("below", operator.lt),
    "<=": ("at most", operator.le),
}

_PYTHONS: dict[str, tuple[type, ...]] = {
    "str": (str,),
    "object": (dict,),
    "array": (list,),
    "int": (int,),
    "bool": (bool,),
    "float": (int, float),
}


def locate(message: str, document: dict[str, Any], root: type[FrozenSettings] = Settings) -> tuple[str, str]:
    """`Object contains unknown field `x` - at `$.a.b`` -> (`a.b.x`, sentence)."""
    path = re.search(r"at `\$\.?(.*)`$", message)
    detail = message.split(" - at `", maxsplit=1)[0]
    prefix = _named(path[1], detail, document) if path else ""
    if unknown := re.search(r"unknown field `(.+?)`", detail):
        return ".".join(filter(None, (prefix, unknown[1]))), UNKNOWN
    if missing := re.search(r"missing required field `(.+?)`", detail):
        return ".".join(filter(None, (prefix, missing[1]))), "is required"
    if bound := _BOUND.match(detail):
        return prefix, f"must be {_BOUNDS[bound[1]][0]} {bound[2].removesuffix('.0')}"
    if detail == _NO_DATE:
        return prefix, "is not a date; write one such as 2026-11-01"
    return prefix or "settings", in_toml(detail, prefix, root)


def _named(path: str, detail: str, document: dict[str, Any]) -> str:
    """The path with the document's actual key in place of `[...]`, which msgspec writes for any key of a table."""
    found: list[tuple[str, Any]] = [("", document)]
    for key, index in re.findall(r"([^.\[\]]+)|\[(\d+|\.\.\.)\]", path):
        found = [step for where, value in found for step in _steps(where, value, key, index)]
    guilty = (where for where, value in found if _breaks(value, detail))
    return next(guilty, path)


def _steps(where: str, value: Any, key: str, index: str) -> list[tuple[str, Any]]:
    prefix = f"{where}." if where else ""
    if key:
        return [(prefix + key, value[key])] if isinstance(value, dict) and key in value else []
    if index == "...":
        return [(prefix + name, item) for name, item in value.items()] if isinstance(value, dict) else []
    return [(f"{where}[{index}]", value[int(index)])] if isinstance(value, list) and int(index) < len(value) else []


def _breaks(value: Any, detail: str) -> bool:
    """Whether a msgspec error can concern this value."""
    if unknown := re.search(r"unknown field `(.+?)`", detail):
        return isinstance(value, dict) and unknown[1] in value
    if missing := re.search(r"missing required field `(.+?)`", detail):
        return isinstance(value, dict) and missing[1] not in value
    if bound := _BOUND.match(detail):
        return isinstance(value, int | float) and not _BOUNDS[bound[1]][1](value, float(bound[2]))
    expected = re.match(r"Expected `(\w+)", detail)
    kind = _PYTHONS.get(expected[1]) if expected else None
    if choice := re.match(r"Invalid enum value '(.*)'", detail):
        return bool(value == choice[1])
    return kind is None or not isinstance(value, kind) or (isinstance(value, bool) and bool not in kind)
