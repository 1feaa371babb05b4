"""What a commit to a meta table did to its rows: added some, replaced some, or removed some.

Iceberg calls a MERGE that only updates rows an overwrite, as it does one that deletes. Repairs therefore mark theirs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyiceberg.table.snapshots import Snapshot

REPLACES_ROWS = "limnograph-replaces-rows"
"""Property of snapshots in which rows were replaced by rows with the same key, and none was removed."""


def operation(snapshot: Snapshot) -> str | None:
    """The operation in its summary."""
    return None if snapshot.summary is None else str(snapshot.summary.operation.value)


def removes_no_row(snapshot: Snapshot) -> bool:
    """Whether every key that had a row still has one; False if unknown."""
    if snapshot.summary is None:
        return False
    if operation(snapshot) in {"append", "replace"} or snapshot.summary[REPLACES_ROWS] == "true":
        return True
    return operation(snapshot) == "overwrite" and not int(snapshot.summary["deleted-data-files"] or 0)
