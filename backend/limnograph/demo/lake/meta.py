"""The meta table `snapshots` as the build reads it: how far the pipeline is, and what it recorded."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
from polars import selectors

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


def recorded_rows(folder: Folder, columns: Sequence[str]) -> Mapping[str, Mapping[int, dict[str, Any]]]:
    """Columns of the recorded snapshots, by table (`namespace.table`) and snapshot id; instants in microseconds."""
    key = ("namespace", "table", "snapshot_id")
    scan = open_table(folder.place, "limnograph.snapshots").scan(selected_fields=(*key, *columns))
    found: dict[str, dict[int, dict[str, Any]]] = defaultdict(dict)
    rows = pl.DataFrame(scan.to_arrow())
    for row in rows.with_columns(selectors.datetime().dt.epoch("us")).iter_rows(named=True):
        found[f"{row['namespace']}.{row['table']}"][row["snapshot_id"]] = row
    return found
