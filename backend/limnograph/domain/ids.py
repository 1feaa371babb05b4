r"""Parses and prints names and ids of tables. It handles text only and looks nothing up.

Namespace levels are joined with `.`. Inside a level or a table name `~` is escaped as `~~` and `.` as `~d`, so the text
is reversible and ordinary names are unchanged. URL path segments also escape `/` as `~s` and a backslash as `~b`,
because proxies rewrite both. A character that would break a line of a log or a label is `~u` and four hexadecimal
digits; an empty level is `~e`.

Facts and paths contain these escapes. Responses, labels and events contain plain names (`TableName.plain`).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from limnograph.domain.errors import InvalidInput

_BREAKING = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
"""Control characters, line separators and unpaired surrogates (Unicode categories Cc, Zl, Zp, Cs)."""
_ESCAPE = re.compile(r"~(u[0-9a-f]{4}|.)", re.DOTALL)
_PLAIN = {"~": "~", "d": ".", "s": "/", "b": "\\", "e": ""}


def escape_level(level: str) -> str:
    """One namespace level as text: `a.b` -> `a~db`."""
    if not level:
        return "~e"
    return _BREAKING.sub(lambda m: f"~u{ord(m[0]):04x}", level.replace("~", "~~").replace(".", "~d"))


def unescape_level(text: str) -> str:
    """Inverse of `escape_level`."""
    return _ESCAPE.sub(lambda m: chr(int(m[1][1:], 16)) if len(m[1]) == 5 else _PLAIN.get(m[1], m[0]), text)


def plain_level(text: str) -> str:
    """A level for display: unescaped, except that a character that breaks lines is written as in Python's `repr`."""
    return _BREAKING.sub(lambda m: f"\\u{ord(m[0]):04x}", unescape_level(text)) if "~" in text else text


class PlainName(NamedTuple):
    """A name as in responses, labels and events. Levels are joined with `.`, so two names may have the same plain form;
    paths (`page_paths`, the routes) distinguish them.
    """

    catalog: str
    namespace: str
    table: str

    def __str__(self) -> str:
        return ".".join(part for part in self if part)


class TableName(NamedTuple):
    """`catalog`, `namespace` (levels joined with `.`) and `table`, all escaped."""

    catalog: str
    namespace: str
    table: str

    @classmethod
    def from_plain(cls, catalog: str, namespace: str, table: str) -> TableName:
        """Parse a plain name; each dot of the namespace is taken as a separator of levels."""
        levels = namespace.split(".") if namespace else []
        return cls.of(catalog, levels, escape_level(table))

    @property
    def plain(self) -> PlainName:
        """Without escapes."""
        if "~" not in self.namespace and "~" not in self.table:
            return PlainName(*self)
        return PlainName(self.catalog, ".".join(map(plain_level, self.namespace.split("."))), plain_level(self.table))

    @property
    def unsafe(self) -> bool:
        """Whether a part is empty or contains a character that breaks lines; such a table is not read."""
        return any(m[1] == "e" or len(m[1]) == 5 for part in self[1:] for m in _ESCAPE.finditer(part))

    @classmethod
    def of(cls, catalog: str, levels: Sequence[str], table: str) -> TableName:
        """Build a name from the parts that a catalog lists; `levels` are unescaped."""
        return cls(catalog, ".".join(map(escape_level, levels)), table)

    @classmethod
    def parse(cls, text: str, field: str = "table") -> TableName:
        """Parse `lake.sales.orders`: the first level is the catalog, the last one the table. Raises InvalidInput."""
        parts = text.split(".")
        if len(parts) < 3 or not all(parts):
            raise InvalidInput(field, f"{text!r} is not a table name; write catalog.namespace.table")
        return cls(parts[0], ".".join(parts[1:-1]), parts[-1])

    @property
    def levels(self) -> tuple[str, ...]:
        """Namespace levels, unescaped, as catalogs expect them."""
        return tuple(unescape_level(level) for level in self.namespace.split(".")) if self.namespace else ()

    def __str__(self) -> str:
        return ".".join(part for part in self if part)


def path_segment(text: str) -> str:
    """A namespace (already escaped) or an escaped table name as one URL path segment."""
    return text.replace("/", "~s").replace("\\", "~b")


def from_path_segment(text: str) -> str:
    """Inverse of `path_segment`."""
    return _ESCAPE.sub(lambda found: {"s": "/", "b": "\\"}.get(found[1], found[0]), text)


def normalise_location(location: str) -> str:
    """The canonical spelling of a location: `file:/x`, `/x` -> `file:///x`; `s3a`, `s3n` -> `s3`; no trailing slash."""
    text = location.strip()
    if text.startswith("/"):
        text = "file://" + text
    elif match := re.match(r"file:/+(.*)$", text):
        text = "file:///" + match[1]
    text = re.sub(r"^s3[an]://", "s3://", text)
    return text.rstrip("/") if not text.endswith("://") else text


LOCATION_UUID = "loc:"
"""Prefix of the substitute for a missing table uuid."""


def location_uuid(location: str) -> str:
    """Substitute for a missing table uuid: `loc:` + 32 hex digits of SHA-256 of the normalised location."""
    return LOCATION_UUID + hashlib.sha256(normalise_location(location).encode()).hexdigest()[:32]


NO_CATALOG = "files"
"""Catalog in the names of tables without a catalog."""


class Patterns:
    """Patterns over dotted names: `*` matches one level (or a part of one), `**` any number of levels; between two dots
    also zero.
    """

    def __init__(self, patterns: Iterable[str]) -> None:
        # Without patterns nothing matches, not even the empty name. DOTALL: a level may contain a line break.
        self._any = re.compile("|".join(map(_expression, patterns)) or r"(?!)", re.DOTALL)

    def match(self, name: str) -> bool:
        """Whether any pattern matches the whole name."""
        return self._any.fullmatch(name) is not None

    def match_table(self, name: str) -> bool:
        """Whether any pattern matches `catalog.namespace.table`; a table without a catalog also matches by its name
        without `files.`, as in the settings.
        """
        return self.match(name) or (name.startswith(f"{NO_CATALOG}.") and self.match(name[len(NO_CATALOG) + 1 :]))


def _expression(pattern: str) -> str:
    """A pattern as a regular expression."""
    parts = []
    for part in re.split(r"((?:(?<=[.])|^)[*]{2}[.]|[*]+)", pattern):
        if part == "**.":
            parts.append(r"(?:.*\.)?")
        elif part.startswith("*"):
            parts.append(r"[^.]*" if part == "*" else ".*")
        else:
            parts.append(re.escape(part))
    return "".join(parts)


def matches(pattern: str, name: str) -> bool:
    """Whether a pattern matches the table name `catalog.namespace.table`."""
    return _one(pattern).match_table(name)


@lru_cache(maxsize=1024)
def _one(pattern: str) -> Patterns:
    return Patterns((pattern,))
