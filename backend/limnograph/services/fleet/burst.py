"""Burst of small files: the largest commit of a range that is no rewrite, if it is large, unusual and adds small files.

Computed from one table's history here, and for all tables at once in `burst_columns.py`, with the same thresholds.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from limnograph.analysis.alignment import median
from limnograph.domain.thresholds import Thresholds
from limnograph.domain.time import Micros
from limnograph.services.lake.columns import INDEX, NULL, Ints
from limnograph.services.lake.history import CommitColumns, History
from limnograph.services.lake.table import HotTable

_CELLS = tuple(
    INDEX[name]
    for name in ("snapshot_id", "committed_at", "operation", "added_data_files", "added_bytes", "total_data_files")
)
NEVER = np.int64(2**62)
"""Marks a commit whose files are not small: no number of files reaches a share of this value."""


class Burst(NamedTuple):
    """A commit that is a burst. `before`: data files before the commit, None if unknown. `at`: microseconds."""

    snapshot_id: int
    at: Micros
    operation: str | None
    files: int
    bytes: int | None
    total: int | None
    before: int | None


def burst(commits: CommitColumns, history: History, limits: Thresholds) -> Burst | None:
    """The burst of a range, if any."""
    added = commits.numbers("added_data_files")
    if not len(added) or added.max() < limits.burst_files:
        return None
    places = np.flatnonzero((added != NULL) & ~commits.are("replace"))
    if not len(places):
        return None
    place = places[added[places].argmax()]
    files = int(added[place])
    usual = median(added[places[places != place]].tolist()) or 0
    if files < max(limits.burst_files, limits.burst_over_usual * usual):
        return None
    row = commits.first + int(place)
    before = int(files_before(history, np.array([row]), limits)[0])
    return None if before != NULL and files < limits.burst_share * before else burst_at(history.table, row, before)


def files_before(history: History, places: Ints, limits: Thresholds) -> Ints:
    """Data files before each of some commits: by the row's own count, else its parent's, else NULL. NEVER if the added
    files are not small for the table; if their size or the target is unknown they count as small.
    """
    files, size, target, total, removed, parents = (
        history.numbers(name)[places]
        for name in (
            *("added_data_files", "added_bytes", "target_file_bytes", "total_data_files", "removed_data_files"),
            "parent_id",
        )
    )
    before = np.where((total != NULL) & (removed != NULL), total - files + removed, NULL)
    for asked in np.flatnonzero((before == NULL) & (parents != NULL)).tolist():
        held = np.flatnonzero(history.numbers("snapshot_id") == parents[asked])
        before[asked] = history.numbers("total_data_files")[held[-1]] if len(held) else NULL
    known = (size != NULL) & (target != NULL) & (files > 0)
    average = np.where(known, size, 0) / np.maximum(files, 1)
    return np.where(known & (average >= limits.burst_small_share * target), NEVER, before)


def burst_at(table: HotTable, place: int, before: int) -> Burst:
    """The row at an index as a burst; `before` NULL if unknown."""
    block, row = table.rows.holding(place)
    snapshot_id, at, operation, files, size, total = block.cells(row, _CELLS)
    told = None if operation == NULL else block.texts()[operation]
    return Burst(snapshot_id, Micros(at), told, files, _known(size), _known(total), _known(before))


def _known(number: int) -> int | None:
    return None if number == NULL else number
