"""Port TablePlanner for Iceberg."""

from __future__ import annotations

from limnograph.adapters.iceberg.evidence.evidence import evidence_of
from limnograph.adapters.iceberg.evidence.folders import foreign_folders
from limnograph.adapters.iceberg.held.held_bytes import held_and_freed
from limnograph.adapters.iceberg.held.tree import storage_tree
from limnograph.adapters.iceberg.planning.survey import survey
from limnograph.adapters.iceberg.reader import IcebergReader
from limnograph.domain.advice.document import NotKnown
from limnograph.domain.advice.reading import HeldReading
from limnograph.domain.advice.survey import TableSurvey
from limnograph.domain.answers.storage import StorageTree
from limnograph.domain.maintenance.evidence import EvidenceRequest, TableEvidence
from limnograph.domain.metadata.table import Snapshot, TableMetadata
from limnograph.domain.time import Millis
from limnograph.ports.storage import Storage


class IcebergPlanner:
    """Reads tables of one storage."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def survey(self, metadata: TableMetadata) -> TableSurvey:
        return survey(self._storage, IcebergReader(self._storage), metadata)

    def tree(self, metadata: TableMetadata, snapshot: Snapshot) -> StorageTree:
        return storage_tree(self._storage, metadata, snapshot)

    def held(self, metadata: TableMetadata, now: Millis, expiring: frozenset[int]) -> HeldReading | NotKnown:
        return held_and_freed(self._storage, metadata, now, expiring)

    def evidence(self, metadata: TableMetadata, request: EvidenceRequest) -> TableEvidence:
        return evidence_of(self._storage, metadata, request)

    def folders(self, metadata: TableMetadata) -> list[str]:
        return foreign_folders(self._storage, IcebergReader(self._storage), metadata)
