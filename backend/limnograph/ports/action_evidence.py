"""Reads what a table's own metadata says about an action, on behalf of a program that does not parse."""

from __future__ import annotations

from typing import Protocol

from limnograph.domain.maintenance.evidence import EvidenceRequest, TableEvidence
from limnograph.domain.metadata.due import DueTable


class ActionEvidence(Protocol):
    """Thread-safe. The production implementation reads in a killable child process with a deadline."""

    def evidence(self, due: DueTable, request: EvidenceRequest) -> TableEvidence:
        """The table at its metadata location. Blocks. Raises MetadataError, SourceError."""
        ...


class FileFolders(Protocol):
    """Thread-safe. The production implementation reads in a killable child process with a deadline."""

    def folders(self, due: DueTable) -> list[str]:
        """Folders of all files that the table's snapshots reach, without those below its location. Reads all of its
        manifests. Blocks. Raises MetadataError, SourceError.
        """
        ...
