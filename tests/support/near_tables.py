"""Port Tables in this process, over a reader that a test gives: no child, so that its surprises are the caller's."""

from __future__ import annotations

from limnograph.adapters.system_clock import SystemClock
from limnograph.domain.facts.meta_tables import SnapshotFact
from limnograph.domain.metadata.due import DueTable
from limnograph.domain.metadata.table import TableMetadata
from limnograph.ports.table_reader import TableReader
from limnograph.services.extraction.extract import extract


class NearTables:
    """All tables through one reader."""

    def __init__(self, reader: TableReader) -> None:
        self._reader = reader

    def outline(
        self,
        catalog: str,
        table_format: str,
        location: str,
        *,
        of: TableMetadata | None = None,
    ) -> TableMetadata:
        return self._reader.metadata(location).outlined()

    def extract(self, due: DueTable) -> list[SnapshotFact]:
        return extract(due, self._reader, SystemClock())
