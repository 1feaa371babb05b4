"""Suffixes of table names in Iceberg's engines: a metadata table (`orders.files`, `orders$files`, `/orders#files`), a
branch or tag (`orders.branch_audit`), a snapshot or an instant. A suffix selects a part of the table and does not name
another table.
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
"""Metadata tables of Iceberg's `MetadataTableType`, Spark's `changes`, and those of Trino; case-insensitive."""
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
    """The selector that the level after a table's name spells; None if it is not a selector."""
    if level.lower() in METADATA_TABLES:
        return TableSelector(metadata_table=level.lower())
    if found := _ID.fullmatch(level):
        return TableSelector(snapshot_id=int(found[1]) if int(found[1]) < 2**63 else None, past=True)
    if _INSTANT.fullmatch(level):
        return TableSelector(past=True)
    found = _REF.fullmatch(level)
    return TableSelector(ref=found[2]) if found else None


def split_name(name: str) -> tuple[str, TableSelector] | None:
    """Split `orders$files` or `orders#branch_x` into name and selector; None without a selector."""
    for sign in ("$", "#"):
        base, found, level = name.rpartition(sign)
        if found and base and (selector := selector_of(level)) is not None:
            return base, selector
    return None


def split_folder(location: str) -> tuple[str, TableSelector] | None:
    """Split `…/orders/files` or `…/orders#files` into the table's folder and the selector; None without a selector."""
    folder, _, last = location.rstrip("/").rpartition("/")
    if folder and (selector := selector_of(last)) is not None:
        return folder, selector
    if folder and (split := split_name(last)) is not None:
        return f"{folder}/{split[0]}", split[1]
    return None
