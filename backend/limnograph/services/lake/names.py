"""Which names a table has and had, derived from its changes."""

from __future__ import annotations

from collections.abc import Iterable

from limnograph.domain.facts.meta_tables import ChangeFact
from limnograph.domain.ids import TableName


def standing_names(changes: Iterable[ChangeFact]) -> dict[str, ChangeFact]:
    """The newest `named` or `dropped` change of every name a table ever had, oldest first."""
    found: dict[str, ChangeFact] = {}
    for change in sorted(changes, key=lambda change: change.at):
        if change.kind in {"named", "dropped"}:
            name = str(TableName(change.catalog or "", change.namespace or "", change.table or ""))
            found.pop(name, None)
            found[name] = change
    return found
