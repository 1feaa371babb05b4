"""The facts that rules of findings read, from a table's history."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from limnograph.analysis.findings.facts import COLUMNS, CodedTexts, TableChange, TableFacts, no_facts
from limnograph.domain.finding_limits import THRESHOLD_PROPERTIES
from limnograph.domain.time import Micros
from limnograph.services.lake.columns import INDEX, NULL, Ints, Sheet
from limnograph.services.lake.history import History
from limnograph.services.lake.table import HotTable

WRITERS = ("app_name", "app_id", "engine")
TEXTS = ("operation", *WRITERS, "hot_partition")
READ_COLUMNS = ("committed_at", "sequence_number", "on_main", *COLUMNS, *TEXTS)
"""Columns of `snapshots` that the facts need."""
_KINDS = frozenset({"schema", "spec", "unreadable", "gap"})
_CELLS = np.array([INDEX[name] for name in COLUMNS])
_OPERATION = INDEX["operation"]
_WRITERS = [INDEX[name] for name in WRITERS]
_HOT = INDEX["hot_partition"]


def facts_of(table: HotTable, after: Micros | None = None) -> TableFacts:
    """A table's moves of main after an instant, and its changes. O(rows of the table); the rows of these moves are
    unpacked once, all columns together.
    """
    changes = [
        TableChange(each.kind, each.subject, each.from_value, each.to_value, each.at, each.detail)
        for each in table.changes
        if each.kind in _KINDS or (each.kind == "property" and each.subject in THRESHOLD_PROPERTIES)
    ]
    history = History(table)
    moves, every = history.moves, history.main_snapshots
    first = 0 if after is None else int(moves.searchsorted(after, "right"))
    known = (history.main_places[first:] >= 0).nonzero()[0] + first
    if not len(known):
        return no_facts(changes)
    known = known[np.argsort(moves[known], kind="stable")]
    places, ids = history.main_places[known], every[known]
    start = int(places.min())
    sheet = table.rows.sheet(start, int(places.max()) + 1)
    is_whole = len(places) == sheet.height and bool((places[1:] > places[:-1]).all())
    numbers = sheet.numbers if is_whole else sheet.numbers[:, places - start]
    return TableFacts(
        times=moves[known],
        ids=ids,
        is_commit=_first_moves(ids, every[:first]),
        cells=numbers[_CELLS],
        replaced=numbers[_OPERATION] == _code(sheet, "replace"),
        writers=_writers(numbers[_WRITERS], sheet.words),
        hot_partitions=_coded(numbers[_HOT], sheet.words),
        changes=changes,
    )


def _first_moves(ids: Ints, earlier: Ints) -> NDArray[np.bool_]:
    """Which moves are the first to their snapshot."""
    every = np.concatenate([earlier, ids])
    ordered = np.sort(every)
    if (ordered[1:] != ordered[:-1]).all():  # as always, unless main moved back
        return np.ones(len(ids), np.bool_)
    _, firsts = np.unique(every, return_index=True)
    found = np.zeros(len(earlier) + len(ids), np.bool_)
    found[firsts] = True
    return found[len(earlier) :]


def _code(sheet: Sheet, word: str) -> int:
    return sheet.words.index(word) if word in sheet.words else NULL + 1


def _writers(texts: Ints, words: list[str]) -> CodedTexts:
    """Application name, else its id, else its engine. An empty text is none."""
    if "" in words:
        texts = np.where(texts == words.index(""), NULL, texts)
    names, ids, engines = texts
    chosen = np.where(names != NULL, names, np.where(ids != NULL, ids, engines))
    return _coded(chosen, words)


def _coded(chosen: Ints, words: list[str]) -> CodedTexts:
    if (chosen == chosen[0]).all():
        return CodedTexts(np.zeros(len(chosen), np.int64), [None if chosen[0] == NULL else words[chosen[0]]])
    used, codes = np.unique(chosen, return_inverse=True)
    distinct: dict[str | None, int] = {}
    places = [distinct.setdefault(None if code == NULL else words[code], len(distinct)) for code in used.tolist()]
    return CodedTexts(np.array(places, np.int64)[codes], list(distinct))
