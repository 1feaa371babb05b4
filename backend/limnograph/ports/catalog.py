"""A catalog of observed tables: which tables there are and where each one's newest metadata lies."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from limnograph.domain.ids import TableName


class TablePointer(NamedTuple):
    """One table of a catalog. `location` is the metadata file that the catalog points at, as spelled there."""

    name: TableName
    format: str
    location: str


class Catalog(Protocol):
    """Probes are cheap: one query for all tables where the catalog can (SQL), else one call a table."""

    name: str

    def pointers(self) -> list[TablePointer]:
        """Every observed table, views left out. Raises SourceError."""
        ...
