"""What the hot index asks of the meta tables beside cold reads: the rows of their new files alone."""

from __future__ import annotations

from typing import Protocol

import polars as pl

from limnograph.ports.query_engine import MetaQuery


class Fresh(Protocol):
    """Reads data files that were appended since a snapshot of a meta table."""

    def fresh(self, query: MetaQuery, since: int) -> pl.DataFrame | None:
        """Rows of `query` in files appended after snapshot `since` of its table, in no order; rows that were there
        before may be among them. None when appends alone do not tell what changed (rows were replaced or deleted, the
        snapshot expired): read everything. Raises SourceError.
        """
        ...
