"""`extract`: one table's new snapshots as facts, by three tiers. Ports in, facts out.

The same function runs in Spark's workers, in the server's watcher and in `inspect`. Manifests are authoritative; a
number that neither they nor an unambiguous summary contain is None.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from limnograph import __version__
from limnograph.domain.facts.column_stats import ColumnStat
from limnograph.domain.facts.meta_tables import SnapshotFact
from limnograph.domain.metadata.content import Want, WantedColumn
from limnograph.domain.metadata.due import DueTable
from limnograph.domain.metadata.table import Snapshot, TableMetadata
from limnograph.domain.time import Micros
from limnograph.ports.clock import Clock
from limnograph.ports.table_reader import TableReader
from limnograph.services.extraction.column_choice import wanted_columns
from limnograph.services.extraction.entries import reading_numbers
from limnograph.services.extraction.private_partitions import PrivatePartitions
from limnograph.services.extraction.summary import compare, writer_identity

ENTRIES_AT_ONCE = 50
"""With more new snapshots of a table than this in one pass, only the head is read to its entries."""

SHAPE_MILLIS = 600_000
"""Numbers that cannot be summed over commits are computed once per ten minutes of commits, and if a tenth of a table
changed.
"""
COLUMNS_MILLIS = 60_000
"""Statistics of columns are read once per minute of commits."""


def extract(due: DueTable, reader: TableReader, clock: Clock, private: Sequence[str] = ()) -> list[SnapshotFact]:
    """One fact per due snapshot that the metadata still has, in commit order. `private`: patterns of columns of which
    no value may be in a fact.

    Raises MetadataError if the metadata file is damaged, SourceError if storage cannot serve it now.
    """
    return facts_of(reader.metadata(due.metadata_location), due, reader, clock, private)


def facts_of(
    metadata: TableMetadata, due: DueTable, reader: TableReader, clock: Clock, private: Sequence[str] = ()
) -> list[SnapshotFact]:
    """As `extract`, for metadata that was already read."""
    new, deep = _new(metadata, due), {snapshot.snapshot_id for snapshot in to_entries(metadata, due)}
    run = _Run(metadata, due, reader, clock.now(), private)
    return [run.fact(snapshot, to_entries=snapshot.snapshot_id in deep) for snapshot in new]


def to_entries(metadata: TableMetadata, due: DueTable) -> list[Snapshot]:
    """The due snapshots that are read to their entries."""
    new = _new(metadata, due)
    if len(new) <= ENTRIES_AT_ONCE:
        return new
    return [next((snapshot for snapshot in new if snapshot.snapshot_id == metadata.head_id), new[-1])]


def _new(metadata: TableMetadata, due: DueTable) -> list[Snapshot]:
    wanted = set(due.snapshot_ids)
    return [snapshot for snapshot in metadata.ordered if snapshot.snapshot_id in wanted]


class _Run:
    """One extraction of one table: the state that all its rows share."""

    def __init__(
        self, metadata: TableMetadata, due: DueTable, reader: TableReader, now: Micros, private: Sequence[str]
    ) -> None:
        self._metadata, self._due, self._reader, self._now = metadata, due, reader, now
        self._private = tuple(private)
        self._hidden = PrivatePartitions(metadata, private)
        self._main = set(metadata.ancestors(metadata.head_id))
        self._with_partitions = set(due.with_partitions)
        held = {metadata.head_id, *(ref.snapshot_id for ref in metadata.refs.values())}
        times = [each.committed_at for each in metadata.snapshots.values() if each.snapshot_id not in held]
        self._oldest = min((at for at in times if at is not None), default=None)
        self._refs: dict[int, list[str]] = {}
        for name, ref in sorted(metadata.refs.items()):
            self._refs.setdefault(ref.snapshot_id, []).append(name)

    def fact(self, snapshot: Snapshot, *, to_entries: bool) -> SnapshotFact:
        """The row of one snapshot. Raises SourceError."""
        # Partitions that are merged under one name have no differences from the row before.
        base = snapshot.parent_id if self._may_be_base(snapshot) and not self._hidden else None
        want = Want(
            entries=to_entries,
            changed_only=base is not None,
            shape=self._opens_an_interval(snapshot, SHAPE_MILLIS) or None,
            columns=self._columns(snapshot) if to_entries else (),
        )
        reading = self._reader.read(self._metadata, snapshot, want)
        if self._hidden and reading.content is not None:
            reading = replace(reading, content=self._hidden.hidden(reading.content))
        numbers = reading_numbers(snapshot, reading, base)
        if numbers.get("partitions") is not None:
            self._with_partitions.add(snapshot.snapshot_id)
        mismatch = compare(snapshot, numbers) if reading.tier != "summary" else []
        fields = {**self._identity(snapshot), **numbers, "tier": reading.tier, "summary_mismatch": mismatch}
        if reading.said:
            fields["summary"] = {**(snapshot.summary or {}), **reading.said}
        fields["column_stats"] = self._with_distinct(snapshot, reading.columns)
        problems = [*reading.problems, *reading.notes]
        return SnapshotFact(**fields, status="partial" if reading.problems else "ok", problems=problems)

    def _columns(self, snapshot: Snapshot) -> tuple[WantedColumn, ...]:
        """Columns whose statistics are wanted. A commit that replaces files adds no data."""
        choice = self._due.columns
        if choice is None or snapshot.operation == "replace" or not self._opens_an_interval(snapshot, COLUMNS_MILLIS):
            return ()
        return wanted_columns(self._metadata, snapshot, choice, self._private)

    def _with_distinct(self, snapshot: Snapshot, stats: list[ColumnStat] | None) -> list[ColumnStat] | None:
        distinct = self._metadata.distinct_at(snapshot) if stats else {}
        if stats is None or not distinct:
            return stats
        return [replace(stat, ndv=distinct.get(stat.id)) for stat in stats]

    def _opens_an_interval(self, snapshot: Snapshot, length_ms: int) -> bool:
        """Whether the snapshot is its branch's first in an interval of the clock: then numbers that are not needed of
        every commit are computed.

        Uses the commits' own times, so that every observer decides the same way.
        """
        parent = self._metadata.snapshots.get(snapshot.parent_id) if snapshot.parent_id is not None else None
        return parent is None or _interval_number(parent, length_ms) != _interval_number(snapshot, length_ms)

    def _may_be_base(self, snapshot: Snapshot) -> bool:
        """Whether the row may hold only differences from its parent's row: that row has partitions and the same UTC
        day.
        """
        parent = self._metadata.snapshots.get(snapshot.parent_id) if snapshot.parent_id is not None else None
        if parent is None or parent.snapshot_id not in self._with_partitions:
            return False
        return _utc_day(parent) == _utc_day(snapshot) is not None

    def _identity(self, snapshot: Snapshot) -> dict[str, Any]:
        metadata, due = self._metadata, self._due
        return {
            "table_uuid": due.table_uuid,
            "snapshot_id": snapshot.snapshot_id,
            "catalog": due.catalog,
            "namespace": due.namespace,
            "table": due.table,
            "format": metadata.format,
            "format_version": metadata.format_version,
            "parent_id": snapshot.parent_id,
            "sequence_number": snapshot.sequence_number,
            "committed_at": snapshot.committed_at,
            "operation": snapshot.operation,
            "on_main": snapshot.snapshot_id in self._main,
            "refs": self._refs.get(snapshot.snapshot_id, []),
            "schema_id": snapshot.schema_id,
            "spec_id": metadata.default_spec_id,
            "sort_order_id": metadata.default_sort_order_id,
            "summary": None if snapshot.summary is None else dict(snapshot.summary),
            "manifest_list": snapshot.manifest_list,
            "metadata_location": metadata.metadata_location,
            "metadata_bytes": metadata.size_bytes,
            "live_snapshots": len(metadata.snapshots),
            "oldest_snapshot_at": self._oldest,
            "metadata_log_entries": len(metadata.metadata_log) if metadata.format == "iceberg" else None,
            "target_file_bytes": metadata.target_file_bytes,
            "source": due.source,
            "observed_at": self._now,
            "run_id": due.run_id,
            "extractor_version": __version__,
            **writer_identity(snapshot.summary or {}),
        }


def _interval_number(snapshot: Snapshot, length_ms: int) -> int | None:
    return None if snapshot.timestamp_ms is None else snapshot.timestamp_ms // length_ms


def _utc_day(snapshot: Snapshot) -> int | None:
    return None if snapshot.timestamp_ms is None else snapshot.timestamp_ms // 86_400_000
