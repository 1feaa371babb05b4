"""The meta tables as housekeeping sees them: their files, rows by file age, merges, deletes, procedures.

Frames carry instants as Int64 epoch microseconds. All methods raise SourceError if the store does not respond, and
those that commit Conflict if another commit intervened; then nothing was written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

import msgspec
import polars as pl

from limnograph.domain.facts.meta_tables import MetaTable
from limnograph.domain.time import Micros


class Position(NamedTuple):
    """A head of a meta table. `sequence` grows with every commit, whoever made it."""

    snapshot_id: int
    sequence: int


class PartitionFiles(NamedTuple):
    """Live data files of one partition: from `start` to `end` (microseconds, half-open); None: unpartitioned."""

    start: Micros | None
    end: Micros | None
    files: int
    bytes: int


class MetaTableState(msgspec.Struct, frozen=True, kw_only=True):
    """A meta table now. `committed`: when each retained snapshot was made, oldest first (microseconds);
    `metadata_bytes`: size of its metadata file, None where that is not known.
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
    """Conditions, and-ed; None: no condition. `start` and `end` bound the column that the table is partitioned by
    (`day` of the daily roll-up), half-open, microseconds. `equal`: text columns.
    """

    tables: frozenset[str] | None = None
    ids: frozenset[int] | None = None
    start: Micros | None = None
    end: Micros | None = None
    equal: Mapping[str, str] = {}


class MetaUpkeep(Protocol):
    """What housekeeping does to the meta tables of one namespace."""

    def standing(self, table: MetaTable) -> MetaTableState:
        """The table now; an empty one where it does not exist."""
        ...

    def fresh(self, table: MetaTable, at: Position, since_sequence: int, columns: Sequence[str]) -> pl.DataFrame:
        """Rows, at a head, of the files whose rows may have been written after a sequence number: all rows that were,
        and others beside them where rows were replaced.
        """
        ...

    def rows(self, table: MetaTable, at: Position | None, columns: Sequence[str], where: Where) -> pl.DataFrame:
        """Rows at a head; none when it is None."""
        ...

    def merge(self, table: MetaTable, rows: pl.DataFrame) -> None:
        """Put roll-ups in place by key in one commit: new keys enter, rows made from older heads are replaced."""
        ...

    def delete(self, keys: pl.DataFrame) -> None:
        """Delete rows of `snapshots` by `(table_uuid, snapshot_id)`; `committed_at` of the keys bounds the files."""
        ...

    def delete_before(self, table: MetaTable, instant: Micros) -> None:
        """Delete all rows of the table's partitions before an instant that begins one."""
        ...

    def set_properties(self, table: MetaTable, properties: Mapping[str, str]) -> None:
        """Set table properties in one commit."""
        ...

    def compact(self, table: MetaTable, part: PartitionFiles, *, whole: bool) -> None:
        """Rewrite files between the bounds of a part (several partitions, perhaps), sorted by the table's order:
        all of them, or only those too small. Appends go on meanwhile.
        """
        ...

    def rewrite_manifests(self, table: MetaTable) -> None:
        """Rewrite the manifests, clustered by partition."""
        ...

    def expire(self, table: MetaTable, older_than: Micros, keep: int) -> None:
        """Expire snapshots older than an instant, but never the newest `keep`; files that only they have go."""
        ...

    def orphans(self, table: MetaTable, older_than: Micros, *, remove: bool) -> int:
        """Files in the table's folder that no snapshot has and that are older; how many there are, or were removed."""
        ...
