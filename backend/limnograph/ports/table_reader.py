"""Reading one observed table's metadata. Formats differ behind it; facts are made from these answers alone."""

from __future__ import annotations

from typing import Protocol

from limnograph.domain.metadata.content import Reading, Want
from limnograph.domain.metadata.table import Snapshot, TableMetadata


class TableReader(Protocol):
    """One table, one storage. Foreign bytes are parsed here: only ever called inside the killable child."""

    def metadata(self, location: str) -> TableMetadata:
        """The table at one metadata pointer (Iceberg: a metadata file; Delta: the newest commit or checkpoint of the
        log; Hudi: the newest completed instant). Raises MetadataError for permanent damage, SourceError when storage
        does not serve it now.
        """
        ...

    def read(self, metadata: TableMetadata, snapshot: Snapshot, want: Want) -> Reading:
        """The snapshot as deep as it can be read: damage inside it is reported by codes, not raised. Raises
        SourceError. Callers read in commit order, so that a reader may carry state from one snapshot to the next.
        """
        ...
