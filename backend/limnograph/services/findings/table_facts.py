"""The facts that rules of findings read, from a table's history."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from limnograph.analysis.findings.facts import COLUMNS, FLOAT_COLUMNS, TableChange, TableFacts
from limnograph.domain.time import Micros
from limnograph.services.lake.columns import NULL, Ints
from limnograph.services.lake.history import History
from limnograph.services.lake.table import HotTable

TEXTS = ("operation", "app_name", "app_id", "engine")
READ_COLUMNS = ("committed_at", "sequence_number", "on_main", *COLUMNS, *TEXTS)
"""Columns of `snapshots` that the facts need."""
_KINDS = frozenset({"schema", "spec", "unreadable", "gap"})


def facts_of(table: HotTable, after: Micros | None = None) -> TableFacts:
    """A table's moves of main after an instant, and its changes. O(rows of the table)."""
    history = History(table)
    first = 0 if after is None else int(history.moves.searchsorted(after, "right"))
    times, places = history.moves[first:], history.main_places[first:]
    known = places >= 0
    times, places = times[known], places[known]
    ids = history.numbers("snapshot_id")[places] if len(places) else np.zeros(0, np.int64)
    order = np.argsort(times, kind="stable")
    times, places, ids = times[order], places[order], ids[order]
    return TableFacts(
        times=times,
        ids=ids,
        is_commit=_first_moves(history, ids, first),
        columns={name: _column(history, name, places) for name in COLUMNS},
        replaced=table.rows.equals("operation", "replace")[places] if len(places) else np.zeros(0, np.bool_),
        writers=_writers(table, places),
        changes=[
            TableChange(each.kind, each.subject, each.from_value, each.to_value, each.at, each.detail)
            for each in table.changes
            if each.kind in _KINDS
        ],
    )


def _first_moves(history: History, ids: Ints, first: int) -> NDArray[np.bool_]:
    """Which moves are the first to their snapshot."""
    earlier = set(history.main_ids[:first])
    found = np.zeros(len(ids), np.bool_)
    for place, snapshot_id in enumerate(ids.tolist()):
        found[place] = snapshot_id not in earlier
        earlier.add(snapshot_id)
    return found


def _column(history: History, name: str, places: Ints) -> NDArray[np.generic]:
    values = history.numbers(name)[places] if len(places) else np.zeros(0, np.int64)
    if name not in FLOAT_COLUMNS:
        return values
    floats = np.ascontiguousarray(values).view(np.float64)
    return np.where(values == NULL, np.nan, floats)


def _writers(table: HotTable, places: Ints) -> list[str | None]:
    """Application name, else its id, else its engine."""
    if not len(places):
        return []
    names, ids, engines = (table.rows.values(name) for name in TEXTS[1:])
    return [str(found) if (found := names[at] or ids[at] or engines[at]) else None for at in places.tolist()]
