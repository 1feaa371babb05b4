"""The meta tables as their one writer sees them: heads, what is known, and compare-and-set appends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import pyarrow as pa

from limnograph.domain.facts import ChangeFact, MetaTable


class Candidates(NamedTuple):
    """Snapshots of one series that may be new: commit times (microseconds) between the two instants, both included.

    None as a bound: the time is not known, all days of the series are read.
    """

    table_uuid: str
    earliest: int | None
    latest: int | None


Known = dict[str, dict[int, bool]]
"""Per series the snapshot ids that have a row, and whether that row holds partitions."""


class MetaStore(Protocol):
    """All methods raise SourceError when the store does not answer. A head is a snapshot id of the table's main."""

    def ensure(self) -> list[str]:
        """Create missing meta tables; names of those that were created."""
        ...

    def head(self, table: MetaTable) -> int | None:
        """Snapshot that main points at; None while the table is empty."""
        ...

    def known(self, head: int | None, candidates: Sequence[Candidates]) -> Known:
        """Rows of `snapshots` at `head` that any of the candidates can have."""
        ...

    def changes(self, head: int | None) -> list[ChangeFact]:
        """Every row of `changes` at `head`, in no order."""
        ...

    def append(self, table: MetaTable, rows: pa.Table, head: int | None, run_id: str) -> None:
        """One commit, accepted only while `head` is still the newest append. Raises Conflict when it is not.

        Any other error leaves open whether the commit happened: re-read the head.
        """
        ...
