"""The writer's interface to the meta tables: heads, known rows, compare-and-set appends, repairs."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple, Protocol

import pyarrow as pa

from limnograph.domain.facts.meta_tables import ChangeFact, MetaTable
from limnograph.domain.time import Micros


class Candidates(NamedTuple):
    """Snapshots of one series that may be new, with commit times (microseconds) between two instants, both included.

    None as a bound: the time is unknown, and all days of the series are read.
    """

    table_uuid: str
    earliest: Micros | None
    latest: Micros | None


class KnownRow(NamedTuple):
    """Properties of a row of `snapshots`. `has_partitions`: a later row may be a difference from it."""

    has_partitions: bool
    committed_at: Micros | None = None
    sequence_number: int | None = None
    status: str | None = None
    tier: str | None = None

    @property
    def rank(self) -> tuple[int, int]:
        """Quality of the row: by status, then by tier."""
        return rank(STATUS_RANK, self.status), rank(TIER_RANK, self.tier)


Known = dict[str, dict[int, KnownRow]]
"""Rows by series and snapshot id."""

STATUS_RANK = ("unreadable", "partial", "ok")
TIER_RANK = ("summary", "manifest_list", "entries")
"""Worst first. A row without a value is worse than all."""


def rank(order: tuple[str, ...], value: str | None) -> int:
    """Index of a value in STATUS_RANK or TIER_RANK; -1 for an unknown one."""
    return order.index(value) if value in order else -1


Key = tuple[Any, ...]
"""Values of `MetaTable.key`, in that order; instants as microseconds."""


def keys_of(table: MetaTable, rows: pa.Table) -> list[Key]:
    """The key of every row, in the order of the rows."""
    columns = [rows.column(name) for name in table.key]
    plain = [
        c.cast(pa.timestamp("us", tz="UTC")).cast(pa.int64()) if pa.types.is_timestamp(c.type) else c for c in columns
    ]
    return list(zip(*(column.to_pylist() for column in plain), strict=True))


NAME_KINDS = ("first_seen", "named", "dropped", "unreadable")
"""Kinds of `changes` that a pass needs for all tables: a few rows each."""
STATE_COLUMNS = ("table_uuid", "catalog", "namespace", "table", "kind", "subject", "to_value", "at", "observed_at")
NAME_COLUMNS = (*STATE_COLUMNS, "detail")


class MetaStore(Protocol):
    """All methods raise SourceError if the store does not respond. A head is a snapshot id of the table's main."""

    def ensure(self) -> list[str]:
        """Create missing meta tables; returns the names of created ones."""
        ...

    def head(self, table: MetaTable) -> int | None:
        """Snapshot that main points at; None while the table is empty."""
        ...

    def known(self, head: int | None, candidates: Sequence[Candidates]) -> Known:
        """Rows of `snapshots` at `head` that match any of the candidates."""
        ...

    def damaged(self, head: int | None) -> Known:
        """Rows of `snapshots` at `head` whose status is `partial` or `unreadable`, of all days."""
        ...

    def changes(self, head: int | None) -> list[ChangeFact]:
        """Every row of `changes` at `head`, unordered."""
        ...

    def names(self, head: int | None) -> list[ChangeFact]:
        """Rows of `changes` at `head` about names and health (NAME_KINDS) of all series, unordered, with only the
        columns of NAME_COLUMNS. A row may be returned twice.
        """
        ...

    def states(self, head: int | None, series: Collection[str]) -> list[ChangeFact]:
        """The other rows of `changes` at `head` for these series, with only the columns of STATE_COLUMNS."""
        ...

    def only_added(self, old: int | None, new: int | None, table: MetaTable) -> bool:
        """Whether every key with a row at head `old` has one at head `new`; False if unknown."""
        ...

    def held(self, table: MetaTable, head: int | None, keys: Collection[Key]) -> set[Key]:
        """The given keys that have a row at `head`, on any day."""
        ...

    def append(self, table: MetaTable, rows: pa.Table, head: int | None, run_id: str) -> None:
        """Append in one commit, accepted only while `head` is still the latest append. Raises Conflict if it is not.

        After any other error, the outcome of the commit is unknown: read the head again.
        """
        ...

    def replace(self, rows: pa.Table) -> None:
        """Replace rows of `snapshots` with the same key, in one commit: readers always see one row per key. Update
        only: a key without a row is skipped, and so is a row with a worse status than the existing one, or the same
        status and a worse tier. Idempotent.

        Raises Conflict if another commit intervened. After any other error, the outcome of the commit is unknown.
        """
        ...
