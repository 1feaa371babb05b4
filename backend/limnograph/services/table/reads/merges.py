"""What readers of a table merge, what its writers rewrite, and which write mode fits. Part of the page of reads."""

from __future__ import annotations

from typing import Literal

import numpy as np

from limnograph.analysis.write_modes import SMALL_CHANGE, RowChanges, fitting_mode
from limnograph.domain.answers.merge_on_read import MergeOnRead, WriteMode
from limnograph.domain.answers.reads import ReadNumbers
from limnograph.domain.facts.meta_tables import SnapshotFact
from limnograph.domain.time import Micros, to_millis
from limnograph.services.lake.columns import NULL, Ints
from limnograph.services.lake.history import History
from limnograph.services.rollups.fold import DAY
from limnograph.services.table.reads.numbers import ratio

DEFAULT_MODE = "copy-on-write"
_OPERATIONS: tuple[Literal["delete", "update", "merge"], ...] = ("delete", "update", "merge")
_ROW_LEVEL = ("overwrite", "delete")


def merge_on_read(history: History, total: ReadNumbers, start: Micros, end: Micros) -> MergeOnRead:
    """The table at the end of a range, and its row-level commits and scans in it. O(rows of the history)."""
    place = history.place_at(Micros(end - 1))
    head = history.fact(place) if place >= 0 else None
    changes = _row_changes(history, head, start, end)
    verdict = fitting_mode(changes, total.scans, total.deletes_per_file)
    size = ratio(head.total_delete_bytes, head.total_delete_files) if head else None
    merged = total.deletes_per_file
    return MergeOnRead(
        modes=_modes(history, end) if head is not None and head.format == "iceberg" else [],
        data_files=head.total_data_files if head else None,
        bytes=head.total_bytes if head else None,
        delete_files=head.total_delete_files if head else None,
        delete_bytes=head.total_delete_bytes if head else None,
        deletes_per_data_file=ratio(head.total_delete_files, head.total_data_files) if head else None,
        delete_bytes_ratio=ratio(head.total_delete_bytes, head.total_bytes) if head else None,
        oldest_delete_at=to_millis(head.oldest_delete_at) if head else None,
        merged_files=merged,
        merged_bytes=0.0 if merged == 0 else None if merged is None or size is None else merged * size,
        merging_commits=changes.merging,
        changed_share=changes.changed_share,
        rewriting_commits=changes.rewriting,
        small_rewrites=changes.small,
        rewritten_bytes=changes.rewritten,
        fits=verdict.fits,
        because=verdict.because,
    )


def _modes(history: History, end: Micros) -> list[WriteMode]:
    """The modes that the table's properties declare at an instant, else the format's default."""
    known = {change.subject: change.to_value for change in history.of_kind("property") if change.at < end}
    found = []
    for operation in _OPERATIONS:
        declared = known.get(f"write.{operation}.mode")
        found.append(WriteMode(operation=operation, mode=declared or DEFAULT_MODE, declared=declared is not None))
    return found


def _row_changes(history: History, head: SnapshotFact | None, start: Micros, end: Micros) -> RowChanges:
    """Row-level commits among main's moves in `[start, end)`."""
    moves, places = history.moves, history.main_places
    columns = ("added_data_files", "removed_data_files", "added_delete_files", "added_bytes", "added_records")
    files, removed, deletes, size, rows = (history.main_numbers(name) for name in columns)
    total = history.main_numbers("total_records")
    dropped = np.where((total != NULL) & (_before(total) != NULL), _before(total) - total, NULL)
    inside = (moves >= start) & (moves < end) & (places >= 0)
    operations = [history.table.rows.equals("operation", name) for name in _ROW_LEVEL]
    row_level = inside & np.logical_or(*operations)[places] if len(operations[0]) else inside
    rewriting = row_level & (files > 0) & (removed > 0) & ~(deletes > 0)
    merging = row_level & (deletes > 0)
    known = (rows != NULL) & (dropped != NULL)
    small = dropped <= SMALL_CHANGE * (rows + np.maximum(dropped, 0))
    live = head.total_records if head else None
    marked = _marked(history)
    days = (end - start) / DAY
    share = None if marked is None else ratio(int(marked[merging].sum()), live)
    return RowChanges(
        rewriting=int(rewriting.sum()),
        small=int((rewriting & small).sum()) if known[rewriting].all() else None,
        rewritten=int(size[rewriting].sum()) if (size[rewriting] != NULL).all() else None,
        live=head.total_bytes if head else None,
        merging=int(merging.sum()),
        changed_share=None if share is None or not merging.any() else share / days,
    )


def _marked(history: History) -> Ints | None:
    """By which number each move raised the rows in delete files; None if a number is unknown."""
    position, equality = (history.main_numbers(f"total_{kind}_deletes") for kind in ("position", "equality"))
    if not len(position) or (position == NULL).any() or (equality == NULL).any():
        return None
    total: Ints = position + equality
    increase: Ints = np.maximum(total - _before(total, first=int(total[0])), 0)
    return increase


def _before(values: Ints, first: int = NULL) -> Ints:
    """The value of the move before each."""
    return np.concatenate([np.array([first], np.int64), values[:-1]])
