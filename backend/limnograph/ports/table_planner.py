"""Reads a table's current files and what its snapshots hold, as far as plans need it. Hides the format."""

from __future__ import annotations

from typing import Protocol

from limnograph.domain.advice.document import NotKnown
from limnograph.domain.advice.reading import HeldReading
from limnograph.domain.advice.survey import TableSurvey
from limnograph.domain.answers.storage import StorageTree
from limnograph.domain.maintenance.evidence import EvidenceRequest, TableEvidence
from limnograph.domain.metadata.table import Snapshot, TableMetadata
from limnograph.domain.time import Millis


class TablePlanner(Protocol):
    """One table, one storage. Parses untrusted bytes: only ever called inside the killable child process."""

    def survey(self, metadata: TableMetadata) -> TableSurvey:
        """The files of main's head. Raises MetadataError for damage, SourceError if storage does not respond."""
        ...

    def held(self, metadata: TableMetadata, now: Millis, expiring: frozenset[int]) -> HeldReading | NotKnown:
        """Bytes that snapshots hold, and those that only the snapshots `expiring` hold. Raises SourceError."""
        ...

    def tree(self, metadata: TableMetadata, snapshot: Snapshot) -> StorageTree:
        """Metadata files, manifests and largest files of a snapshot. Raises MetadataError, SourceError."""
        ...

    def evidence(self, metadata: TableMetadata, request: EvidenceRequest) -> TableEvidence:
        """Commits of an action, their files, and whether files exist. Raises MetadataError, SourceError."""
        ...

    def folders(self, metadata: TableMetadata) -> list[str]:
        """Folders of all files that the snapshots reach, without those below the table's location. Raises
        MetadataError, SourceError.
        """
        ...
