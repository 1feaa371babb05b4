"""Literals of Python. `repr` escapes every character that is not printable. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from limnograph.analysis.advice.statements.subject import StatementTable
from limnograph.analysis.advice.statements.words import checked_value


def string(text: str) -> str:
    """A string literal, in double quotes where it needs no escape."""
    literal = repr(checked_value(text))
    inner = literal[1:-1]
    return literal if '"' in inner or "\\" in inner else f'"{inner}"'


def strings(texts: Sequence[str]) -> str:
    """A tuple of string literals."""
    return f"({', '.join(map(string, texts))}{',' if len(texts) == 1 else ''})"


def loading(table: StatementTable) -> str:
    """The lines that load an Iceberg table by PyIceberg. Raises NoStatement: there is no catalog."""
    catalog, *names = table.path
    return (
        "from pyiceberg.catalog import load_catalog\n\n"
        f"table = load_catalog({string(catalog)}).load_table({strings(names)})\n"
    )
