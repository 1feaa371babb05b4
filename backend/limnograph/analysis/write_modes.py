"""Copy-on-write or merge-on-read: what row-level commits cost a table's writers, and what merging costs its readers."""

from __future__ import annotations

from typing import Literal, NamedTuple

WriteModeName = Literal["copy-on-write", "merge-on-read"]
WhyMode = Literal[
    "no_row_changes", "no_scans", "deletes_unknown", "reads_merge_much", "merging_is_cheap", "writes_rewrite_much",
    "rewriting_is_cheap", "rewriting_unknown",
]  # fmt: skip
SMALL_CHANGE = 0.01
"""A commit that drops at most this share of the rows that it writes again, or a day that changes less of the table."""
SMALL_COMMITS = 10
"""Such commits from which on copy-on-write does much for little."""
MERGED_FILES = 0.3
"""Delete files merged per data file opened, above which merging costs more than it saves."""


class RowChanges(NamedTuple):
    """Row-level commits of a span.

    rewriting      commits that wrote data files again
    small          of those, the ones that dropped at most SMALL_CHANGE of their rows; None if unknown
    rewritten      bytes that they wrote; None if unknown
    live           bytes of the table; None if unknown
    merging        commits that added delete files
    changed_share  rows deleted by them, per day and row of the table; None if unknown
    """

    rewriting: int
    small: int | None
    rewritten: int | None
    live: int | None
    merging: int
    changed_share: float | None


class ModeVerdict(NamedTuple):
    """The mode that fits; None: not known, or there is nothing to decide."""

    fits: WriteModeName | None
    because: WhyMode


def fitting_mode(changes: RowChanges, scans: int, merged_files: float | None) -> ModeVerdict:
    """Which mode fits the table's writes and reads. `merged_files`: delete files per data file that scans opened; None
    if no scan reports both.
    """
    if not changes.rewriting and not changes.merging:
        return ModeVerdict(None, "no_row_changes")
    if not scans:
        return ModeVerdict(None, "no_scans")
    return _of_merging(changes, merged_files) if changes.merging else _of_rewriting(changes)


def _of_merging(changes: RowChanges, merged_files: float | None) -> ModeVerdict:
    if merged_files is None or changes.changed_share is None:
        return ModeVerdict(None, "deletes_unknown")
    if merged_files > MERGED_FILES and changes.changed_share < SMALL_CHANGE:
        return ModeVerdict("copy-on-write", "reads_merge_much")
    return ModeVerdict("merge-on-read", "merging_is_cheap")


def _of_rewriting(changes: RowChanges) -> ModeVerdict:
    if changes.small is None or changes.rewritten is None or changes.live is None:
        return ModeVerdict(None, "rewriting_unknown")
    if changes.small >= SMALL_COMMITS and changes.rewritten >= changes.live:
        return ModeVerdict("merge-on-read", "writes_rewrite_much")
    return ModeVerdict("copy-on-write", "rewriting_is_cheap")
