"""What follows a table's name in Iceberg's engines: a metadata table (`orders.files`, `orders$files`, `/orders#files`),
a branch or tag (`orders.branch_audit`), a snapshot or an instant. It selects a part of the table and is not a table
itself.
"""

from __future__ import annotations

import re
from typing import NamedTuple

METADATA_TABLES = frozenset(
    (
        "all_data_files",
        "all_delete_files",
        "all_entries",
        "all_files",
        "all_manifests",
        "changes",
        "data_files",
        "delete_files",
        "entries",
        "files",
        "history",
        "manifests",
        "metadata_log_entries",
        "partitions",
        "position_deletes",
        "properties",
        "refs",
        "snapshots",
        "statistics",
        "timestamps",
    )
)
"""Of Iceberg's `MetadataTableType`, Spark's `changes`, and Trino; in any case."""
_ID = re.compile(r"snapshot_id_(\d{1,19})", re.ASCII | re.IGNORECASE)
_INSTANT = re.compile(r"at_timestamp_\d{1,19}", re.ASCII | re.IGNORECASE)
_REF = re.compile(r"(branch|tag)_(.+)", re.IGNORECASE | re.DOTALL)


class TableSelector(NamedTuple):
    """The selected part of a table. `past`: the table at a snapshot or an instant."""

    ref: str | None = None
    metadata_table: str | None = None
    snapshot_id: int | None = None
    past: bool = False


WHOLE = TableSelector()


def selector_of(level: str) -> TableSelector | None:
    """What a level behind a table's name selects; None where it selects nothing."""
    if level.lower() in METADATA_TABLES:
        return TableSelector(metadata_table=level.lower())
    if found := _ID.fullmatch(level):
        return TableSelector(snapshot_id=int(found[1]) if int(found[1]) < 2**63 else None, past=True)
    if _INSTANT.fullmatch(level):
        return TableSelector(past=True)
    found = _REF.fullmatch(level)
    return TableSelector(ref=found[2]) if found else None


def split_name(name: str) -> tuple[str, TableSelector] | None:
    """`orders$files` or `orders#branch_x` in two; None for a name without a selector."""
    for sign in ("$", "#"):
        base, found, level = name.rpartition(sign)
        if found and base and (selector := selector_of(level)) is not None:
            return base, selector
    return None


def split_folder(location: str) -> tuple[str, TableSelector] | None:
    """A table's folder and what is selected of it: `…/orders/files`, `…/orders#files`; None where nothing is."""
    folder, _, last = location.rstrip("/").rpartition("/")
    if folder and (selector := selector_of(last)) is not None:
        return folder, selector
    if folder and (split := split_name(last)) is not None:
        return f"{folder}/{split[0]}", split[1]
    return None
