"""Progress of the pipeline: the number of rows in the meta table `snapshots`."""

from __future__ import annotations

from limnograph.demo.folder import Folder
from limnograph.demo.lake.commits import open_table


def meta_rows(folder: Folder) -> int:
    """Number of rows in the meta table; 0 before it exists."""
    from pyiceberg.exceptions import NoSuchTableError

    try:
        head = open_table(folder.place, "limnograph.snapshots").current_snapshot()
    except NoSuchTableError:
        return 0
    return int(head.summary["total-records"] or 0) if head and head.summary else 0
