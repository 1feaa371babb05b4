"""The embedded engine with the query of the hot index: rows of the data files appended since a meta snapshot."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from limnograph.adapters.embedded import frames
from limnograph.adapters.embedded.engine import EmbeddedEngine, files, local_path, through_pyiceberg
from limnograph.adapters.embedded.plan import planned
from limnograph.adapters.meta.replacing import operation, removes_no_row
from limnograph.domain.errors import SourceUnavailable
from limnograph.ports.query_engine import MetaQuery

if TYPE_CHECKING:
    from pyiceberg.table import Table as IcebergTable
    from pyiceberg.table.snapshots import Snapshot


class FreshEngine(EmbeddedEngine):
    """Port `Fresh`. A new head costs a plan of both snapshots and the rows of the new files."""

    def unordered(self, query: MetaQuery) -> pl.DataFrame:
        """The rows of `select`, unsorted: sorting a window's rows takes longer than reading them."""
        return self._twice(query, in_order=False)

    def fresh(self, query: MetaQuery, since_snapshot: int) -> pl.DataFrame | None:
        """Rows of current files that did not exist at `since_snapshot`. Compaction alone changes no rows."""
        table = self._load(query.table)
        later = _later(table, since_snapshot) if table else None
        if table is None or later is None or not all(map(removes_no_row, later)):
            return None
        compacted = all(operation(one) == "replace" for one in later)
        try:
            return frames.empty(query) if compacted else _new_rows(table, query, since_snapshot)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, pl.exceptions.PolarsError) as error:
            raise SourceUnavailable("meta", f"cannot read {query.table}: {error}") from error


def _new_rows(table: IcebergTable, query: MetaQuery, since_snapshot: int) -> pl.DataFrame:
    before = {task.file.file_path for task in planned(table, query, table.snapshot_by_id(since_snapshot))}
    tasks = [task for task in planned(table, query, table.current_snapshot()) if task.file.file_path not in before]
    if not tasks:
        return frames.empty(query)
    local = [path for task in tasks if (path := local_path(task.file.file_path))]
    if len(local) < len(tasks) or any(task.delete_files for task in tasks):
        return frames.answer(through_pyiceberg(table, tasks, query), query)
    return frames.answer(files(local, query), query)


def _later(table: IcebergTable, since: int) -> list[Snapshot] | None:
    """The snapshots after `since`; None if `since` is not among the retained ancestors."""
    found: list[Snapshot] = []
    snapshot = table.current_snapshot()
    while snapshot is not None and snapshot.snapshot_id != since:
        found.append(snapshot)
        parent = snapshot.parent_snapshot_id
        snapshot = table.snapshot_by_id(parent) if parent is not None else None
    return found if snapshot is not None else None
