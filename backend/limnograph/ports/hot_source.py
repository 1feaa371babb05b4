"""Queries of the hot index to the meta tables: rows of new files only, and unordered rows."""

from __future__ import annotations

from typing import Protocol

import polars as pl

from limnograph.ports.query_engine import MetaQuery


class Fresh(Protocol):
    """Reads data files that were appended since a snapshot of a meta table."""

    def unordered(self, query: MetaQuery) -> pl.DataFrame:
        """The rows of the engine's `select`, unsorted. Raises SourceError."""
        ...

    def fresh(self, query: MetaQuery, since_snapshot: int) -> pl.DataFrame | None:
        """Rows of `query` in files written after `since_snapshot` of its table, unsorted; older rows may be included.
        None if rows were deleted or the snapshot expired: read everything. Raises SourceError.
        """
        ...
