"""Reading one observed table's metadata. Formats differ behind it; facts are made from these answers alone."""

from __future__ import annotations

from typing import Protocol

from limnograph.domain.manifests import ManifestFile, ManifestSum
from limnograph.domain.metadata import Snapshot, TableMetadata


class TableReader(Protocol):
    """All methods raise MetadataError for permanent damage, SourceError when storage does not serve it now."""

    def metadata(self, location: str) -> TableMetadata:
        """One metadata file."""
        ...

    def manifests(self, snapshot: Snapshot) -> list[ManifestFile]:
        """Lines of the snapshot's manifest list."""
        ...

    def manifest_sum(self, manifest: ManifestFile, target_bytes: int | None) -> ManifestSum:
        """Sums over the manifest's entries; kept by path, because a manifest never changes."""
        ...
