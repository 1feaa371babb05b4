"""What a table's metadata says about an action: commits with its stamp, their files, and whether files exist."""

from __future__ import annotations

import msgspec

from limnograph.domain.metadata.table import TableMetadata

CHECKED_ALL, CHECKED_SAMPLE = 10_000, 100
"""Up to so many live files, all of them are checked to exist; of more, a sample."""
MOST_MISSING = 20
"""Locations of missing files that evidence names."""


class EvidenceRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Which action to look for.

    plan_id       the stamp
    groups        partitions `(spec id, text)` of each group of the plan
    deletes       whether the groups' files are position delete files, not data files
    compare_live  whether to compare the live files before and after, for an action that may change none
    every_snapshot  whether to check the files of all retained snapshots, not only of main's current one
    """

    plan_id: str
    groups: list[list[tuple[int, str]]] = []
    deletes: bool = False
    compare_live: bool = False
    every_snapshot: bool = False


class ChangedFiles(msgspec.Struct, frozen=True, kw_only=True):
    """Distinct files. `rows`: records that they contain, before deletes apply; `sha256`: as `files_digest`."""

    files: int
    bytes: int
    rows: int
    sha256: str


class TableEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """The table at one metadata file.

    metadata   with the snapshots' times and parents
    stamped    snapshots that carry the stamp, oldest first
    groups     files that the stamped commits removed in each group; `elsewhere`: number of those in no group
    removed_data, removed_deletes, added_data, added_deletes  all files of the stamped commits
    live_before, live_after  live files of the commit before the first stamped one, and of the last stamped one; None:
               not requested, or not stamped
    checked    files whose existence was checked; `missing`: those that do not exist, at most MOST_MISSING
    missing_count  all that do not exist
    """

    metadata: TableMetadata
    stamped: list[int]
    groups: list[ChangedFiles]
    elsewhere: int
    removed_data: ChangedFiles
    removed_deletes: ChangedFiles
    added_data: ChangedFiles
    added_deletes: ChangedFiles
    live_before: ChangedFiles | None
    live_after: ChangedFiles | None
    checked: int
    missing: list[str]
    missing_count: int
