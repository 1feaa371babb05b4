"""Parameters of a request with a cursor: omitted ones are taken from the cursor, contradicting ones are rejected."""

from __future__ import annotations

from typing import Any

from litestar import Request

from limnograph.domain import cursors
from limnograph.domain.cursors import Kind
from limnograph.domain.errors import InvalidInput
from limnograph.domain.ids import TableName


def resolved(
    request: Request[Any, Any, Any],
    of: Kind,
    cursor: str | None,
    asked: dict[str, Any],
    table: TableName | None = None,
) -> dict[str, Any]:
    """Parameter values by wire name. `asked`: values passed to the handler, defaults included. Raises InvalidInput,
    which names `cursor` or the parameter that contradicts it.
    """
    if cursor is None:
        return asked
    question = cursors.question_of(cursor)
    if (question.of, question.table) != (of, None if table is None else str(table)):
        its = "a list of " + question.of + (f" of {question.table}" if question.table else "")
        raise InvalidInput("cursor", f"belongs to {its}; omit it to start at the first page")
    found = {}
    for name, value in asked.items():
        held = question.value(name)
        if name in request.query_params and not _same(value, held):
            begun = "without it" if held is None else f"with {held!r}"
            remedy = f"omit `{name}` to continue, or `cursor` to start at the first page"
            raise InvalidInput(name, f"contradicts the cursor, which was issued {begun}; {remedy}")
        found[name] = value if held is None else held
    return found


def _same(value: Any, held: Any) -> bool:
    """Whether a parameter agrees with the cursor: an empty filter equals none, and search text is case-insensitive."""
    if isinstance(value, str) and isinstance(held, str | None):
        return value.casefold() == (held or "").casefold()
    return bool(value == held)
