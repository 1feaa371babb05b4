"""Input of the rules: one table's history along main, as columns."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from limnograph.domain.time import Micros

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
UNKNOWN = -(2**63)
"""Marks an unknown number in a column."""

COLUMNS = (
    *("total_data_files", "total_delete_files", "total_bytes", "total_equality_deletes"),
    *("added_data_files", "removed_data_files", "added_bytes", "added_delete_files", "removed_delete_files"),
    *("target_file_bytes", "debt_saved_files", "debt_files", "manifests", "manifest_bytes", "metadata_bytes"),
    *("live_snapshots", "partitions_total", "skew_max_over_median", "skew_top1_share", "parent_id"),
    *("metadata_log_entries", "partition_files_max", "hot_partition_ratio"),
    *("total_records", "added_records", "total_position_deletes"),
    *("oldest_delete_at", "oldest_snapshot_at", "overlap_depth_max"),
)
FLOAT_COLUMNS = frozenset({"skew_max_over_median", "skew_top1_share", "hot_partition_ratio"})

_DIGITS = 18
_ROW = {name: row for row, name in enumerate(COLUMNS)}
_FLOAT_ROWS = [_ROW[name] for name in COLUMNS if name in FLOAT_COLUMNS]


class CodedTexts(NamedTuple):
    """A text per move: `codes` index `names`, which are distinct; the name None is unknown."""

    codes: Ints
    names: Sequence[str | None]


class TableChange(NamedTuple):
    """A change that is not a commit, as in the meta table `changes`. `at`: microseconds."""

    kind: str
    subject: str | None
    from_value: str | None
    to_value: str | None
    at: Micros
    detail: str | None = None


class TableFacts:
    """Main's moves in time order. Immutable; what is derived from the numbers is computed once.

    times      microseconds, ascending
    ids        snapshot that main moved to
    is_commit  whether it is the first move to that snapshot: a commit, not a return to an earlier state
    cells      `cells[column, move]` in the order of COLUMNS; UNKNOWN where unknown, and floats as their bits
    replaced   whether the snapshot's operation is `replace`
    writers    application name, application id or engine of each snapshot
    hot_partitions  the partition of `hot_partition_ratio`
    changes    all other changes of the table in time order
    """

    def __init__(
        self,
        times: Ints,
        ids: Ints,
        is_commit: Flags,
        cells: Ints,
        *,
        replaced: Flags,
        writers: CodedTexts,
        hot_partitions: CodedTexts,
        changes: Sequence[TableChange] = (),
    ) -> None:
        self.times, self.ids, self.is_commit, self.cells = times, ids, is_commit, cells
        self.replaced, self.writers, self.changes = replaced, writers, changes
        self.hot_partitions = hot_partitions

    @cached_property
    def known(self) -> Floats:
        """All columns as numbers, NaN where unknown."""
        unknown = self.cells == UNKNOWN
        found = self.cells.astype(np.float64)
        found[_FLOAT_ROWS] = self.cells[_FLOAT_ROWS].view(np.float64)
        found[unknown] = np.nan
        return found

    def integers(self, name: str) -> Ints:
        """A column of integers; UNKNOWN where unknown."""
        column: Ints = self.cells[_ROW[name]]
        return column

    def numbers(self, name: str) -> Floats:
        """A column; NaN where unknown."""
        column: Floats = self.known[_ROW[name]]
        return column

    def property_numbers(self, key: str, otherwise: float, scale: int = 1) -> Floats | float:
        """A property of the table times `scale`, at each move from its change on; `otherwise` where it is not set to a
        positive number.
        """
        changes = [change for change in self.changes if change.kind == "property" and change.subject == key]
        if not changes:
            return otherwise
        values = [_positive(change.to_value) for change in changes]
        numbers = np.array(
            [otherwise, *(otherwise if value is None else value * scale for value in values)], np.float64
        )
        found: Floats = numbers[np.searchsorted([change.at for change in changes], self.times, "right")]
        return found

    def property_is_true(self, key: str) -> Flags | np.bool_:
        """Whether a property of the table is `true`, at each move from its change on; otherwise it is not."""
        changes = [change for change in self.changes if change.kind == "property" and change.subject == key]
        if not changes:
            return np.False_
        values = np.array([False, *((change.to_value or "").strip().lower() == "true" for change in changes)])
        found: Flags = values[np.searchsorted([change.at for change in changes], self.times, "right")]
        return found

    def between(self, after: Micros | None, until: Micros) -> TableFacts:
        """Moves after one instant and not after another; changes until the second."""
        first = 0 if after is None else int(self.times.searchsorted(after, "right"))
        last = max(first, int(self.times.searchsorted(until, "right")))
        part = slice(first, last)
        return TableFacts(
            self.times[part],
            self.ids[part],
            self.is_commit[part],
            self.cells[:, part],
            replaced=self.replaced[part],
            writers=CodedTexts(self.writers.codes[part], self.writers.names),
            hot_partitions=CodedTexts(self.hot_partitions.codes[part], self.hot_partitions.names),
            changes=[change for change in self.changes if change.at <= until],
        )


def changed(*columns: Ints) -> Flags:
    """Where a value of any of the columns, which are equally long, differs from the one before; true for the first."""
    found = np.ones(len(columns[0]), np.bool_)
    found[1:] = columns[0][1:] != columns[0][:-1]
    for column in columns[1:]:
        found[1:] |= column[1:] != column[:-1]
    return found


def last_known(before: float | None, values: Floats) -> Floats:
    """Each value, or the last known one before it; NaN if there is none."""
    every = np.concatenate([[np.nan if before is None else before], values])
    at = np.maximum.accumulate(np.where(np.isnan(every), 0, np.arange(len(every))))
    found: Floats = every[at][1:]
    return found


def _positive(text: str | None) -> float | None:
    digits = (text or "").strip()
    return float(digits) if digits.isascii() and digits.isdecimal() and len(digits) < _DIGITS and int(digits) else None


def no_facts(changes: Sequence[TableChange] = ()) -> TableFacts:
    """A table without a single move."""
    nothing, no = np.zeros(0, np.int64), np.zeros(0, np.bool_)
    cells, unnamed = np.zeros((len(COLUMNS), 0), np.int64), CodedTexts(nothing, [])
    return TableFacts(
        nothing, nothing, no, cells, replaced=no, writers=unnamed, hot_partitions=unnamed, changes=changes
    )
