"""Deletes that readers merge, and rewrites that writers pay for, as the API returns them. Wire structs, as
`domain/answers/tables.py`.
"""

from __future__ import annotations

from typing import Literal

from limnograph.domain.answers.view import View
from limnograph.domain.time import Millis


class WriteMode(View, frozen=True, kw_only=True):
    """How an operation changes rows: property `write.delete.mode`, `write.update.mode` or `write.merge.mode`.
    `declared` false: it is not set, and `mode` is Iceberg's default.
    """

    operation: Literal["delete", "update", "merge"]
    mode: str
    declared: bool


class MergeOnRead(View, frozen=True, kw_only=True):
    """What scans of the range merged and what row-level commits of the range cost. Null = unknown.

    `modes`: empty for a format without such properties. Live files at the end of the range: `deletes_per_data_file`,
    and `delete_bytes_ratio` of delete bytes to data bytes; `oldest_delete_at`: commit that added the oldest live delete
    file, null without one, if that snapshot has expired, or if the format does not record it.

    `merged_files`: delete files that scans applied per data file they opened; `merged_bytes`: the same in bytes, at the
    average size of the live delete files. `merging_commits` added delete files; the rows in them were `changed_share`
    of the table a day. `rewriting_commits` wrote data files again instead, `rewritten_bytes` in all, and
    `small_rewrites` of them dropped at most 1 % of those rows.

    `fits`: the mode that these numbers speak for; null: not known, `because` of what is missing.
    """

    modes: list[WriteMode]
    data_files: int | None
    bytes: int | None
    delete_files: int | None
    delete_bytes: int | None
    deletes_per_data_file: float | None
    delete_bytes_ratio: float | None
    oldest_delete_at: Millis | None
    merged_files: float | None
    merged_bytes: float | None
    merging_commits: int
    changed_share: float | None
    rewriting_commits: int
    small_rewrites: int | None
    rewritten_bytes: int | None
    fits: Literal["copy-on-write", "merge-on-read"] | None
    because: Literal[
        "no_row_changes",
        "no_scans",
        "deletes_unknown",
        "reads_merge_much",
        "merging_is_cheap",
        "writes_rewrite_much",
        "rewriting_is_cheap",
        "rewriting_unknown",
    ]
