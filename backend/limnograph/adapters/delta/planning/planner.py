"""Port TablePlanner for Delta Lake."""

from __future__ import annotations

import numpy as np

from limnograph.adapters.delta.files import LogFiles
from limnograph.adapters.delta.log import Log, open_log
from limnograph.adapters.delta.metadata import read_history
from limnograph.adapters.delta.planning.evidence import evidence_of
from limnograph.adapters.delta.planning.newest_first import LogReader
from limnograph.adapters.delta.planning.survey import surveyed
from limnograph.adapters.delta.planning.vacuum import last_vacuum, removable
from limnograph.adapters.delta.tombstones import Tombstone
from limnograph.analysis.held import DAY_MS, LADDER
from limnograph.domain.advice.document import NotKnown, TableBytes
from limnograph.domain.advice.reading import HeldReading
from limnograph.domain.advice.survey import TableSurvey
from limnograph.domain.answers.storage import StorageTree
from limnograph.domain.errors import MetadataError
from limnograph.domain.maintenance.evidence import EvidenceRequest, TableEvidence
from limnograph.domain.metadata.table import Snapshot, TableMetadata
from limnograph.domain.time import Millis
from limnograph.ports.storage import Storage

RULE = "held_bytes"


class DeltaPlanner:
    """Reads tables of one storage."""

    def __init__(self, storage: Storage) -> None:
        self._storage, self._files = storage, LogFiles()

    def survey(self, metadata: TableMetadata) -> TableSurvey:
        log = open_log(metadata.metadata_location, self._storage)
        naming = read_history(log, self._files, self._storage).naming(log.version)
        return surveyed(metadata, LogReader(log, self._files, self._storage).content(), naming)

    def held(
        self,
        metadata: TableMetadata,
        now: Millis,
        expiring: frozenset[int],  # noqa: ARG002 - a Delta table is vacuumed by age
    ) -> HeldReading | NotKnown:
        """Bytes of files that the log's versions reach.

        A file that a vacuum of the log has deleted counts no more; one that was vacuumed without a trace does. Files
        are those that removals of the log name, so their bytes are unknown if a removal does not name its size.
        """
        log = open_log(metadata.metadata_location, self._storage)
        reader = LogReader(log, self._files, self._storage)
        try:
            content, removed = reader.content(), reader.removed()
        except MetadataError as error:
            return NotKnown(rule=RULE, missing=f"a readable log: {error.detail}")
        vacuumed = last_vacuum(metadata)
        left = [each for each in removed if not vacuumed.deleted(each)]
        if any(each.size is None for each in left):
            return NotKnown(rule=RULE, missing="the sizes of removed files: commits of the log do not name them")
        live = sum((placed.file.size or 0) + placed.file.vector_bytes for placed in content.files)
        due = removable([each for each in content.tombstones if not vacuumed.deleted(each)], metadata, now)
        known = TableBytes(
            live=live,
            held=sum(each.size or 0 for each in left),
            metadata=_log_bytes(log),
            by_ref={},
            by_age=_by_age(left, now),
        )
        return HeldReading(bytes=known, freed=due.bytes if due else 0, removable=due)

    def tree(self, metadata: TableMetadata, snapshot: Snapshot) -> StorageTree:
        """Raises MetadataError: a log has no tree of files."""
        raise MetadataError("no_tree", f"version {snapshot.snapshot_id} of {metadata.format} table has no manifests")

    def evidence(self, metadata: TableMetadata, request: EvidenceRequest) -> TableEvidence:
        return evidence_of(self._storage, self._files, metadata, request)

    def folders(self, metadata: TableMetadata) -> list[str]:
        """Raises MetadataError: paths of a log are kept as keys only."""
        raise MetadataError("no_folders", f"folders of files of {metadata.format} tables are not read")


def _log_bytes(log: Log) -> int:
    """Commits, checkpoints and checksums of the log."""
    listed = [
        *log.commits.values(),
        *log.checksums.values(),
        *(file for each in log.checkpoints for file in each.files),
    ]
    return sum(file.size for file in listed)


def _by_age(removed: list[Tombstone], now: Millis) -> list[tuple[int, int]]:
    """Bytes that a vacuum with each retention would free: files are as old as their removal."""
    ages = np.array([now - (each.removed_at or 0) for each in removed], np.int64)
    sizes = np.array([each.size or 0 for each in removed], np.int64)
    oldest = int(ages.max(initial=0))
    days = [day for day in LADDER if day == 0 or oldest > day * DAY_MS]
    return [(day, int(sizes[ages > day * DAY_MS].sum())) for day in days]
