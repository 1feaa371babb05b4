"""Reads of the meta tables for housekeeping, through PyIceberg: heads, partitions, rows by the age of their files.

Needs no Spark job. Manifest entries are cached by path: manifests never change.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import polars as pl
import pyarrow as pa
from pyiceberg import expressions
from pyiceberg.catalog import Catalog
from pyiceberg.exceptions import NoSuchTableError
from pyiceberg.expressions import AlwaysTrue, BooleanExpression
from pyiceberg.io.pyarrow import ArrowScan
from pyiceberg.manifest import DataFile, ManifestContent
from pyiceberg.table import FileScanTask, Table
from pyiceberg.table.snapshots import Snapshot
from pyiceberg.transforms import MonthTransform

from limnograph.domain.facts.meta_tables import MetaTable
from limnograph.domain.time import Micros, Millis, to_micros
from limnograph.ports.meta_upkeep import MetaTableState, PartitionFiles, Position, Where

_X: Any = expressions  # its constructors are typed for bound terms; these are names
DAY_MICROS = 86_400_000_000
MANY_VALUES = 2_000
"""A list of this many values no longer prunes files; the rows are filtered afterwards."""


Bounds = tuple[Micros, Micros] | None
"""Begin and end of a partition of time; None: none."""


class _File(NamedTuple):
    file: DataFile
    part: Bounds
    sequence: int


class UpkeepReads:
    """Reads the tables of one namespace."""

    def __init__(self, open_catalog: Callable[[], Catalog], namespace: str) -> None:
        self._open, self._namespace = open_catalog, namespace
        self._catalog: Catalog | None = None
        self._manifests: dict[str, dict[str, list[_File]]] = {}
        self._sizes: dict[str, tuple[str, int]] = {}

    @property
    def catalog(self) -> Catalog:
        """The catalog, opened at first use."""
        if self._catalog is None:
            self._catalog = self._open()
        return self._catalog

    def standing(self, table: MetaTable) -> MetaTableState:
        """See the port."""
        found = self._load(table)
        if found is None:
            return MetaTableState(position=None, parts=(), manifests=0, committed=(), properties={})
        files = list(self._files(found, table, found.current_snapshot()))
        sums: dict[Bounds, list[int]] = defaultdict(lambda: [0, 0])
        for file in files:
            sums[file.part][0] += 1
            sums[file.part][1] += file.file.file_size_in_bytes
        return MetaTableState(
            position=_position(found.current_snapshot()),
            parts=tuple(_part(bounds, *counts) for bounds, counts in sorted(sums.items(), key=_nulls_first)),
            manifests=len(self._manifests.get(table.name, {})),
            committed=tuple(sorted(to_micros(Millis(snapshot.timestamp_ms)) for snapshot in found.snapshots())),
            properties=dict(found.properties),
            metadata_bytes=self._size(found),
        )

    def fresh(self, table: MetaTable, at: Position, since_sequence: int, columns: Sequence[str]) -> pl.DataFrame:
        """See the port. A compaction keeps the sequence number that it started from, so it does not make rows fresh
        that were rolled up before it.
        """
        found = self._loaded(table)
        newer = [
            FileScanTask(file.file)
            for file in self._files(found, table, found.snapshot_by_id(at.snapshot_id))
            if file.sequence > since_sequence
        ]
        schema = found.schema().select(*columns)
        return _frame(ArrowScan(found.metadata, found.io, schema, AlwaysTrue()).to_table(newer), columns)

    def rows(self, table: MetaTable, at: Position | None, columns: Sequence[str], where: Where) -> pl.DataFrame:
        """See the port."""
        found = self._loaded(table)
        wanted = (("table_uuid", where.tables), ("snapshot_id", where.ids))
        extra = [name for name, values in wanted if values is not None]
        read = tuple(dict.fromkeys((*columns, *extra)))
        if at is None:
            return _frame(found.schema().select(*read).as_arrow().empty_table(), columns)
        rows = _expression(table, where)
        # The current schema, not the snapshot's own: the latter may lack a column that a later upgrade added.
        scan = ArrowScan(found.metadata, found.io, found.schema().select(*read), rows)
        frame = _frame(scan.to_table(found.scan(row_filter=rows, snapshot_id=at.snapshot_id).plan_files()), read)
        for name, values in wanted:
            if values is not None:
                frame = frame.filter(pl.col(name).is_in(list(values)))
        return frame.select(columns)

    def _files(self, found: Table, table: MetaTable, snapshot: Snapshot | None) -> Iterator[_File]:
        """Live data files of a snapshot."""
        known = self._manifests.get(table.name, {})
        current: dict[str, list[_File]] = {}
        for manifest in snapshot.manifests(found.io) if snapshot else ():
            if manifest.content != ManifestContent.DATA:
                continue
            if manifest.manifest_path not in known:
                entries = manifest.fetch_manifest_entry(found.io)
                known[manifest.manifest_path] = [
                    _File(entry.data_file, _bounds(found, entry.data_file), entry.sequence_number or 0)
                    for entry in entries
                ]
            current[manifest.manifest_path] = known[manifest.manifest_path]
            yield from current[manifest.manifest_path]
        self._manifests[table.name] = current

    def _size(self, found: Table) -> int | None:
        """Bytes of the metadata file, read once per file. A file that was deleted meanwhile is not an error: the next
        read corrects it.
        """
        name, location = str(found.name()), found.metadata_location
        known = self._sizes.get(name)
        if known is None or known[0] != location:
            try:
                known = self._sizes[name] = (location, len(found.io.new_input(location)))
            except OSError:
                return None
        return known[1]

    def _load(self, table: MetaTable) -> Table | None:
        try:
            return self.catalog.load_table((self._namespace, table.name))
        except NoSuchTableError:
            return None

    def _loaded(self, table: MetaTable) -> Table:
        return self.catalog.load_table((self._namespace, table.name))


def _bounds(found: Table, file: DataFile) -> Bounds:
    """The time that a file's partition covers, by the partitioning with which the file was written."""
    value = file.partition[0] if len(file.partition) else None
    if value is None:
        return None
    monthly = isinstance(found.specs()[file.spec_id].fields[0].transform, MonthTransform)
    begin, end = (_month(value), _month(value + 1)) if monthly else (value, value + 1)
    return Micros(begin * DAY_MICROS), Micros(end * DAY_MICROS)


