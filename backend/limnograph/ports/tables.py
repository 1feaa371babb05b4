"""Observed tables as the rest of the product sees them: parsed somewhere safe, by whatever reads their format."""

from __future__ import annotations

from typing import Protocol

from limnograph.domain.facts.meta_tables import SnapshotFact
from limnograph.domain.metadata.due import DueTable
from limnograph.domain.metadata.table import TableMetadata

READER_ENDED = frozenset({"parser_crashed", "deadline_exceeded", "memory_exceeded"})
"""Codes of what a reader did not survive."""


class Tables(Protocol):
    """The real one runs readers in a killable child with a deadline a table; it may be called from several threads.

    A child that crashes, hangs or grows too large on a table is a MetadataError (`parser_crashed`,
    `deadline_exceeded`, `memory_exceeded`); storage that does not answer before the deadline is a SourceTimeout.
    """

    def outline(
        self, catalog: str, table_format: str, location: str, *, of: TableMetadata | None = None
    ) -> TableMetadata:
        """Metadata without what only extraction needs: snapshots have no `summary` and no manifests.

        `of`: the table that names `location` as an older metadata file of its own; it may name only places of its own.
        Raises MetadataError, SourceError.
        """
        ...

    def extract(self, due: DueTable) -> list[SnapshotFact]:
        """Facts of the wanted snapshots (services/extraction/extract.py). When the child fails over them, the rows
        come from the metadata alone with status `unreadable` and the code. Raises MetadataError, SourceError.
        """
        ...
