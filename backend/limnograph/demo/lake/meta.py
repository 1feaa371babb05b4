"""How far the pipeline is: rows of the meta table `snapshots`."""

from __future__ import annotations

from limnograph.demo.folder import Folder
from limnograph.demo.lake.commits import open_table


def meta_rows(folder: Folder) -> int:
    """Rows of the meta table; 0 while there is no such table."""
    from pyiceberg.exceptions import NoSuchTableError

    try:
        head = open_table(folder.place, "limnograph.snapshots").current_snapshot()
    except NoSuchTableError:
        return 0
    return int(head.summary["total-records"] or 0) if head and head.summary else 0
