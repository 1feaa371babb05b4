"""Reads `changes` through PyIceberg, and compares two heads of a meta table. Runs no Spark job.

Names and health of all tables are cached between reads; later reads take only the newer files. `changes` only grows;
a compaction keeps the sequence number that it started from, so at most a row is returned twice.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
from pyiceberg import expressions
from pyiceberg.expressions import BooleanExpression
from pyiceberg.io.pyarrow import ArrowScan
from pyiceberg.manifest import ManifestContent
from pyiceberg.table import FileScanTask, Table

from limnograph.adapters.meta.replacing import removes_no_row
from limnograph.domain.facts.meta_tables import ChangeFact
from limnograph.ports.meta_store import NAME_COLUMNS, NAME_KINDS, STATE_COLUMNS

_X: Any = expressions  # its constructors are typed for bound terms; these are names
MANY_SERIES = 500
"""A list of this many values no longer prunes files; the rows are filtered afterwards."""


class ChangesReads:
    """Reads one table; `load` returns its current state."""

    def __init__(self, load: Callable[[], Table]) -> None:
        self._load = load
        self._names: list[ChangeFact] = []
        self._at: int | None = None

    def names(self, head: int | None) -> list[ChangeFact]:
        """See the port."""
        if head is None:
            return []
        if head != self._at:
            table = self._load()
            old = table.snapshot_by_id(self._at) if self._at is not None else None
            if old is not None and only_added(table, self._at, head):
                fresh = _newer_files(table, head, old.sequence_number or 0)
            else:
                self._names, fresh = [], _newer_files(table, head, -1)
            wanted: BooleanExpression = _X.In("kind", set(NAME_KINDS))
            scan = ArrowScan(table.metadata, table.io, table.schema().select(*NAME_COLUMNS), wanted)
            self._names += change_facts(scan.to_table(fresh))
            self._at = head
        return list(self._names)

    def states(self, head: int | None, series: Collection[str]) -> list[ChangeFact]:
        """See the port."""
        if head is None or not series:
            return []
        others: BooleanExpression = _X.NotIn("kind", set(NAME_KINDS))
        if len(series) <= MANY_SERIES:
            others = expressions.And(others, _X.In("table_uuid", set(series)))
        rows = self._load().scan(row_filter=others, selected_fields=STATE_COLUMNS, snapshot_id=head).to_arrow()
        wanted = pa.array(list(series), rows.schema.field("table_uuid").type)
        return change_facts(rows.filter(pc.is_in(rows.column("table_uuid"), wanted)))


def only_added(table: Table, old: int | None, new: int | None) -> bool:
    """Whether no commit between two heads of main removed a row. False if history has expired."""
    while new is not None and new != old:
        snapshot = table.snapshot_by_id(new)
        if snapshot is None or not removes_no_row(snapshot):
            return False
        new = snapshot.parent_snapshot_id
    return new == old


def _newer_files(table: Table, head: int, since: int) -> list[FileScanTask]:
    """Live files of a snapshot whose rows were added after a sequence number."""
    snapshot = table.snapshot_by_id(head)
    found: list[FileScanTask] = []
    for manifest in snapshot.manifests(table.io) if snapshot else ():
        if manifest.content == ManifestContent.DATA and (manifest.sequence_number or 0) > since:
            entries = manifest.fetch_manifest_entry(table.io)
            found += [FileScanTask(entry.data_file) for entry in entries if (entry.sequence_number or 0) > since]
    return found


def change_facts(rows: pa.Table) -> list[ChangeFact]:
    """Rows of `changes` as facts; instants as microseconds."""
    fields = [pa.field(f.name, pa.int64()) if pa.types.is_timestamp(f.type) else f for f in rows.schema]
    return [msgspec.convert(row, ChangeFact) for row in rows.cast(pa.schema(fields)).to_pylist()]
