"""The names under which engines may have reported a table."""

from __future__ import annotations

from limnograph.domain.ids import TableName
from limnograph.domain.time import Micros
from limnograph.services.lake.history import History, standing_names

_NEVER = Micros(2**62)


def names_of(history: History) -> dict[TableName, Micros]:
    """The names of a table, each with the instant at which it lost it: afterwards another table may have it."""
    found = {history.name: _NEVER}
    for change in standing_names(history.changes).values():
        name = TableName(change.catalog or "", change.namespace or "", change.table or "")
        found[name] = change.at if change.kind == "dropped" else _NEVER
    return found
