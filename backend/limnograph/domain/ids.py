"""Names and ids of tables: parse and print. Knows the text forms, not what they point to.

Namespace levels join with `.`; inside a level or a table name `~` is written `~~` and `.` is `~d`, so the text
is reversible and ordinary names look as they are. A URL path segment also writes `/` as `~s` (proxies rewrite %2F).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from limnograph.domain.errors import InvalidInput


def escape_level(level: str) -> str:
    """One namespace level as text: `a.b` -> `a~db`."""
    return level.replace("~", "~~").replace(".", "~d")


def unescape_level(text: str) -> str:
    """Inverse of `escape_level`."""
    return re.sub(r"~(.)", lambda m: {"~": "~", "d": ".", "s": "/"}.get(m[1], m[0]), text)


class TableName(NamedTuple):
    """`catalog`, `namespace` (levels joined with `.`, escaped) and `table`: the name a person uses."""

    catalog: str
    namespace: str
    table: str

    @classmethod
    def of(cls, catalog: str, levels: Sequence[str], table: str) -> TableName:
        """From the parts that a catalog lists; `levels` are unescaped."""
        return cls(catalog, ".".join(map(escape_level, levels)), table)

    @classmethod
    def parse(cls, text: str, field: str = "table") -> TableName:
        """`lake.sales.orders`: first level is the catalog, last the table. Raises InvalidInput."""
        parts = text.split(".")
        if len(parts) < 3 or not all(parts):
            raise InvalidInput(field, f"{text!r} is not a table name; write catalog.namespace.table")
        return cls(parts[0], ".".join(parts[1:-1]), parts[-1])

    @property
    def levels(self) -> tuple[str, ...]:
        """Namespace levels, unescaped, as catalogs want them."""
        return tuple(unescape_level(level) for level in self.namespace.split(".")) if self.namespace else ()

    def __str__(self) -> str:
        return ".".join(part for part in self if part)


def path_segment(text: str) -> str:
    """A namespace (already escaped) or an escaped table name as one URL path segment."""
    return text.replace("/", "~s")


def normalise_location(location: str) -> str:
    """One spelling for one place: `file:/x`, `/x` -> `file:///x`; `s3a`, `s3n` -> `s3`; no trailing slash."""
    text = location.strip()
    if text.startswith("/"):
        text = "file://" + text
    elif match := re.match(r"file:/+(.*)$", text):
        text = "file:///" + match[1]
    text = re.sub(r"^s3[an]://", "s3://", text)
    return text.rstrip("/") if not text.endswith("://") else text


LOCATION_UUID = "loc:"
"""How the stand-in for a missing table uuid begins."""


def location_uuid(location: str) -> str:
    """Stand-in for a missing table uuid: `loc:` + 32 hex of SHA-256 of the normalised location (DESIGN §2)."""
    return LOCATION_UUID + hashlib.sha256(normalise_location(location).encode()).hexdigest()[:32]


class Patterns:
    """Patterns over dotted names: `*` is one level (or a part of one), `**` any number of levels."""

    def __init__(self, patterns: Iterable[str]) -> None:
        parts = (re.escape(pattern).replace(r"\*\*", ".*").replace(r"\*", r"[^.]*") for pattern in patterns)
        # Without any pattern nothing matches, the empty name neither.
        self._any = re.compile("|".join(parts) or r"(?!)")

    def match(self, name: str) -> bool:
        """Whether any of them matches the whole name."""
        return self._any.fullmatch(name) is not None


def matches(pattern: str, name: str) -> bool:
    """Whether a dotted name matches one pattern."""
    return _one(pattern).match(name)


@lru_cache(maxsize=1024)
def _one(pattern: str) -> Patterns:
    return Patterns((pattern,))
