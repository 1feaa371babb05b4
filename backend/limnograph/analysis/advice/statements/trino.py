"""Names, literals and conditions of Trino. Pure.

Trino reads names of schemas and tables in lower case and takes `$` and `@` in a table's name for a metadata table or a
version. It executes `optimize` only with conditions that partition values decide: on identity fields, whole periods and
whole ranges of truncated numbers. Infinite floats and -0.0 select nothing there (docs/adr/0047).
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from limnograph.analysis.advice.statements.atoms import Atom, Equal, IsNull, ValueRange
from limnograph.analysis.advice.statements.instants import (
    date_text,
    decimal_size,
    decimal_text,
    time_text,
    timestamp_text,
)
from limnograph.analysis.advice.statements.selection import Conjunction
from limnograph.analysis.advice.statements.subject import NoStatement, StatementTable
from limnograph.analysis.advice.statements.words import checked_name, checked_value, is_plain, shown

_LEVELS = 3


def identifier(name: str) -> str:
    """A name in double quotes. Raises NoStatement: it cannot be written safely."""
    return '"' + checked_name(name).replace('"', '""') + '"'


def table_name(table: StatementTable) -> str:
    """The table's full name; parts are quoted where necessary. Raises NoStatement: Trino cannot address it, or as
    above.
    """
    return ".".join(_part(part) for part in _addressed(table))


def catalog_name(table: StatementTable) -> str:
    """The name of the table's catalog."""
    return _part(_addressed(table)[0])


def metadata_table(table: StatementTable, kind: str) -> str:
    """A metadata table such as `lake.sales."orders$files"`."""
    *place, _ = map(_part, _addressed(table))
    return ".".join((*place, identifier(f"{table.path[-1]}${kind}")))


def _addressed(table: StatementTable) -> tuple[str, ...]:
    path = table.path
    if len(path) != _LEVELS:
        raise NoStatement("Trino addresses tables in a namespace of one level.")
    if "$" in path[-1] or "@" in path[-1]:
        raise NoStatement(f"Trino reads `$` and `@` in the name {shown(path[-1])} as a metadata table or a version.")
    return (table.trino_catalog or path[0], *path[1:])


def _part(name: str) -> str:
    quoted = identifier(name)
    if name != name.lower():
        raise NoStatement(f"Trino reads names of tables in lower case: it cannot address {shown(name)}.")
    return name if is_plain(name) else quoted


def string(text: str) -> str:
    """A string literal; invisible characters are escaped."""
    quoted = checked_value(text).replace("'", "''")
    if quoted.isprintable():
        return f"'{quoted}'"
    escaped = quoted.replace("\\", "\\\\")
    return "U&'" + "".join(c if c.isprintable() else _escape(c) for c in escaped) + "'"


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\{code:04X}" if code <= 0xFFFF else f"\\+{code:06X}"


def condition(conjunction: Conjunction) -> str:
    """The condition of WHERE for one alternative: Trino executes no disjunction over several columns."""
    return " AND ".join(_atom(atom) for atom in conjunction)


def _atom(atom: Atom) -> str:
    if isinstance(atom, IsNull):
        return f"{_column(atom.path)} IS NULL"
    if isinstance(atom, Equal):
        return f"{_column(atom.path)} = {literal(atom.type, atom.value)}"
    if isinstance(atom, ValueRange):
        at = _column(atom.path)
        return f"{at} >= {literal(atom.type, atom.low)} AND {at} < {literal(atom.type, atom.high)}"
    raise NoStatement(f"Trino cannot select partitions of the transform {atom.transform}.")


def _column(path: Iterable[str]) -> str:
    return ".".join(identifier(part) for part in path)


def literal(kind: str, value: float | str | bytes) -> str:
    """A literal of an Iceberg type. Raises NoStatement: a value that Trino compares differently from Iceberg."""
    if isinstance(value, str):
        return string(value)
    if isinstance(value, bytes):
        return _bytes(kind, value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return _float(kind, value)
    return _integer(kind, value)


def _integer(kind: str, value: int) -> str:
    if kind in {"int", "long"}:
        return str(value)
    if kind == "date":
        return f"DATE '{date_text(value)}'"
    if kind == "time":
        return f"TIME '{time_text(value)}'"
    if kind in {"timestamp", "timestamptz"}:
        return f"TIMESTAMP '{timestamp_text(value)}{' UTC' if kind == 'timestamptz' else ''}'"
    if kind.startswith("decimal"):
        precision, scale = decimal_size(kind)
        return f"CAST(DECIMAL '{decimal_text(value, kind)}' AS DECIMAL({precision},{scale}))"
    raise NoStatement(f"Trino does not support columns of type {kind}.")


def _bytes(kind: str, value: bytes) -> str:
    if kind == "uuid":
        raise NoStatement("Trino cannot select partitions by a UUID.")
    return f"X'{value.hex().upper()}'"


def _float(kind: str, value: float) -> str:
    if not math.isfinite(value) or value == 0:
        raise NoStatement("Trino cannot select partitions by infinity, NaN or zero of a float.")
    return f"{'REAL' if kind == 'float' else 'DOUBLE'} '{value!r}'"
