"""Finds the line number of a key in a TOML file, for errors. Best effort, without a full parser."""

from __future__ import annotations

import re
import tomllib
from typing import Any

_QUOTES = ('"""', "'''")


def line_of(text: str, field: str) -> int | None:
    """Line number, from 1, of a key such as `jobs[1].reads[0]`, or of the closest enclosing table or key, or of the
    first key or table below it; None if none is found.
    """
    wanted = _plain(field)
    best: tuple[int, int] | None = None
    for number, path in _keys(text):
        inside = wanted == path or wanted.startswith((f"{path}.", f"{path}["))
        if path and inside and (best is None or len(path) > best[0]):
            best = len(path), number
    if best is None:
        return next((number for number, path in _keys(text) if path.startswith((f"{wanted}.", f"{wanted}["))), None)
    return best[1]


def _keys(text: str) -> list[tuple[int, str]]:
    """Line numbers and dotted paths of all keys and tables."""
    found: list[tuple[int, str]] = []
    counts: dict[str, int] = {}
    table, quoted = "", ""
    for number, line in enumerate(text.splitlines(), 1):
        bare = line.strip()
        if quoted:
            quoted = "" if quoted in bare else quoted
            continue
        if match := re.match(r"(\[\[?)(.+?)\]\]?\s*(#.*)?$", bare):
            table = _header(match[2], counts, many=match[1] == "[[")
            found.append((number, table))
        elif match := re.match(r"""((?:[\w-]+|"[^"]*"|'[^']*'|[ \t]*\.[ \t]*)+?)\s*=(.*)$""", bare):
            key = _path(match[1])
            found.append((number, ".".join(filter(None, (table, key.removesuffix("_file"))))))
            quoted = next((mark for mark in _QUOTES if match[2].count(mark) % 2), "")
    return found


def _header(name: str, counts: dict[str, int], *, many: bool) -> str:
    """Path of a table; entries of an array are numbered."""
    path = ""
    for level in _levels(name):
        path = f"{path}.{level}" if path else level
        last = path.count(".") == len(_levels(name)) - 1
        if many and last:
            counts[path] = counts.get(path, -1) + 1
        if path in counts:
            path = f"{path}[{counts[path]}]"
    return path


def _levels(name: str) -> list[str]:
    try:
        found: Any = tomllib.loads(f"{name} = 0")
    except tomllib.TOMLDecodeError:
        return [name]
    levels = []
    while isinstance(found, dict):
        ((level, found),) = found.items()
        levels.append(level)
    return levels


def _path(name: str) -> str:
    return ".".join(_levels(name))


def _plain(field: str) -> str:
    return field.removesuffix("_file")
