"""Metadata of observed tables for the rest of the product: parsed in isolation, by the reader of their format."""

from __future__ import annotations

from typing import Protocol

from limnograph.domain.facts.meta_tables import SnapshotFact
from limnograph.domain.metadata.due import DueTable
from limnograph.domain.metadata.table import TableMetadata

READER_ENDED = frozenset({"parser_crashed", "deadline_exceeded", "memory_exceeded"})
"""Problem codes for a reader that crashed or was killed."""


class Tables(Protocol):
    """The production implementation runs readers in a killable child process with a deadline per table. Thread-safe.

    A child that crashes, hangs or grows too large is a MetadataError (`parser_crashed`, `deadline_exceeded`,
    `memory_exceeded`); storage that does not respond before the deadline is a SourceTimeout.
    """

    def outline(
        self, catalog: str, table_format: str, location: str, *, of: TableMetadata | None = None
    ) -> TableMetadata:
        """Metadata without the parts that only extraction needs: snapshots have no `summary` and no manifests.

        `of`: the table that names `location` as one of its older metadata files, which may name only that table's
        locations. Raises MetadataError, SourceError.
        """
        ...

    def extract(self, due: DueTable) -> list[SnapshotFact]:
        """Facts of the wanted snapshots (services/extraction/extract.py). If the child fails on them, the rows come
        from the metadata alone, with status `unreadable` and the code. Raises MetadataError, SourceError.
        """
        ...
