"""Suggests the closest valid key for an unknown one."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from functools import cache
from typing import Any, get_args

import msgspec

from limnograph.settings.base import FrozenSettings
from limnograph.settings.whole import Settings


def meant(field: str, root: type[FrozenSettings] = Settings, page: str = "docs/settings.md") -> str:
    """`; did you mean catalogs?` for a dotted path, or a reference to the page that lists all keys."""
    section, _, key = field.rpartition(".")
    found = difflib.get_close_matches(key, sorted(_keys(section, root)), n=1)
    return f"; did you mean {found[0]}?" if found else f"; {page} lists all keys"


@cache
def _keys(section: str, root: type[FrozenSettings]) -> frozenset[str]:
    """All keys of the file, or those of a section and its subsections."""
    fields = msgspec.structs.fields(root)
    if not section:
        return frozenset(each.name for each in fields) - {"base", "file"}
    first = re.split(r"[.\[]", section)[0]
    return frozenset(
        key for each in fields if each.name == first for kind in _structs(each.type) for key in _below(kind)
    )


def _below(struct: type[FrozenSettings]) -> Iterator[str]:
    for field in msgspec.structs.fields(struct):
        yield field.name
        for kind in _structs(field.type):
            yield from _below(kind)


def _structs(kind: Any) -> Iterator[type[FrozenSettings]]:
    if isinstance(kind, type) and issubclass(kind, FrozenSettings):
        yield kind
    for one in get_args(kind):
        yield from _structs(one)
