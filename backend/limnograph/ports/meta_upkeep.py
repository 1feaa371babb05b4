"""Housekeeping's interface to the meta tables: their files, rows by file age, merges, deletes, procedures.

Instants in frames are Int64 epoch microseconds. All methods raise SourceError if the store does not respond. Those that
commit raise Conflict if another commit intervened; nothing was written then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

import msgspec
import polars as pl

from limnograph.domain.facts.meta_tables import MetaTable
from limnograph.domain.time import Micros


class Position(NamedTuple):
    """A head of a meta table. `sequence` increases with every commit of any writer."""

    snapshot_id: int
    sequence: int


class PartitionFiles(NamedTuple):
    """Live data files of one partition: from `start` to `end` (microseconds, half-open); None: unpartitioned."""

    start: Micros | None
    end: Micros | None
    files: int
    bytes: int


class MetaTableState(msgspec.Struct, frozen=True, kw_only=True):
    """Current state of a meta table.

    committed       microseconds: commit time of each retained snapshot, oldest first
    metadata_bytes  size of its metadata file; None: unknown
    """

    position: Position | None
    parts: tuple[PartitionFiles, ...]
    manifests: int
    committed: tuple[Micros, ...]
    properties: Mapping[str, str]
    metadata_bytes: int | None = None

    @property
    def files(self) -> int:
        """Live data files."""
        return sum(part.files for part in self.parts)

    @property
    def bytes(self) -> int:
        """Bytes of live data files."""
        return sum(part.bytes for part in self.parts)


class Where(msgspec.Struct, frozen=True, kw_only=True):
    """Conditions, combined with and; None: no condition.

    start, end  microseconds, half-open: bounds of the table's partition column (`day` of the daily roll-up)
    equal       values of text columns
    """

    tables: frozenset[str] | None = None
    ids: frozenset[int] | None = None
    start: Micros | None = None
    end: Micros | None = None
    equal: Mapping[str, str] = {}


class MetaReads(Protocol):
    """Reads the meta tables of one namespace."""

    def standing(self, table: MetaTable) -> MetaTableState:
        """The current state; empty if the table does not exist."""
        ...

    def rows(self, table: MetaTable, at: Position | None, columns: Sequence[str], where: Where) -> pl.DataFrame:
        """Rows at a head; none if it is None."""
        ...


class MetaUpkeep(MetaReads, Protocol):
    """Reads and maintains the meta tables of one namespace."""

    def fresh(self, table: MetaTable, at: Position, since_sequence: int, columns: Sequence[str]) -> pl.DataFrame:
        """Rows, at a head, of the files whose rows may have been written after a sequence number: all rows that were,
        and possibly others if rows were replaced.
        """
        ...

    def merge(self, table: MetaTable, rows: pl.DataFrame) -> None:
        """Merge roll-ups by key in one commit: new keys are inserted, rows computed from older heads are replaced."""
        ...

    def judge(self, outcomes: pl.DataFrame) -> None:
        """Fill in the outcomes of rows of `forecasts` that have none, by key, in one commit."""
        ...

    def delete(self, keys: pl.DataFrame) -> None:
        """Delete rows of `snapshots` by `(table_uuid, snapshot_id)`; `committed_at` limits the files to read."""
        ...

    def delete_before(self, table: MetaTable, instant: Micros) -> None:
        """Delete all rows of the table's partitions before an instant, which must be the start of one."""
        ...

    def clear_literals(self) -> None:
        """Set `filter` of every row of `reports` to null and leave in `metadata` only METADATA_KEYS, in one commit."""
        ...

    def set_properties(self, table: MetaTable, properties: Mapping[str, str]) -> None:
        """Set table properties in one commit."""
        ...

    def compact(self, table: MetaTable, part: PartitionFiles, *, whole: bool) -> None:
        """Rewrite files between the bounds of a part (which may span several partitions), sorted by the table's order:
        all of them, or only those too small. Does not block appends.
        """
        ...

    def rewrite_manifests(self, table: MetaTable) -> None:
        """Rewrite the manifests, clustered by partition."""
        ...

    def expire(self, table: MetaTable, older_than: Micros, keep: int) -> None:
        """Expire snapshots older than an instant, but never the latest `keep`; deletes files that only they use."""
        ...

    def orphans(self, table: MetaTable, older_than: Micros, *, remove: bool) -> int:
        """Number of files in the table's folder that are older and in no snapshot; with `remove`, they are deleted."""
        ...
