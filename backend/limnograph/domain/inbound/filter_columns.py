"""The columns that a filter of an Iceberg client names. A filter's literals are data of the table and are not kept."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

MOST = 100
"""Columns of one filter that are kept."""
LONGEST = 1_000
DEEPEST = 100
_EVERYTHING = ("", "true", True)


def filter_columns(expression: Any) -> list[str] | None:
    """Names of the columns in an expression of the REST specification, or in its JSON, in order of appearance; empty
    for a filter that selects everything. None if they are not known: no filter was sent, or it is other text, where a
    literal may look like the name of a column.
    """
    if expression is None:
        return None
    if isinstance(expression, str) and expression.startswith("{"):
        expression = _parsed(expression)
    if not isinstance(expression, dict):
        return [] if expression in _EVERYTHING else None
    return list(dict.fromkeys(_terms(expression, DEEPEST)))[:MOST]


def _parsed(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.MsgspecError, RecursionError):
        return text


def _terms(expression: Any, depth: int) -> Iterator[str]:
    if not isinstance(expression, dict) or not depth:
        return
    for child in ("left", "right", "child"):
        yield from _terms(expression.get(child), depth - 1)
    term = expression.get("term")
    while isinstance(term, dict):  # a transform or a reference, around the name
        term = term.get("term")
    if isinstance(term, str) and 0 < len(term) <= LONGEST:
        yield term
