"""Names, literals and conditions of Spark SQL. Pure.

Literals follow Spark's defaults (`spark.sql.parser.escapedStringLiterals=false`): a backslash escapes. `${` would be
replaced by a variable, even within a literal. What a client that does not track quoted identifiers could take for the
end of the statement or for a comment is escaped too.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from uuid import UUID

from limnograph.analysis.advice.statements.atoms import Atom, Equal, IsNull, Transformed, ValueRange
from limnograph.analysis.advice.statements.instants import date_text, decimal_size, decimal_text, timestamp_text
from limnograph.analysis.advice.statements.selection import Conjunction
from limnograph.analysis.advice.statements.subject import NoStatement
from limnograph.analysis.advice.statements.words import checked_name, checked_value, is_plain

_ESCAPED = re.compile(r"\$(?=\{)|;|(?<=-)-|(?<=/)\*|(?<=\*)/")
_UUID_BYTES = 16
_INT, _LONG = 2**31, 2**63
"""A larger number is a long only with a suffix."""


def identifier(name: str) -> str:
    """A column's name in backticks. Raises NoStatement: it cannot be written safely."""
    return f"`{checked_name(name).replace('`', '``')}`"


def column(path: Iterable[str]) -> str:
    """A column within structs: "`a`.`b`"."""
    return ".".join(identifier(part) for part in path)


def name(path: Iterable[str]) -> str:
    """A table's or procedure's name; parts are quoted where necessary."""
    return ".".join(part if is_plain(part) else identifier(part) for part in path)


def string(text: str) -> str:
    """A string literal."""
    escaped = checked_value(text).replace("\\", "\\\\").replace("'", "\\'")
    escaped = _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", escaped)
    return "'" + "".join(c if c.isprintable() else _escape(c) for c in escaped) + "'"


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def condition(conjunctions: Sequence[Conjunction], catalog: str | None) -> str:
    """The condition of `where`. `catalog`: the one whose functions compute transforms; None: there is none. Equalities
    are joined by OR: a scan with IN fails on a partition whose value is null (docs/adr/0047).
    """
    texts = [" AND ".join(_atom(atom, catalog) for atom in conjunction) for conjunction in conjunctions]
    return texts[0] if len(texts) == 1 else " OR ".join(f"({text})" for text in texts)


def _atom(atom: Atom, catalog: str | None) -> str:
    if isinstance(atom, IsNull):
        return f"{column(atom.path)} IS NULL"
    if isinstance(atom, Equal):
        return f"{column(atom.path)} = {literal(atom.type, atom.value)}"
    if isinstance(atom, Transformed):
        if catalog is None:
            raise NoStatement(f"Without a catalog, Spark has no function {atom.transform}.")
        value = str(atom.value) if atom.transform == "bucket" else literal(atom.type, atom.value)
        return f"{name((catalog,))}.system.{atom.transform}({atom.size}, {column(atom.path)}) = {value}"
    return _span(atom)


def _span(atom: ValueRange) -> str:
    at = column(atom.path)
    if atom.type == "date" and atom.high == atom.low + 1:
        return f"{at} = {literal(atom.type, atom.low)}"
    return f"{at} >= {literal(atom.type, atom.low)} AND {at} < {literal(atom.type, atom.high)}"


def literal(kind: str, value: float | str | bytes) -> str:
    """A literal of an Iceberg type. Raises NoStatement: Spark cannot read such a column, or the value is unusual."""
    if isinstance(value, str):
        return string(value)
    if isinstance(value, bytes):
        return _bytes(kind, value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"CAST('{_float(value)}' AS {kind.upper()})"
    return _integer(kind, value)


def _integer(kind: str, value: int) -> str:
    if kind in {"int", "long"}:
        return f"{value}L" if _INT <= abs(value) <= _LONG and value != _LONG else str(value)
    if kind == "date":
        return f"DATE '{date_text(value)}'"
    if kind == "timestamptz":
        return f"TIMESTAMP '{timestamp_text(value)}+00:00'"
    if kind == "timestamp":
        return f"TIMESTAMP_NTZ '{timestamp_text(value)}'"
    if kind.startswith("decimal"):
        precision, scale = decimal_size(kind)
        return f"CAST('{decimal_text(value, kind)}' AS DECIMAL({precision},{scale}))"
    raise NoStatement(f"Spark does not support columns of type {kind}.")


def _bytes(kind: str, value: bytes) -> str:
    if kind == "uuid":
        if len(value) != _UUID_BYTES:
            raise NoStatement("A UUID does not have 16 bytes.")
        return f"'{UUID(bytes=value)}'"
    return f"X'{value.hex().upper()}'"


def _float(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return repr(value)
