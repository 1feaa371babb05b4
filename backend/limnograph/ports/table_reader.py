"""Reads the metadata of one observed table. Hides the format; facts are built from its results alone."""

from __future__ import annotations

from typing import Protocol

from limnograph.domain.metadata.content import Reading, Want
from limnograph.domain.metadata.table import Snapshot, TableMetadata


class TableReader(Protocol):
    """One table, one storage. Parses untrusted bytes: only ever called inside the killable child process."""

    def metadata(self, location: str) -> TableMetadata:
        """The table at one metadata pointer (Iceberg: a metadata file; Delta: the latest commit or checkpoint of the
        log; Hudi: the latest completed instant). Raises MetadataError for permanent damage, SourceError if storage is
        unavailable.
        """
        ...

    def read(self, metadata: TableMetadata, snapshot: Snapshot, want: Want) -> Reading:
        """The snapshot in as much detail as is readable: damage inside it is reported by codes, not raised. Raises
        SourceError. Callers read in commit order, so that a reader may carry state from one snapshot to the next.
        """
        ...
