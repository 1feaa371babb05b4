"""Commits in memory by snapshot id, and by the application that wrote them, over all tables.

Cost law: one comparison of a column per block of at most 1,024 rows; the texts of blocks are shared, so each different
one is searched once. No index is kept: 3 million commits cost a quarter of a second of a thread, and no memory.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from limnograph.domain.time import Micros
from limnograph.services.lake.columns import AT, ID, INDEX, NULL
from limnograph.services.lake.packing import Block
from limnograph.services.lake.table import HotTable

_APPLICATION = (INDEX["app_id"], INDEX["app_name"])


class FoundCommit(NamedTuple):
    """A commit; `at` in microseconds, None if unknown."""

    table: HotTable
    snapshot_id: int
    at: Micros | None


class FoundApplication(NamedTuple):
    """The commits of one application id or name: their number, that of their tables, and the newest one."""

    text: str
    commits: int
    tables: int
    newest: FoundCommit


def commits_with(tables: Iterable[HotTable], snapshot_id: int, limit: int) -> list[FoundCommit]:
    """Commits with an id, at most one per table, by table."""
    found: list[FoundCommit] = []
    for table in tables:
        for block in table.rows.blocks:
            places = np.flatnonzero(block.column(ID) == snapshot_id)
            if len(places):
                found.append(FoundCommit(table, snapshot_id, _instant(int(block.column(AT)[places[0]]))))
                break
        if len(found) >= limit:
            break
    return found


def applications_with(tables: Iterable[HotTable], text: str, limit: int) -> list[FoundApplication]:
    """Applications whose id or name contains a text, regardless of case, those with the newest commits first."""
    folded, words = text.casefold(), dict[str, frozenset[int]]()
    found: dict[str, _Tally] = defaultdict(_Tally)
    for table in tables:
        for block in table.rows.blocks:
            wanted = words.get(block.words)
            if wanted is None:
                wanted = frozenset(at for at, word in enumerate(block.texts()) if folded in word.casefold())
                words[block.words] = wanted
            for code in wanted:
                _count(found, table, block, code)
    every = [
        FoundApplication(text, tally.commits, len(tally.tables), tally.newest)
        for text, tally in found.items()
        if tally.newest is not None
    ]
    return sorted(every, key=lambda each: (each.text.casefold() != folded, -(each.newest.at or 0), each.text))[:limit]


class _Tally:
    """The commits of one application so far."""

    def __init__(self) -> None:
        self.commits, self.tables = 0, set[str]()
        self.newest: FoundCommit | None = None


def _count(found: dict[str, _Tally], table: HotTable, block: Block, code: int) -> None:
    """Add the commits of one application in a block."""
    rows = np.flatnonzero(np.logical_or(*(block.column(index) == code for index in _APPLICATION)))
    if not len(rows):
        return  # the text is of another column, such as the operation
    snapshot_id, at = block.cells(int(rows[-1]), (ID, AT))
    tally, commit = found[block.texts()[code]], FoundCommit(table, snapshot_id, _instant(at))
    tally.commits += len(rows)
    tally.tables.add(table.uuid)
    if tally.newest is None or (commit.at or 0) > (tally.newest.at or 0):
        tally.newest = commit


def _instant(cell: int) -> Micros | None:
    return None if cell == NULL else Micros(cell)