def _position(snapshot: Snapshot | None) -> Position | None:
    return None if snapshot is None else Position(snapshot.snapshot_id, snapshot.sequence_number or 0)


def _part(bounds: Bounds, files: int, size: int) -> PartitionFiles:
    begin, end = bounds or (None, None)
    return PartitionFiles(begin, end, files, size)


def _month(months: int) -> int:
    """First day of a month, as days since 1970; Iceberg also counts months from 1970."""
    year, month = divmod(months, 12)
    return int(pa.scalar(f"{1970 + year:04d}-{month + 1:02d}-01").cast(pa.date32()).cast(pa.int32()).as_py())


def _nulls_first(item: tuple[Bounds, Any]) -> tuple[bool, tuple[int, int]]:
    return item[0] is not None, item[0] or (0, 0)


def _expression(table: MetaTable, where: Where) -> BooleanExpression:
    """The filter that PyIceberg prunes files by. Built from values, never from text."""
    found = _X.AlwaysTrue()
    if where.tables and len(where.tables) < MANY_VALUES:
        found = _X.And(found, _X.In("table_uuid", set(where.tables)))
    if where.ids and len(where.ids) < MANY_VALUES:
        found = _X.And(found, _X.In("snapshot_id", set(where.ids)))
    column = table.partition[0] if table.partition else "day"
    if where.start is not None:
        found = _X.And(found, _X.GreaterThanOrEqual(column, _iso(where.start)))
    if where.end is not None:
        found = _X.And(found, _X.LessThan(column, _iso(where.end)))
    for name, value in where.equal.items():
        found = _X.And(found, _X.EqualTo(name, value))
    return found  # type: ignore[no-any-return]


def _iso(micros: int) -> str:
    return str(pa.scalar(micros, pa.timestamp("us", tz="UTC")).as_py().isoformat())


def _frame(rows: pa.Table, columns: Sequence[str]) -> pl.DataFrame:
    frame = pl.DataFrame(rows.select(list(columns)))
    return frame.with_columns(
        pl.col(name).dt.epoch("us") for name, kind in frame.schema.items() if isinstance(kind, pl.Datetime)
    )
