"""Input of the rules: one table's history along main, as columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
)
FLOAT_COLUMNS = frozenset({"skew_max_over_median", "skew_top1_share"})


class TableChange(NamedTuple):
    """A change that is not a commit, as in the meta table `changes`. `at`: microseconds."""

    kind: str
    subject: str | None
    from_value: str | None
    to_value: str | None
    at: Micros
    detail: str | None = None


class TableFacts(NamedTuple):
    """Main's moves in time order.

    times      microseconds, ascending
    ids        snapshot that main moved to
    is_commit  whether it is the first move to that snapshot: a commit, not a return to an earlier state
    columns    COLUMNS, each with a value per move; UNKNOWN or NaN where unknown
    replaced   whether the snapshot's operation is `replace`
    writers    application name, application id or engine of each snapshot; None if unknown
    changes    all other changes of the table in time order
    """

    times: Ints
    ids: Ints
    is_commit: Flags
    columns: Mapping[str, NDArray[np.generic]]
    replaced: Flags
    writers: Sequence[str | None]
    changes: Sequence[TableChange] = ()

    def integers(self, name: str) -> Ints:
        """A column; UNKNOWN where unknown."""
        return self.columns[name].astype(np.int64, copy=False)

    def numbers(self, name: str) -> Floats:
        """A column; NaN where unknown."""
        column = self.columns[name]
        if name in FLOAT_COLUMNS:
            return column.astype(np.float64, copy=False)
        return np.where(column == UNKNOWN, np.nan, column)

    def between(self, after: Micros | None, until: Micros) -> TableFacts:
        """Moves after one instant and not after another; changes until the second."""
        first = 0 if after is None else int(self.times.searchsorted(after, "right"))
        last = max(first, int(self.times.searchsorted(until, "right")))
        part = slice(first, last)
        return TableFacts(
            self.times[part],
            self.ids[part],
            self.is_commit[part],
            {name: column[part] for name, column in self.columns.items()},
            self.replaced[part],
            self.writers[part],
            [change for change in self.changes if change.at <= until],
        )


def no_facts(changes: Sequence[TableChange] = ()) -> TableFacts:
    """A table without a single move."""
    nothing, no = np.zeros(0, np.int64), np.zeros(0, np.bool_)
    floats = np.zeros(0, np.float64)
    columns: dict[str, NDArray[np.generic]] = {name: floats if name in FLOAT_COLUMNS else nothing for name in COLUMNS}
    return TableFacts(nothing, nothing, no, columns, no, [], changes)
