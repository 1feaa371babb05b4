"""What the hot index asks of the meta tables: rows of their new files alone, and rows in no order."""

from __future__ import annotations

from typing import Protocol

import polars as pl

from limnograph.ports.query_engine import MetaQuery


class Fresh(Protocol):
    """Reads data files that were appended since a snapshot of a meta table."""

    def unordered(self, query: MetaQuery) -> pl.DataFrame:
        """What the engine's `select` answers, in no order. Raises SourceError."""
        ...

    def fresh(self, query: MetaQuery, since_snapshot: int) -> pl.DataFrame | None:
        """Rows of `query` in files appended after `since_snapshot` of its table, in no order; rows that were there
        before may be among them. None when appends alone do not tell what changed (rows were replaced or deleted, the
        snapshot expired): read everything. Raises SourceError.
        """
        ...
